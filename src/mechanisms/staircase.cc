#include "mechanisms/staircase.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/saturating.h"
#include "random/uniform.h"

namespace discreet {
namespace {

constexpr std::int64_t kSensitivityMax = std::int64_t{1} << 40;

struct Shape {
  double b, one_minus_b;  // exp(-epsilon)
  double sensitivity, step;

  // The weight of one stair, in units of its highest probability.
  double stair() const { return step + b * (sensitivity - step); }
  // The highest probability.
  double top() const { return one_minus_b / (2 * stair() - one_minus_b); }
};

Shape shape(double epsilon, std::int64_t sensitivity, std::int64_t step) {
  return {std::exp(-epsilon), -std::expm1(-epsilon), static_cast<double>(sensitivity),
          static_cast<double>(step)};
}

// E|Z| = 2 a sum_k b^k (sum over a stair of its weights times k D + j).
double expected(const Shape& s) {
  const double high = s.step * (s.step - 1) / 2;
  const double all = s.sensitivity * (s.sensitivity - 1) / 2;
  const double within = high + s.b * (all - high);
  return 2 * s.top() * (s.sensitivity * s.b / s.one_minus_b * s.stair() + within) / s.one_minus_b;
}

// Any step is private; the choice only sets the error. All of them are tried for a small
// sensitivity, those around the optimum 1 / (1 + e^(epsilon/2)) of real-valued noise for a large
// one.
std::int64_t best_step(double epsilon, std::int64_t sensitivity) {
  std::int64_t low = 1, high = sensitivity;
  if (sensitivity > 4096) {
    const auto centre =
        static_cast<std::int64_t>(static_cast<double>(sensitivity) / (1 + std::exp(epsilon / 2)));
    low = std::clamp<std::int64_t>(centre - 16, 1, sensitivity);
    high = std::clamp<std::int64_t>(centre + 16, 1, sensitivity);
  }
  std::int64_t best = low;
  for (std::int64_t step = low; step <= high; ++step)
    if (expected(shape(epsilon, sensitivity, step)) < expected(shape(epsilon, sensitivity, best)))
      best = step;
  return best;
}

}  // namespace

Staircase::Staircase(Epsilon epsilon, std::int64_t sensitivity, std::int64_t step,
                     GeometricSampler stairs)
    : epsilon_(epsilon),
      sensitivity_(sensitivity),
      step_(step),
      stairs_(std::move(stairs)),
      on_low_part_(Probability::logistic(stairs_.rate(),
                                         Rational(BigInt(sensitivity - step), BigInt(step)))) {}

Result<Staircase> Staircase::make(Epsilon epsilon, L1Sensitivity sensitivity) {
  if (epsilon.value() == 0 || !std::isfinite(epsilon.value()))
    return invalid_parameter(fmt::format(
        "epsilon must be positive and finite to release anything, not {}", epsilon.value()));
  if (sensitivity.value() > static_cast<double>(kSensitivityMax))
    return invalid_parameter("staircase noise is made for sensitivities up to 2^40");
  // A whole number cannot move by a fraction.
  const auto whole = static_cast<std::int64_t>(std::fmax(1, std::floor(sensitivity.value())));
  DISCREET_TRY(auto stairs, GeometricSampler::make(exact_rational(epsilon.value()).value()));
  return Staircase(epsilon, whole, best_step(epsilon.value(), whole), std::move(stairs));
}

Result<Staircase> Staircase::for_error(double error, double confidence, L1Sensitivity sensitivity) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter(
        fmt::format("confidence must lie strictly between 0 and 1, not {}", confidence));
  if (!std::isfinite(error) || error < 0)
    return invalid_parameter(
        fmt::format("the wanted error must be finite and not negative, not {}", error));
  const auto suffices = [&](double epsilon) {
    const auto made = make(Epsilon::make(epsilon).value(), sensitivity);
    return made && made->error_bound(confidence) <= error;
  };
  double low = 0, high = 0x1p-20;
  while (!suffices(high)) {
    low = high;
    high *= 2;
    if (high > 1e6)
      return invalid_parameter(
          fmt::format("no epsilon up to a million keeps the error within {}", error));
  }
  for (int step = 0; step < 50; ++step) {
    const double middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  return make(Epsilon::make(high).value(), sensitivity);
}

// A fair sign counts zero twice, so a negative zero is drawn again: the number of attempts is
// independent of the value kept. Both parts of a stair are drawn, whichever is used.
std::int64_t Staircase::draw(RandomSource& random) const {
  for (;;) {
    const std::int64_t stair = stairs_.draw(random);
    const bool low = on_low_part_.draw(random);
    const auto in_high =
        static_cast<std::int64_t>(uniform_below(static_cast<std::uint64_t>(step_), random));
    const auto in_low =
        step_ +
        static_cast<std::int64_t>(uniform_below(
            static_cast<std::uint64_t>(std::max<std::int64_t>(1, sensitivity_ - step_)), random));
    const bool negative = (random.bits64() & 1) != 0;
    const std::int64_t magnitude =
        saturating_add(saturating_mul(stair, sensitivity_), low ? in_low : in_high);
    if (negative && magnitude == 0) continue;
    return negative ? -magnitude : magnitude;
  }
}

std::int64_t Staircase::release(std::int64_t exact, RandomSource& random) const {
  return saturating_add(exact, draw(random));
}

double Staircase::at_least(std::int64_t distance) const {
  const Shape s = shape(epsilon_.value(), sensitivity_, step_);
  const auto stairs = static_cast<double>(distance / sensitivity_);
  const auto within = static_cast<double>(distance % sensitivity_);
  const double rest = within < s.step ? s.step - within + s.b * (s.sensitivity - s.step)
                                      : s.b * (s.sensitivity - within);
  const double after = s.b * s.stair() / s.one_minus_b;
  return 2 * s.top() * std::exp(-epsilon_.value() * stairs) * (rest + after);
}

double Staircase::error_bound(double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  const double beta = (1 - confidence) * (1 - 1e-12);
  std::int64_t low = 0, high = 1;  // at_least(high) <= beta, not so at low
  while (at_least(high) > beta && high < (std::int64_t{1} << 61)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (at_least(middle) <= beta ? high : low) = middle;
  }
  return static_cast<double>(high - 1);
}

double Staircase::expected_error() const {
  return expected(shape(epsilon_.value(), sensitivity_, step_));
}

}  // namespace discreet
