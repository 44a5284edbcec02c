// Tests of means from noisy moments: one sample, two samples (Welch), several (one-way ANOVA).
//
// A group is released as three sums in one draw: rows, z, and T(z) = 2 z^2 - 1, z being the value
// moved to [-1, 1]; by knorm.h, or by box_norm.h where the range has no exact grid. p-values are
// of scores: sums of z - mean, over spread and noise together, which have mean zero under the null
// whatever the noise; their law is found by drawing samples and noise anew, with numbers of rows
// and spreads that the release allows. The statistic that is reported is the textbook's, with the
// noise's variance added to the sampling variance.
//
// Guarantee: privacy is the release's; what is here is post-processing. Level: measured, 5 % +- .5
//            (docs/inference.md).
// Assumes:   one row per unit, rows independent; the mean is that of values moved into the range.
// Argument:  docs/proofs/inference.md
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "inference/outcome.h"
#include "mechanisms/box_norm.h"
#include "mechanisms/knorm.h"
#include "mechanisms/quantile.h"

namespace discreet::inference {

/// One group's released sums, in rows, and what is needed to read them.
struct NoisyMoments {
  double rows, linear, square;  ///< of 1, z and T(z)
  double middle, half;          ///< x = middle + half z
  MomentNoise noise;            ///< second moments of the noise
  double epsilon;
  bool curve;  ///< the noise's body: the hull of the curve (1, z, T(z)), or a box
};

/// The release behind it. `range` in steps of `unit`.
class MomentsMechanism {
 public:
  /// InvalidParameter: as BoxNorm::make; a range of one value.
  static Result<MomentsMechanism> make(Epsilon epsilon, IntegerRange range, double unit = 1);

  /// From exact sums over rows, values already within the range.
  NoisyMoments release(Int128 rows, Int128 sum, Int128 sum_of_squares, RandomSource& random) const;
  /// The same from values; those outside the range are moved to its ends.
  NoisyMoments release(std::span<const std::int64_t> values, RandomSource& random) const;

  LossEvent loss() const;
  /// Half the range, in the value's own units.
  double half() const;
  /// Half a 95 % interval of the mean, in the value's own units: for `rows` rows of standard
  /// deviation `sd`.
  double error95_before(double rows, double sd) const;

 private:
  using Noise = std::variant<KNorm, BoxNorm>;
  MomentsMechanism(Noise noise, IntegerRange range, double unit)
      : noise_(std::move(noise)), range_(range), unit_(unit) {}
  MomentNoise second_moments() const;

  Noise noise_;
  IntegerRange range_;
  double unit_;
};

/// Null: the mean is `mean`. The interval is of the mean.
TestOutcome t_test(const NoisyMoments& group, double mean, const Options& options = {});

/// Null: the two means are equal; spreads may differ (Welch). The estimate and the interval are of
/// the difference first - second. The groups must be of different rows.
TestOutcome t_test(const NoisyMoments& first, const NoisyMoments& second,
                   const Options& options = {});

struct AnovaOutcome {
  TestOutcome test;  ///< the estimate is the share of variance between groups
  std::vector<Estimated> means;
};
/// Null: all means are equal; spreads may differ. Means come with simultaneous intervals.
AnovaOutcome anova(std::span<const NoisyMoments> groups, const Options& options = {});

}  // namespace discreet::inference
