// The discrete Gaussian P[X = x] proportional to exp(-x^2 / (2 sigma2)) on the integers: its tails,
// and the privacy of a whole number released with it, both as certain bounds.
//
// For a shift d a release satisfies exactly
//   delta(eps) = P[X > eps sigma2/d - d/2] - e^eps P[X > eps sigma2/d + d/2]
// (Canonne, Kamath and Steinke 2020, Theorem 7). Thresholds are computed exactly; sums of the tail
// are rounded outwards and what lies beyond them is bounded by an integral. Proof:
// docs/proofs/discrete_gaussian.md
#pragma once

#include <cstdint>
#include <vector>

namespace discreet {

class DiscreteGaussianProfile {
 public:
  /// The widest noise whose tails are summed term by term.
  static constexpr double kSigma2Max = 0x1p22;

  /// 0 < sigma2 <= kSigma2Max, taken at its exact value.
  explicit DiscreteGaussianProfile(double sigma2);

  /// Bounds on P[X >= at].
  double at_least_up(std::int64_t at) const;
  double at_least_down(std::int64_t at) const;

  /// An upper bound on delta(epsilon) for any shift from 1 to `sensitivity`. The largest shift need
  /// not be the worst for discrete noise, so all are tried: sensitivity <= 2^20.
  double delta_up(double epsilon, std::int64_t sensitivity) const;

 private:
  struct Bounds {
    double low, high;
  };
  Bounds sum_from(std::int64_t at) const;  // of exp(-i^2 / (2 sigma2)) over i >= at, for at >= 1

  double sigma2_;
  std::vector<Bounds> sums_;  // sums_[i]: from i on
  Bounds total_{};
};

}  // namespace discreet
