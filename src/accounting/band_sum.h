// Weighted sums of masses that are known by a few frequencies, without the masses.
//
// Where a sum of losses has few frequencies left, its mass at point i is a short sum of cosines,
// and sum_{t >= 0} mass(i + t) e^{-rate t} over the rest of the window is a geometric series for
// each of them. This replaces an inverse transform of the whole window.
//
// Guarantee: from() is within error() of the exact sum over the given frequencies.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "accounting/tilted_product.h"

namespace discreet {

class BandSum {
 public:
  /// The window's first point has index `first`; `decay` is the rate times the step, positive.
  BandSum(const TiltedProduct& product, bool upper, std::int64_t first, double decay);

  /// Sum over the points i, i + 1, ... to the end of the window.
  double from(std::size_t i) const;
  double error() const { return error_; }

 private:
  std::vector<std::uint32_t> frequencies_;
  std::vector<std::complex<double>> factors_;
  std::size_t points_;
  double decay_;
  double all_ = 0;  // sum of the factors' real parts
  double error_ = 0;
};

}  // namespace discreet
