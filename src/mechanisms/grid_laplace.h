// Laplace noise for real numbers and vectors in R^k, on a declared grid.
//
// Guarantee: a query of L1 sensitivity s (in the numbers handed in: arithmetic before this point
// must
//            keep it), released once, is epsilon-DP. Every multiple of the grid's step is reachable
//            from every input.
// Assumes:   RandomSource yields independent uniform bits.
// Proof:     docs/proofs/grid.md, docs/proofs/discrete_laplace.md
#pragma once

#include <cstdint>
#include <span>

#include "mechanisms/discrete_laplace.h"
#include "mechanisms/grid.h"

namespace discreet {

class GridLaplace {
 public:
  /// Noise for `dimension` coordinates of joint L1 sensitivity `sensitivity`.
  /// InvalidParameter: epsilon is zero, or the scale exceeds 2^54 steps.
  static Result<GridLaplace> make(Epsilon epsilon, L1Sensitivity sensitivity, Grid grid,
                                  std::uint64_t dimension = 1);
  /// The same on Grid::for_scale of the noise, which costs about a millionth in error.
  static Result<GridLaplace> make(Epsilon epsilon, L1Sensitivity sensitivity,
                                  std::uint64_t dimension = 1);
  /// The least epsilon whose error, rounding included, stays within `error` with this confidence.
  /// InvalidParameter: the error is below half a step.
  static Result<GridLaplace> for_error(double error, double confidence, L1Sensitivity sensitivity,
                                       Grid grid, std::uint64_t dimension = 1);

  double release(double exact, RandomSource& random) const;
  /// Independent noise on at most `dimension` coordinates, in place.
  void release(std::span<double> exact, RandomSource& random) const;

  LossEvent loss() const { return noise_.loss(); }

  /// With this confidence a release is within this distance of the exact value, rounding included.
  double error_bound(double confidence) const;
  double error_bound_of_worst(double confidence, std::uint64_t k) const;
  /// The textbook's theorem (Dwork and Roth 2014, Theorem 3.8): P[worst of k >= this] <= beta,
  /// where this is ln(k / beta) s / epsilon plus one step of the grid.
  double textbook_error_bound(double beta, std::uint64_t k) const;

  Epsilon epsilon() const { return noise_.epsilon(); }
  const Grid& grid() const { return grid_; }

 private:
  GridLaplace(Grid grid, std::uint64_t dimension, DiscreteLaplace noise)
      : grid_(std::move(grid)), dimension_(dimension), noise_(std::move(noise)) {}
  double in_units(double steps) const;

  Grid grid_;
  std::uint64_t dimension_;
  DiscreteLaplace noise_;  // in steps
};

}  // namespace discreet
