#include "mechanisms/query_grid.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/rational.h"

namespace discreet {

Result<QueryGrid> QueryGrid::make(double step) {
  if (!std::isnormal(step) || step < 0)
    return invalid_parameter(
        fmt::format("a grid step must be positive, finite and not subnormal, not {}", step));
  return QueryGrid(step);
}

std::int64_t QueryGrid::steps(double value) const {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  if (std::isnan(value)) return 0;
  if (std::isinf(value)) return value > 0 ? kMax : kMin;
  const BigInt nearest =
      floor(exact_rational(value).value() / exact_rational(step_).value() + Rational(1, 2));
  return nearest > kMax ? kMax : nearest < kMin ? kMin : static_cast<std::int64_t>(nearest);
}

Result<LInfSensitivity> QueryGrid::sensitivity(LInfSensitivity of_value) const {
  const BigInt steps =
      ceil(exact_rational(of_value.value()).value() / exact_rational(step_).value());
  if (steps > (BigInt(1) << 53))
    return invalid_parameter(
        fmt::format("sensitivity {} is more than 2^53 steps of {}; use a coarser grid",
                    of_value.value(), step_));
  return LInfSensitivity::make(static_cast<double>(steps));
}

}  // namespace discreet
