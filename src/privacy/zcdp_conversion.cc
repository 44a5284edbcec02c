#include "privacy/zcdp_conversion.h"

#include <cmath>

#include <fmt/format.h>

namespace discreet {
namespace {

// The bound at order a, rounded up.
double delta_at(double a, double rho, double epsilon) {
  const double order = a - 1;  // exact: a - 1 keeps the last place of a
  const double first = mul_up(order, sub_up(mul_up(a, rho), epsilon));
  const double second = mul_up(a, log1p_up(-div_down(1, a)));
  return div_up(exp_up(add_up(first, second)), order);
}

// The logarithm of the bound is convex in a; its derivative is (2a - 1) rho - epsilon + ln(1 -
// 1/a).
double best_order(double rho, double epsilon) {
  double low = 0, high = 1;  // of a - 1
  const auto rising = [&](double order) {
    return (2 * order + 1) * rho - epsilon - std::log1p(1 / order) > 0;
  };
  while (!rising(high) && high < 0x1p50) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (rising(middle) ? high : low) = middle;
  }
  return 1 + high;
}

}  // namespace

double zcdp_delta_up(Rho rho, double epsilon) {
  if (rho.value() == 0) return 0;
  const double a = best_order(rho.value(), epsilon);
  if (!(a > 1)) return 1;  // the best order is too near one for doubles: the bound is useless there
  return std::fmin(1.0, delta_at(a, rho.value(), epsilon));
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
