// The privacy loss as a random variable: ln(P[C | x] / P[C | x']) for C drawn on x, and what
// becomes of it when releases add up.
//
// Theorems: basic composition; advanced composition (Dwork, Rothblum and Vadhan 2010) by Azuma's
// inequality; the exact answer for randomized response is a binomial sum (Kairouz, Oh and Viswanath
// 2015).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "lecture/shown.h"

namespace discreet::lecture {

struct LossOptions {
  double epsilon = 0.1;       ///< of each release
  std::uint64_t times = 100;  ///< k
  double delta = 1e-6;
};

/// InvalidParameter: epsilon not within (0, 5], times not within [1, 100,000], delta not in (0, 1).
Result<Shown> privacy_loss(const LossOptions& options);

}  // namespace discreet::lecture
