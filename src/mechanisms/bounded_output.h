// Laplace noise for whole numbers whose release must lie in a public range.
//
// Clamped:   values outside become the nearest end. Folded: they are reflected at the ends until
// inside.
//            Both are post-processing of the discrete Laplace release, at no cost.
// Truncated: P[Y = y] proportional to exp(-rate |y - exact|) on the range. No mass piles up at the
// ends, but
//            the normalising constant depends on the data, so noise scaled to epsilon/sensitivity
//            would leak; the rate is lowered until the whole ratio is within e^epsilon (Holohan et
//            al. 2020 for the continuous case).
// Guarantee: a query of sensitivity s, one whole number, released once, is epsilon-DP in each form.
// Assumes:   RandomSource yields independent uniform bits.
// Proof:     docs/proofs/bounded_output.md
#pragma once

#include <cstdint>
#include <optional>

#include "mechanisms/discrete_laplace.h"

namespace discreet {

/// Both ends belong to the range.
struct OutputRange {
  std::int64_t lower, upper;
};

enum class BoundedForm { Clamped, Folded, Truncated };

class BoundedLaplace {
 public:
  /// InvalidParameter: epsilon zero or infinite, a range of fewer than two or more than 2^53
  /// values.
  static Result<BoundedLaplace> make(Epsilon epsilon, L1Sensitivity sensitivity, OutputRange range,
                                     BoundedForm form);
  /// The least epsilon (up to rounding) whose error stays within `error` with this confidence.
  static Result<BoundedLaplace> for_error(double error, double confidence,
                                          L1Sensitivity sensitivity, OutputRange range,
                                          BoundedForm form);

  /// The exact value is first clamped into the range, which cannot widen the sensitivity.
  std::int64_t release(std::int64_t exact, RandomSource& random) const;

  LossEvent loss() const;

  /// With this confidence a release is within this distance of the exact value, wherever in the
  /// range that lies.
  double error_bound(double confidence) const;

  Epsilon epsilon() const { return epsilon_; }
  /// The rate of the noise; for Truncated it is below epsilon / sensitivity.
  double rate() const;

 private:
  BoundedLaplace(Epsilon epsilon, OutputRange range, BoundedForm form, DiscreteLaplace noise,
                 std::optional<GeometricSampler> truncated)
      : epsilon_(epsilon),
        range_(range),
        form_(form),
        noise_(std::move(noise)),
        truncated_(std::move(truncated)) {}
  std::int64_t release_truncated(std::int64_t exact, RandomSource& random) const;

  Epsilon epsilon_;
  OutputRange range_;
  BoundedForm form_;
  DiscreteLaplace noise_;                      // of Clamped and Folded
  std::optional<GeometricSampler> truncated_;  // of Truncated
};

/// An upper bound on the loss of the truncated form at this rate: what `make` keeps within epsilon.
double truncated_laplace_loss_up(double rate, double sensitivity, std::uint64_t width);

}  // namespace discreet
