// How much one privacy unit can move an answer, with the norm in the type: a mechanism that needs
// L1 cannot be handed L2 by accident.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

#include <fmt/format.h>

#include "base/result.h"

namespace discreet {

enum class Norm { L1, L2, LInfinity };

/// Positive and finite. Zero is refused where it is made: an answer nobody can move is not private
/// data, and noise of scale zero would release it exactly by accident.
template <Norm norm>
class Sensitivity {
 public:
  static Result<Sensitivity> make(double value) {
    if (!std::isfinite(value) || value <= 0)
      return invalid_parameter(
          fmt::format("sensitivity must be positive and finite, not {}", value));
    return Sensitivity(Checked{}, value);
  }

  /// A small whole number, the usual case: L1Sensitivity{1}.
  constexpr explicit Sensitivity(std::uint32_t value) : value_(value) {
    DISCREET_CHECK(value > 0, "sensitivity must be positive");
  }

  double value() const { return value_; }
  auto operator<=>(const Sensitivity&) const = default;

 private:
  struct Checked {};
  constexpr Sensitivity(Checked, double value) : value_(value) {}
  double value_;
};

using L1Sensitivity = Sensitivity<Norm::L1>;
using L2Sensitivity = Sensitivity<Norm::L2>;
using LInfSensitivity = Sensitivity<Norm::LInfinity>;

}  // namespace discreet
