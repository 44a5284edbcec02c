// The exact cost of composing mechanisms of which only (epsilon, delta) is known.
//
// Guarantee: `up` functions are not below the optimum, `down` not above; their gap is about 1e-12
// of
//            the value for equal releases.
// Theorems:  Kairouz, Oh and Viswanath 2015: k releases of (e, d)-DP satisfy at every
//            epsilon exactly
//              delta = 1 - (1-d)^k (1 - sum_i C(k,i) [e^{(k-i) e} - e^{epsilon + i e}]_+ /
//              (1+e^e)^k),
//            and no smaller delta holds for all such mechanisms. Not only at epsilon = (k - 2i) e.
//            Murtagh and Vadhan 2016: the same with different epsilons; computing it
//            exactly is #P-hard, rounding the epsilons to a grid gives any wanted accuracy.
// Adaptivity: mechanisms may be chosen adaptively, their (e, d) must be fixed in advance.
#pragma once

#include <cstdint>
#include <span>

#include "privacy/parameters.h"

namespace discreet {

/// delta of k releases at this epsilon, rounded up. Time grows with sqrt(k).
double optimal_delta(Epsilon one, Delta delta, std::uint64_t k, double epsilon);
double optimal_delta_down(Epsilon one, Delta delta, std::uint64_t k, double epsilon);

/// The least epsilon >= 0 at this target delta, rounded up; infinity when the releases' own deltas
/// already exceed the target.
double optimal_epsilon(Epsilon one, Delta delta, std::uint64_t k, double target_delta);
double optimal_epsilon_down(Epsilon one, Delta delta, std::uint64_t k, double target_delta);

/// A value known to lie between two doubles.
struct CertifiedDelta {
  double lower;
  double upper;
};

/// Different releases. Exact up to rounding while there are at most 2^20 patterns of answers (20
/// different epsilons, or more with repeats), else on a grid of `cells` steps (0: as many as 0.1 s
/// allows); the upper end is always a valid delta. InvalidParameter: no releases, a single cell, an
/// epsilon above 700, or more work than a grid should do.
Result<CertifiedDelta> optimal_delta(std::span<const ApproxDp> releases, double epsilon,
                                     std::uint64_t cells = 0);

/// The least epsilon >= 0, rounded up, by the upper end of the above. Infinity when no epsilon
/// does.
Result<double> optimal_epsilon(std::span<const ApproxDp> releases, double target_delta,
                               std::uint64_t cells = 0);

}  // namespace discreet
