#include "privacy/zcdp_conversion.h"

#include <cmath>

#include <fmt/format.h>

namespace discreet {
namespace {

// The bound at order 1 + x, rounded up; x may be far below the distance of doubles around one.
double delta_at(double x, double rho, double epsilon) {
  const double first = mul_up(x, sub_up(mul_up(add_up(1, x), rho), epsilon));
  // (1 + x) ln(x / (1 + x)), not positive
  const double second = -mul_down(add_down(1, x), log1p_down(div_down(1, x)));
  return div_up(exp_up(add_up(first, second)), x);
}

// The logarithm of the bound is convex in x; its derivative is (2x + 1) rho - epsilon + ln(x / (1 +
// x)).
double best_order(double rho, double epsilon) {
  double low = 0x1p-200, high = 1;
  const auto rising = [&](double x) { return (2 * x + 1) * rho - epsilon - std::log1p(1 / x) > 0; };
  while (!rising(high) && high < 0x1p50) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < 80; ++step) {  // in powers first, since x may be tiny
    const double middle = high > 2 * low ? std::sqrt(low * high) : low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (rising(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

double zcdp_delta_up(Rho rho, double epsilon) {
  if (rho.value() == 0) return 0;
  return std::fmin(1.0, delta_at(best_order(rho.value(), epsilon), rho.value(), epsilon));
}

Result<Rho> zcdp_meeting(ApproxDp target) {
  const double epsilon = target.epsilon.value();
  const double delta = target.delta.value();
  if (!(delta > 0 && delta < 1) || !std::isfinite(epsilon))
    return invalid_parameter(fmt::format(
        "a delta strictly between 0 and 1 and a finite epsilon are needed, not {} and {}", delta,
        epsilon));
  const auto meets = [&](double rho) {
    return zcdp_delta_up(Rho::make(rho).value(), epsilon) <= delta;
  };
  double good = 0, bad = 1;
  while (meets(bad)) {
    good = bad;
    bad *= 2;
    if (bad > 1e300)
      return invalid_parameter(fmt::format("epsilon {} is too large to calibrate", epsilon));
  }
  if (good == 0) {
    for (good = 0.5; !meets(good); good /= 2) {
      bad = good;
      if (good < 1e-300)
        return invalid_parameter(fmt::format(
            "epsilon {} with delta {} needs more noise than can be drawn", epsilon, delta));
    }
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = good + (bad - good) / 2;
    if (middle <= good || middle >= bad) break;
    (meets(middle) ? good : bad) = middle;
  }
  return Rho::make(good);
}

}  // namespace discreet
