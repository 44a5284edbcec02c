// COUNT, SUM, AVG, VAR and STDDEV of one or several columns from one draw of noise.
//
// A row adds a point to the running sums: 1 for the count, z for a column whose mean is wanted, and
// T(z) = 2 z^2 - 1 beside it where the variance is wanted too, z being the value moved to [-1, 1].
// All such points lie in a body K; noise with P[V = v] proportional to exp(-epsilon ceil(|v|_K) /
// S) on the integers (points scaled by S) hides one of them, whatever the number of columns:
// nothing is split.
//   means only:          K is a cube.
//   with variances:      K is the hull of +- the curve (1, z, T(z)), in closed form.
//
// Guarantee: epsilon-DP under add/remove for all the sums together.
// Assumes:   one row per privacy unit; values outside a column's range are moved to its ends.
// Proof:     docs/proofs/knorm.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/saturating.h"
#include "mechanisms/quantile.h"
#include "random/geometric.h"

namespace discreet {

struct MomentColumn {
  IntegerRange range;
  bool with_variance = false;
};

/// Where a column's sums are within the vector of features; the count is feature 0.
struct MomentLayout {
  std::size_t linear;
  std::size_t square;  ///< 0 when the column has no variance
};

/// Second moments of the noise of one column, in rows: of the count, the linear and the square
/// feature, and the one covariance that is not zero.
struct MomentNoise {
  double count, linear, square, count_square;
};

class KNorm {
 public:
  static constexpr std::size_t kColumnsMax = 16;
  /// Exact grids up to this scale; wider columns are rounded to kRoundedScale steps.
  static constexpr std::int64_t kExactScaleMax = std::int64_t{1} << 32;
  static constexpr std::int64_t kRoundedScale = std::int64_t{1} << 24;

  /// InvalidParameter: epsilon outside [2^-10, 2^20]; more than 16 columns; a range of one value
  /// (its mean is public), or of more than 2^40.
  static Result<KNorm> make(Epsilon epsilon, std::vector<MomentColumn> columns);
  /// The least epsilon (to a millionth) whose error_bound is within this many rows.
  static Result<KNorm> for_error(double rows, double confidence, std::vector<MomentColumn> columns);

  /// Features of one row, scaled by scale(): `row` has a value for each column. Summed by the
  /// caller.
  void add_row(std::span<const std::int64_t> row, std::span<Int128> sums) const;
  /// The same from ready sums, for exact grids only: the number of rows, and of every column the
  /// sum and the sum of squares of its clamped values. Refused: the grid is not exact, or a bound
  /// is beyond 2^40, where squares would not fit.
  Result<std::vector<Int128>> from_sums(std::uint64_t rows, std::span<const Int128> sums,
                                        std::span<const Int128> squares) const;
  /// The same where columns are not present in every row: counts[i] rows have column i, and the
  /// others add nothing to its features. Such rows lie in K too, provided that a column with its
  /// variance is present only in rows that count (`rows` of them).
  Result<std::vector<Int128>> from_sums(std::uint64_t rows, std::span<const Int128> counts,
                                        std::span<const Int128> sums,
                                        std::span<const Int128> squares) const;

  /// Noisy features: sums plus noise, scaled by scale(). Never saturates.
  std::vector<Int128> release(std::span<const Int128> sums, RandomSource& random) const;

  LossEvent loss() const;

  /// With this confidence every feature is within this many rows of its exact sum; from the law of
  /// the norm, up to the rounding of the lattice (one step of 1 / scale() is added for it).
  double error_bound(double confidence) const;
  /// Of one column; without columns, of the count alone.
  MomentNoise noise(std::size_t column) const {
    return columns_.empty() || !columns_[column].with_variance ? line_noise_ : curve_noise_;
  }

  std::size_t features() const { return dimension_; }
  MomentLayout layout(std::size_t column) const { return layout_[column]; }
  std::span<const MomentColumn> columns() const { return columns_; }
  std::int64_t scale() const { return scale_; }
  bool exact_grid() const { return norm_of_row_ == scale_; }
  Epsilon epsilon() const { return epsilon_; }

 private:
  KNorm(Epsilon epsilon, std::vector<MomentColumn> columns, std::int64_t scale,
        std::int64_t norm_of_row, GeometricSampler radius);

  std::int64_t draw_radius(RandomSource& random) const;
  bool holds(std::int64_t k, std::span<const std::int64_t> v) const;  // v in k K, by integers
  void measure_noise();
  double square_radius() const;  // E[k (k + 1)], as if v were uniform in a ball of radius k

  Epsilon epsilon_;
  std::vector<MomentColumn> columns_;
  std::vector<MomentLayout> layout_;
  std::size_t dimension_ = 1;
  std::int64_t scale_;                        // S
  std::int64_t norm_of_row_;                  // S, or S + 1 when features are rounded
  GeometricSampler radius_;                   // of rate epsilon / norm_of_row
  MomentNoise line_noise_{}, curve_noise_{};  // of columns without and with variance
};

}  // namespace discreet
