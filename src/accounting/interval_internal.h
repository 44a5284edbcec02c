// A real number known to lie between two doubles; every operation widens outwards.
//
// Formulas are written once with this type; the caller takes `hi` for a loss and `lo` for a lower
// bound, so no formula exists in two hand-rounded versions that can drift apart.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace discreet {

struct Interval {
  double lo;
  double hi;

  constexpr Interval(double exact) : lo(exact), hi(exact) {}  // NOLINT: implicit by design
  constexpr Interval(double low, double high) : lo(low), hi(high) {}

  friend Interval operator-(Interval a) { return {-a.hi, -a.lo}; }
  friend Interval operator+(Interval a, Interval b) {
    return {add_down(a.lo, b.lo), add_up(a.hi, b.hi)};
  }
  friend Interval operator-(Interval a, Interval b) {
    return {sub_down(a.lo, b.hi), sub_up(a.hi, b.lo)};
  }
  friend Interval operator*(Interval a, Interval b) {
    if (a.lo >= 0 && b.lo >= 0) return {mul_down(a.lo, b.lo), mul_up(a.hi, b.hi)};
    return {
        std::min({mul_down(a.lo, b.lo), mul_down(a.lo, b.hi), mul_down(a.hi, b.lo),
                  mul_down(a.hi, b.hi)}),
        std::max({mul_up(a.lo, b.lo), mul_up(a.lo, b.hi), mul_up(a.hi, b.lo), mul_up(a.hi, b.hi)})};
  }
  /// The divisor must not contain zero.
  friend Interval operator/(Interval a, Interval b) {
    if (a.lo >= 0 && b.lo > 0) return {div_down(a.lo, b.hi), div_up(a.hi, b.lo)};
    return {
        std::min({div_down(a.lo, b.lo), div_down(a.lo, b.hi), div_down(a.hi, b.lo),
                  div_down(a.hi, b.hi)}),
        std::max({div_up(a.lo, b.lo), div_up(a.lo, b.hi), div_up(a.hi, b.lo), div_up(a.hi, b.hi)})};
  }
};

inline Interval exp(Interval x) {
  return {exp_down(x.lo), exp_up(x.hi)};
}
inline Interval expm1(Interval x) {
  return {expm1_down(x.lo), expm1_up(x.hi)};
}
/// Arguments at or below zero give minus infinity, which is where the logarithm goes.
inline Interval log(Interval x) {
  return {x.lo > 0 ? log_down(x.lo) : -HUGE_VAL, x.hi > 0 ? log_up(x.hi) : -HUGE_VAL};
}
inline Interval log1p(Interval x) {
  return {x.lo > -1 ? log1p_down(x.lo) : -HUGE_VAL, x.hi > -1 ? log1p_up(x.hi) : -HUGE_VAL};
}
inline Interval sqrt(Interval x) {
  return {sqrt_down(std::fmax(x.lo, 0)), sqrt_up(std::fmax(x.hi, 0))};
}
/// Widens by this share of the magnitude: for a sum whose rounding error is bounded as a whole.
inline Interval widen(Interval x, double relative) {
  return x * Interval(1 - relative, 1 + relative);
}

}  // namespace discreet
