// A declared grid for real numbers: every value is a whole number of steps.
//
// Noise on doubles leaks through their last digits (Mironov 2012; Haney et al. 2022): which doubles
// can come out depends on the exact value. On a grid the exact value is rounded to a whole number
// of steps first, noise is a whole number of steps, and what comes out is a fixed function of the
// sum, so the same outputs are reachable from every input. Proof: docs/proofs/grid.md
#pragma once

#include <cstdint>

#include "base/rational.h"
#include "privacy/sensitivity.h"

namespace discreet {

class Grid {
 public:
  /// InvalidParameter: the step is not positive, not finite or subnormal.
  static Result<Grid> make(double step);
  static Result<Grid> make(Rational step);
  /// A power of two, about a millionth of `scale`: fine enough that rounding does not show in the
  /// error of noise of this scale. InvalidParameter: no such step among the normal doubles.
  static Result<Grid> for_scale(double scale);

  /// The nearest number of steps, halves upwards; beyond +-2^62 it stops there. What is not a
  /// number counts as zero: an error would reveal it.
  std::int64_t nearest(double value) const;
  /// The double nearest to this many steps.
  double value(std::int64_t steps) const;

  /// How many steps the rounded answer can move, when the answer moves by at most `sensitivity`.
  /// InvalidParameter: more than 2^53 steps.
  Result<L1Sensitivity> steps(L1Sensitivity sensitivity, std::uint64_t dimension) const;
  Result<L2Sensitivity> steps(L2Sensitivity sensitivity, std::uint64_t dimension) const;

  const Rational& step() const { return step_; }
  /// The step as a double, rounded up.
  double step_up() const { return step_up_; }

 private:
  explicit Grid(Rational step);

  Rational step_;
  double step_up_;
  bool is_power_of_two_ = false;
  int exponent_ = 0;  // of a power of two
};

}  // namespace discreet
