// The exponential mechanism laid open: the chance of every candidate, and the utility theorem
// beside the exact chance to fall short (Dwork and Roth 2014, Theorem 3.11).
//
// Exact chances of private scores would be a leak: these are for made-up scores only.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lecture/shown.h"

namespace discreet::lecture {

struct Candidate {
  std::string name;
  double score;
};

struct ChoiceOptions {
  double epsilon = 0.5, sensitivity = 1;
  bool monotone = false;
};

/// InvalidParameter: no candidates, a score that is not finite, epsilon or sensitivity not
/// positive.
Result<Shown> utility_theorem(const std::vector<Candidate>& candidates,
                              const ChoiceOptions& options);

/// Revenue of every posted price from `step` to `highest`: the price times the bids at or above it.
/// InvalidParameter: no bids, or more than 100,000 prices.
Result<std::vector<Candidate>> revenues(const std::vector<double>& bids, double step,
                                        double highest);

}  // namespace discreet::lecture
