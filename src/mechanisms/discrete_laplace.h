// Laplace noise for whole numbers: P[Z = z] proportional to exp(-|z| epsilon / sensitivity).
//
// Guarantee: a query of L1 sensitivity s (one number, or a vector released coordinate by coordinate
// with
//            independent noise), released once, is epsilon-DP. For s = 1 no epsilon-DP release of a
//            count has smaller error (Ghosh, Roughgarden and Sundararajan 2009).
// Assumes:   RandomSource yields independent uniform bits.
// Proof:     docs/proofs/discrete_laplace.md
#pragma once

#include <cstdint>
#include <span>

#include "privacy/loss_event.h"
#include "privacy/sensitivity.h"
#include "random/discrete_laplace_sampler.h"

namespace discreet {

class DiscreteLaplace {
 public:
  /// The least noise that is `epsilon`-DP for queries of this sensitivity.
  /// InvalidParameter: epsilon is zero, or the scale would exceed 2^54.
  static Result<DiscreteLaplace> make(Epsilon epsilon, L1Sensitivity sensitivity);

  /// The least epsilon whose error stays within `error` with this confidence (0.95: in 95 % of
  /// releases). InvalidParameter: error negative or not finite, confidence not within (0, 1).
  static Result<DiscreteLaplace> for_error(double error, double confidence,
                                           L1Sensitivity sensitivity);

  /// Adds fresh noise. Saturates at the int64 limits: clamping is post-processing, whereas failing
  /// on overflow would reveal that `exact` is large.
  std::int64_t release(std::int64_t exact, RandomSource& random) const;
  /// Independent noise on every coordinate, in place; the sensitivity is that of the whole vector.
  void release(std::span<std::int64_t> exact, RandomSource& random) const;

  /// What one release costs, for the accountant.
  LossEvent loss() const;

  /// With this confidence a release is within this distance of the exact value; known before any
  /// release.
  double error_bound(double confidence) const;
  /// The same for the worst of k coordinates at once, exact for independent noise.
  double error_bound_of_worst(double confidence, std::uint64_t k) const;
  /// The textbook's form (Dwork and Roth 2014, Theorem 3.8) for whole-number noise:
  /// P[worst of k >= ln(k / beta) s / epsilon + 1/2] <= beta. The half is needed, because discrete
  /// noise has an atom wherever the threshold is whole.
  double textbook_error_bound(double beta, std::uint64_t k) const;
  double variance() const;

  Epsilon epsilon() const { return epsilon_; }
  double scale() const;  // sensitivity / epsilon, rounded down

 private:
  DiscreteLaplace(Epsilon epsilon, L1Sensitivity sensitivity, DiscreteLaplaceSampler sampler)
      : epsilon_(epsilon), sensitivity_(sensitivity), sampler_(std::move(sampler)) {}

  Epsilon epsilon_;
  L1Sensitivity sensitivity_;
  DiscreteLaplaceSampler sampler_;  // of rate epsilon / sensitivity, exactly
};

}  // namespace discreet
