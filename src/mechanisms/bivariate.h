// Covariance and correlation of two columns from cells of noise.
//
// A row shares one unit among cells: with y the value moved to [0, 1], degree 1 uses the four
// corners (1 - y, y) x (1 - y', y'), enough for the covariance; degree 2 the nine products of
// Bernstein polynomials (1 - y)^2, 2 y (1 - y), y^2, enough for the correlation. Shares are never
// negative and sum to one, so the L1 sensitivity is one however many cells there are.
//
// Guarantee: epsilon-DP under add/remove for all cells together.
// Assumes:   one row per privacy unit; values outside a column's range are moved to its ends.
// Proof:     docs/proofs/knorm.md
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/saturating.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/moments.h"

namespace discreet {

enum class BivariateDegree { Covariance = 1, Correlation = 2 };

class BivariateRelease;

/// Sums over rows of two columns' products; the last five are for degree 2 only.
struct BivariateSums {
  Int128 rows = 0, first = 0, second = 0, product = 0;
  Int128 first2 = 0, second2 = 0, first2_second = 0, first_second2 = 0, first2_second2 = 0;
};

/// The cells' exact sums, scaled by the product of the widths to the power of the degree: what
/// add_row adds up, for exact grids (Bivariate::exact_grid). Values must be within the ranges.
std::vector<std::int64_t> bivariate_cells(IntegerRange first, IntegerRange second,
                                          BivariateDegree degree, const BivariateSums& sums);

class Bivariate {
 public:
  /// Exact grids up to this scale; wider columns are rounded to kRoundedScale shares.
  static constexpr std::int64_t kExactScaleMax = std::int64_t{1} << 32;
  static constexpr std::int64_t kRoundedScale = std::int64_t{1} << 24;

  /// InvalidParameter: epsilon outside [2^-10, 2^20], a range of one value or of more than 2^24.
  static Result<Bivariate> make(Epsilon epsilon, IntegerRange first, IntegerRange second,
                                BivariateDegree degree);
  /// The least epsilon (to a millionth) whose error_bound is within this many rows.
  static Result<Bivariate> for_error(double rows, double confidence, IntegerRange first,
                                     IntegerRange second, BivariateDegree degree);

  std::size_t cells() const { return (degree_ + 1) * (degree_ + 1); }
  /// Adds one row's shares, scaled by scale(), to the exact sums of the cells. Saturates.
  void add_row(std::int64_t first, std::int64_t second, std::span<std::int64_t> sums) const;
  BivariateRelease release(std::span<const std::int64_t> sums, RandomSource& random) const;

  LossEvent loss() const { return noise_.loss(); }
  /// With this confidence every cell is within this many rows of its exact sum.
  double error_bound(double confidence) const;
  std::int64_t scale() const { return scale_; }
  bool exact_grid() const { return exact_; }
  /// Standard deviation of a cell's noise, in rows.
  double cell_sd() const { return std::sqrt(noise_.variance()) / static_cast<double>(scale_); }

 private:
  friend class BivariateRelease;
  Bivariate(std::array<IntegerRange, 2> ranges, std::size_t degree, std::int64_t scale, bool exact,
            DiscreteLaplace noise)
      : ranges_(ranges), degree_(degree), scale_(scale), exact_(exact), noise_(std::move(noise)) {}

  std::array<IntegerRange, 2> ranges_;
  std::size_t degree_;
  std::int64_t scale_;
  bool exact_;
  DiscreteLaplace noise_;
};

/// Estimates with standard errors, by the delta method from the noise of the cells.
class BivariateRelease {
 public:
  Estimate count() const;
  Estimate covariance(Divisor divisor) const;
  /// Within [-1, 1]. For releases of degree 2.
  Estimate correlation() const;
  /// The noisy cells, scaled by the mechanism's scale.
  std::span<const std::int64_t> noisy() const { return noisy_; }

 private:
  friend class Bivariate;
  BivariateRelease(const Bivariate& mechanism, std::vector<std::int64_t> noisy);

  struct Moments {
    double n, first, second, product, first2, second2;  // means of y, y', y y', y^2, y'^2
  };
  Moments moments(std::span<const double> cells) const;
  Estimate estimate(const std::function<double(const Moments&)>& f) const;

  std::size_t degree_;
  double units_;        // of a covariance
  double cell_error_;   // standard deviation of a cell, in rows
  double count_floor_;  // 4 / epsilon
  std::vector<std::int64_t> noisy_;
  std::vector<double> cells_;  // in rows
};

}  // namespace discreet
