// Gaussian noise for real numbers and vectors in R^k, on a declared grid.
//
// Guarantee: a query of L2 sensitivity s (in the numbers handed in), released once, is rho-zCDP or
//            (epsilon, delta)-DP as made. Every multiple of the grid's step is reachable from every
//            input.
// Assumes:   RandomSource yields independent uniform bits.
// Proof:     docs/proofs/grid.md, docs/proofs/discrete_gaussian.md
#pragma once

#include <cstdint>
#include <span>

#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/grid.h"

namespace discreet {

class GridGaussian {
 public:
  /// Noise for `dimension` coordinates of joint L2 sensitivity `sensitivity`.
  static Result<GridGaussian> make(Rho rho, L2Sensitivity sensitivity, Grid grid,
                                   std::uint64_t dimension = 1);
  static Result<GridGaussian> make(ApproxDp target, L2Sensitivity sensitivity, Grid grid,
                                   std::uint64_t dimension = 1);
  /// The most noise whose error, rounding included, stays within `error` with this confidence, for
  /// one number. InvalidParameter: the error is below half a step.
  static Result<GridGaussian> for_error(double error, double confidence, L2Sensitivity sensitivity,
                                        Grid grid);

  double release(double exact, RandomSource& random) const;
  /// Independent noise on at most `dimension` coordinates, in place.
  void release(std::span<double> exact, RandomSource& random) const;

  LossEvent loss() const { return noise_.loss(); }
  Rho rho() const { return noise_.rho(); }

  /// With this confidence a release is within this distance of the exact value, rounding included.
  double error_bound(double confidence) const;
  double error_bound_of_worst(double confidence, std::uint64_t k) const;
  /// The standard deviation of the noise, rounded up.
  double sigma() const;

  const Grid& grid() const { return grid_; }

 private:
  GridGaussian(Grid grid, std::uint64_t dimension, DiscreteGaussian noise)
      : grid_(std::move(grid)), dimension_(dimension), noise_(std::move(noise)) {}
  double in_units(double steps) const;

  Grid grid_;
  std::uint64_t dimension_;
  DiscreteGaussian noise_;  // in steps
};

}  // namespace discreet
