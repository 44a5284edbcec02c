// exp(-n * unit) for whole n, in a handful of integer multiplications, with a certain bound on the
// error.
//
// Used as a filter: a decision is taken from these bounds when they suffice, and by Probability's
// digits in the rare case that they do not. No floating point.
#pragma once

#include <array>
#include <cstdint>

#include "base/rational.h"
#include "base/saturating.h"

namespace discreet {

class ExpPowers {
 public:
  /// unit > 0.
  explicit ExpPowers(const Rational& unit);

  /// Added to low(n), this is above the true value.
  static constexpr unsigned kSlack = 512;

  /// low(n) <= exp(-n * unit) * 2^128 < low(n) + kSlack.
  UInt128 low(UInt128 n) const;

  const Rational& unit() const { return unit_; }

 private:
  static constexpr int kNibbles = 32;

  Rational unit_;
  std::array<std::array<UInt128, 16>, kNibbles>
      table_;  // table_[i][v] is about exp(-v 16^i unit) 2^128
};

}  // namespace discreet
