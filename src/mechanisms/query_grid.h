// Real-valued queries as whole numbers of grid steps, so that integer noise can answer them.
//
// Rounding to the nearest step is monotone and commutes with whole steps, so a query of sensitivity
// s moves by at most ceil(s / step) steps. The rounding is exact; only whole numbers meet the
// noise.
#pragma once

#include <cstdint>

#include "privacy/sensitivity.h"

namespace discreet {

class QueryGrid {
 public:
  /// InvalidParameter: step not positive, not finite, or subnormal.
  static Result<QueryGrid> make(double step);

  /// The nearest whole number of steps, halves upwards; saturates at the int64 limits. NaN counts
  /// as zero: refusing it would reveal that it was there.
  std::int64_t steps(double value) const;
  /// The number that many steps stand for, rounded to a double.
  double value(std::int64_t steps) const { return static_cast<double>(steps) * step_; }
  /// How many steps a query of this sensitivity moves. InvalidParameter: more than 2^53.
  Result<LInfSensitivity> sensitivity(LInfSensitivity of_value) const;

  double step() const { return step_; }

 private:
  explicit QueryGrid(double step) : step_(step) {}
  double step_;
};

}  // namespace discreet
