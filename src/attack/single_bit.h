// Attacks on one number: differencing, averaging, and the last bits of floating-point noise.
#pragma once

#include <cstdint>

#include "attack/report.h"
#include "base/result.h"
#include "random/random_source.h"

namespace discreet::attack {

struct SingleOptions {
  std::uint64_t attempts = 2000;
  double epsilon = 1;
  std::uint64_t seed = 1;  ///< of the town's people
};

/// Two sums, with and without one person, give that person's income: a success is a guess within
/// five per cent. The two sums share Discreet's budget. Also through a curator (served.h).
Result<Report> differencing(const SingleOptions& options, RandomSource& random);

/// The same count yesterday and today, one person having come in between; a success is whether that
/// person is ill. Discreet's two answers share a budget. Also through a curator.
Result<Report> day_by_day(const SingleOptions& options, RandomSource& random);

/// The same count asked a thousand times and averaged; a success is the exact count. Discreet's
/// curator gives the recorded answer again, so there is nothing to average, and charges other
/// wordings.
Result<Report> averaging(const SingleOptions& options, RandomSource& random);

/// One answer, zero or one with noise of scale 1 / epsilon in double precision: the last bits tell
/// which (Mironov 2012). On Discreet's grid they tell nothing.
Result<Report> floating_point(const SingleOptions& options, RandomSource& random);

/// How long a textbook sampler works tells how much noise it drew. A success is a right guess
/// whether the noise was larger than usual, from the number of random words it took.
Result<Report> timing(const SingleOptions& options, RandomSource& random);

}  // namespace discreet::attack
