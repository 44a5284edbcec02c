// A block reconstructed from its published statistics (Garfinkel, Abowd, Martindale 2019): counts
// by decade, median and mean age, for all and by sex, leave few tables that fit.
#pragma once

#include <cstdint>
#include <vector>

#include "attack/report.h"
#include "base/result.h"
#include "random/random_source.h"

namespace discreet::attack {

/// Ages in rising order.
using Ages = std::vector<int>;

/// All multisets of `count` ages of 0 to 125 with this median (of an even count: twice the mean of
/// the middle two is `median_twice`) and this sum.
std::vector<Ages> fitting_ages(std::size_t count, int median_twice, int sum);

struct CensusOptions {
  std::size_t blocks = 200;
  std::size_t people = 7;  ///< in a block; 2 to 8
  double epsilon = 1;
  std::uint64_t seed = 1;
};

/// Attempts are people; a success is that person's sex and exact age standing in the table that the
/// attacker writes down.
Result<Report> census(const CensusOptions& options, RandomSource& random);

}  // namespace discreet::attack
