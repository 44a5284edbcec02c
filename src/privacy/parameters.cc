#include "privacy/parameters.h"

#include <cmath>

#include <fmt/format.h>

namespace discreet {

Result<Epsilon> Epsilon::make(double value) {
  if (!std::isfinite(value) || value < 0)
    return invalid_parameter(fmt::format("epsilon must be finite and not negative, not {}", value));
  return Epsilon(value);
}

Epsilon Epsilon::share(std::uint64_t parts) const {
  DISCREET_CHECK(parts > 0, "a budget has at least one share");
  return Epsilon(div_down(value_, count_up(parts)));
}

Result<Delta> Delta::make(double value) {
  if (!(value >= 0 && value <= 1))
    return invalid_parameter(fmt::format("delta must be between 0 and 1, not {}", value));
  return Delta(value);
}

Result<Rho> Rho::make(double value) {
  if (!std::isfinite(value) || value < 0)
    return invalid_parameter(fmt::format("rho must be finite and not negative, not {}", value));
  return Rho(value);
}

}  // namespace discreet
