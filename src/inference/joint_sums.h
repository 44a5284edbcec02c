// Sums, squares and products of several columns from one draw of noise: all that a correlation or a
// linear regression needs.
//
// A row adds 1, z_i for every column, T(z_i) = 2 z_i^2 - 1, and z_i z_j for every pair, each within
// [-1, 1] (z is the value moved there); box_norm.h hides one row in all of them at once.
//
// Guarantee: epsilon-DP under add/remove for the whole matrix of moments.
// Assumes:   one row per privacy unit.
// Proof:     docs/proofs/box_norm.md
#pragma once

#include <span>
#include <vector>

#include "mechanisms/box_norm.h"
#include "mechanisms/quantile.h"

namespace discreet::inference {

/// A column's range in steps of `unit`.
struct RegressionColumn {
  IntegerRange range;
  double unit = 1;
};

/// Noisy sums in z, of pairs (i, j) of 0 .. columns, 0 standing for the constant 1.
struct NoisyJointSums {
  std::size_t columns = 0;
  std::vector<double> sums;          ///< (columns + 1)^2, symmetric
  std::vector<double> middle, half;  ///< x = middle + half z
  double noise_sd = 0, epsilon = 0;

  double at(std::size_t i, std::size_t j) const { return sums[i * (columns + 1) + j]; }
  double rows() const { return sums[0]; }
};

/// How many sums are released for this many columns.
constexpr std::size_t joint_features(std::size_t columns) {
  return 1 + columns + columns * (columns + 1) / 2;
}

class JointSumsMechanism {
 public:
  static constexpr std::size_t kColumnsMax = 13;

  /// InvalidParameter: no columns or more than 13; ranges of one value or beyond 2^36 steps; as
  /// BoxNorm::make.
  static Result<JointSumsMechanism> make(Epsilon epsilon, std::vector<RegressionColumn> columns);

  /// From exact sums over rows: `sums[i]` of column i, and `products` of columns i <= j in the
  /// order (0,0), (0,1), ..., (1,1), ...; values already within their ranges.
  NoisyJointSums release(Int128 rows, std::span<const Int128> sums,
                         std::span<const Int128> products, RandomSource& random) const;
  /// From rows; values outside the range are moved to its ends.
  NoisyJointSums release(std::span<const std::vector<std::int64_t>> rows,
                         RandomSource& random) const;

  LossEvent loss() const { return box_.loss(); }
  double noise_sd() const { return box_.noise_sd(); }
  std::span<const RegressionColumn> columns() const { return columns_; }

 private:
  JointSumsMechanism(BoxNorm box, std::vector<RegressionColumn> columns)
      : box_(std::move(box)), columns_(std::move(columns)) {}
  BoxNorm box_;
  std::vector<RegressionColumn> columns_;
};

/// The matrix from features in the order 1, z_i, then T(z_i) or z_i z_j for pairs i <= j.
void fill_joint_sums(std::span<const double> features, NoisyJointSums& into);

}  // namespace discreet::inference
