#include "local/confidence.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/normal.hpp>

namespace discreet::local {

Result<double> critical_value(double confidence, std::uint64_t items) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter("confidence must lie between 0 and 1, for example 0.95");
  if (items == 0) return invalid_parameter("there are no values to be sure of");
  const double side = (1 - confidence) / 2 / static_cast<double>(items);
  return boost::math::quantile(boost::math::complement(boost::math::normal_distribution<>(), side));
}

// With c = x + u the limits solve u^2 = z^2 (V + s (u + x - x')), where V is the variance at the
// count x' within [0, n] that the error was computed for, and s its slope.
Interval interval(const Estimate& estimate, std::uint64_t reports, double z) {
  const double variance = estimate.standard_error * estimate.standard_error;
  if (reports == 0)
    return {estimate.estimate - z * estimate.standard_error,
            estimate.estimate + z * estimate.standard_error};
  const auto n = static_cast<double>(reports);
  const double x = estimate.estimate, inside = std::clamp(x, 0.0, n), s = estimate.slope;
  const double middle = z * z * s / 2;
  const double reach =
      std::sqrt(std::max(0.0, middle * middle + z * z * (variance + s * (x - inside))));
  return {std::clamp(x + middle - reach, 0.0, n), std::clamp(x + middle + reach, 0.0, n)};
}

}  // namespace discreet::local
