// Staircase noise for a whole number: the least expected error of all additive epsilon-DP noise.
//
// With b = exp(-epsilon) and sensitivity D, P[Z = i] is the same for 0 <= i < r, lower by the
// factor b for r <= i < D, and falls by b with every further D; P[Z = -i] = P[Z = i]. The step r is
// chosen for the least E|Z|. For D = 1 it is the discrete Laplace distribution; for larger D and
// epsilon above one its error is far smaller (proof page). Guarantee: a query of sensitivity D, one
// whole number, released once, is epsilon-DP. Assumes:   RandomSource yields independent uniform
// bits. Proof:     docs/proofs/staircase.md; optimal by Geng and Viswanath 2014
#pragma once

#include <cstdint>

#include "privacy/loss_event.h"
#include "privacy/sensitivity.h"
#include "random/bernoulli.h"
#include "random/geometric.h"

namespace discreet {

class Staircase {
 public:
  /// InvalidParameter: epsilon below 2^-54 or infinite, sensitivity above 2^40.
  static Result<Staircase> make(Epsilon epsilon, L1Sensitivity sensitivity);
  /// The least epsilon (up to rounding) whose error stays within `error` with this confidence.
  static Result<Staircase> for_error(double error, double confidence, L1Sensitivity sensitivity);

  /// Adds fresh noise; saturates at the int64 limits (post-processing).
  std::int64_t release(std::int64_t exact, RandomSource& random) const;
  std::int64_t draw(RandomSource& random) const;

  /// Staircase noise is not tighter than its epsilon: some outputs attain it exactly.
  LossEvent loss() const { return loss::Pure{epsilon_}; }

  /// With this confidence a release is within this distance of the exact value.
  double error_bound(double confidence) const;
  /// E|Z|.
  double expected_error() const;

  Epsilon epsilon() const { return epsilon_; }
  /// r: how many values beside zero share the highest probability, zero included.
  std::int64_t step() const { return step_; }

 private:
  Staircase(Epsilon epsilon, std::int64_t sensitivity, std::int64_t step, GeometricSampler stairs);
  double at_least(std::int64_t distance) const;  // P[|Z| >= distance], distance >= 1

  Epsilon epsilon_;
  std::int64_t sensitivity_, step_;
  GeometricSampler stairs_;  // how many times D
  Bernoulli on_low_part_;    // r <= i < D within a stair
};

}  // namespace discreet
