#include "mechanisms/grid.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/rounding.h"

namespace discreet {
namespace {

constexpr std::int64_t kStepsMax = std::int64_t{1} << 62;
constexpr double kSensitivityMax = 0x1p53;

bool is_power_of_two(const BigInt& value) {
  return (value & (value - 1)) == 0;
}

}  // namespace

Grid::Grid(Rational step) : step_(std::move(step)), step_up_(to_double_up(step_)) {
  is_power_of_two_ = is_power_of_two(numerator(step_)) && is_power_of_two(denominator(step_));
  if (is_power_of_two_) exponent_ = std::ilogb(step_up_);
}

Result<Grid> Grid::make(Rational step) {
  if (step < exact_rational(std::numeric_limits<double>::min()).value() ||
      step > exact_rational(std::numeric_limits<double>::max()).value())
    return invalid_parameter("the step of a grid must be a positive number of ordinary size");
  return Grid(std::move(step));
}

Result<Grid> Grid::make(double step) {
  if (!std::isfinite(step) || step < std::numeric_limits<double>::min())
    return invalid_parameter(
        fmt::format("the step of a grid must be a positive number of ordinary size, not {}", step));
  return Grid(exact_rational(step).value());
}

Result<Grid> Grid::for_scale(double scale) {
  if (!std::isfinite(scale) || scale <= 0)
    return invalid_parameter(fmt::format("noise of scale {} has no grid", scale));
  return make(std::ldexp(1.0, std::ilogb(scale) - 20));
}

std::int64_t Grid::nearest(double value) const {
  if (std::isnan(value)) return 0;
  if (std::isinf(value)) return value > 0 ? kStepsMax : -kStepsMax;
  if (is_power_of_two_) {
    const double scaled = std::ldexp(value, -exponent_);  // exact, or far below half a step
    if (std::fabs(scaled) >= static_cast<double>(kStepsMax))
      return scaled > 0 ? kStepsMax : -kStepsMax;
    const double below = std::floor(scaled);
    return static_cast<std::int64_t>(below) + (scaled - below >= 0.5 ? 1 : 0);
  }
  const BigInt steps = floor(exact_rational(value).value() / step_ + Rational(1, 2));
  if (steps > kStepsMax) return kStepsMax;
  if (steps < -kStepsMax) return -kStepsMax;
  return static_cast<std::int64_t>(steps);
}

double Grid::value(std::int64_t steps) const {
  if (is_power_of_two_) return std::ldexp(static_cast<double>(steps), exponent_);
  return Rational(step_ * steps).convert_to<double>();
}

// floor(a + 1/2) - floor(b + 1/2) < a - b + 1, so a coordinate that moves by c steps before
// rounding moves by at most ceil(c) after it, and k coordinates together by less than their sum
// plus k.
Result<L1Sensitivity> Grid::steps(L1Sensitivity sensitivity, std::uint64_t dimension) const {
  DISCREET_CHECK(dimension > 0, "a release has at least one coordinate");
  const BigInt whole = ceil(exact_rational(sensitivity.value()).value() / step_) + (dimension - 1);
  if (whole > BigInt(static_cast<std::int64_t>(kSensitivityMax)))
    return invalid_parameter(
        "one unit moves the answer by more than 2^53 steps of the grid; use a coarser one");
  return L1Sensitivity::make(whole.convert_to<double>());
}

// The rounding errors of two inputs differ by less than one step in each coordinate, so by less
// than sqrt(k) in the L2 norm.
Result<L2Sensitivity> Grid::steps(L2Sensitivity sensitivity, std::uint64_t dimension) const {
  DISCREET_CHECK(dimension > 0, "a release has at least one coordinate");
  const Rational moved = exact_rational(sensitivity.value()).value() / step_;
  const double steps = dimension == 1 ? ceil(moved).convert_to<double>()
                                      : add_up(to_double_up(moved), sqrt_up(count_up(dimension)));
  if (!(steps <= kSensitivityMax))
    return invalid_parameter(
        "one unit moves the answer by more than 2^53 steps of the grid; use a coarser one");
  return L2Sensitivity::make(steps);
}

}  // namespace discreet
