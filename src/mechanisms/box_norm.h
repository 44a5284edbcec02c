// Several sums of different sizes from one draw of noise: K-norm noise whose body is a box.
//
// A row adds an integer to each of D sums, at most row_max[i] in absolute value: a count, a sum
// around the middle of a range, squares, products of two columns. The norm of such a vector is the
// largest of |v_i| / row_max[i]; noise with P[V = v] proportional to exp(-epsilon ceil(S |v|) / S)
// hides one row in all sums at once. The sums need no common grid, unlike knorm.h, so products of
// wide columns are fine; where a common grid exists and one column's variance is all that is
// wanted, knorm.h has up to a tenth less noise.
//
// Guarantee: epsilon-DP under add/remove for all the sums together.
// Assumes:   one row per privacy unit; no row adds more than row_max.
// Proof:     docs/proofs/box_norm.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/saturating.h"
#include "privacy/loss_event.h"
#include "random/geometric.h"

namespace discreet {

class BoxNorm {
 public:
  static constexpr std::size_t kSumsMax = 128;
  /// S: steps of the radius for one row.
  static constexpr std::int64_t kSteps = std::int64_t{1} << 20;

  /// InvalidParameter: epsilon outside [2^-10, 2^20]; no sums or more than 128; a row_max that is
  /// not positive or beyond 2^80.
  static Result<BoxNorm> make(Epsilon epsilon, std::vector<Int128> row_max);

  /// Noisy sums, in rows of largest size: the sum plus noise, over row_max[i]. The integers behind
  /// them are scaled by factor(i), so that a count's noise is fine too. Sums must be below 2^100.
  std::vector<double> release(std::span<const Int128> sums, RandomSource& random) const;
  /// The same as integers: factor(i) * sums[i] + noise.
  std::vector<Int128> release_scaled(std::span<const Int128> sums, RandomSource& random) const;

  LossEvent loss() const;

  std::size_t size() const { return row_max_.size(); }
  Epsilon epsilon() const { return epsilon_; }
  Int128 row_max(std::size_t i) const { return row_max_[i]; }
  std::int64_t factor(std::size_t i) const { return factor_[i]; }
  /// Standard deviation of the noise of every sum, in rows of largest size; noises of different
  /// sums are uncorrelated. As of the continuous law: a uniform point of the unit box times a Gamma
  /// variable of shape D + 1 and scale 1 / epsilon, which the lattice follows within 2^-19.
  double noise_sd() const;

 private:
  BoxNorm(Epsilon epsilon, std::vector<Int128> row_max, std::vector<std::int64_t> factor,
          GeometricSampler radius)
      : epsilon_(epsilon),
        row_max_(std::move(row_max)),
        factor_(std::move(factor)),
        radius_(std::move(radius)) {}

  Epsilon epsilon_;
  std::vector<Int128> row_max_;
  std::vector<std::int64_t> factor_;
  GeometricSampler radius_;  // of rate epsilon / S
};

}  // namespace discreet
