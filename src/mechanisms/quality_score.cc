#include "mechanisms/quality_score.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace discreet {
namespace {

constexpr double kLeastNormal = std::numeric_limits<double>::min();
constexpr double kGreatest = std::numeric_limits<double>::max();

}  // namespace

Rational QualityScore::range() const {
  const Rational once = exact_rational(sensitivity.value()).value();
  return monotone ? once : Rational(once * 2);
}

Result<Rational> exponent_unit(Epsilon epsilon, const QualityScore& score) {
  if (epsilon.value() == 0)
    return invalid_parameter(
        "epsilon must be positive: at zero the choice could only be a fair draw");
  if (epsilon.value() < kLeastNormal || score.sensitivity.value() < kLeastNormal)
    return invalid_parameter(fmt::format(
        "epsilon {} and sensitivity {} must not be subnormal; choose other units for the scores",
        epsilon.value(), score.sensitivity.value()));
  Rational unit = exact_rational(epsilon.value()).value() / score.range();
  if (to_double_down(unit) < kLeastNormal || to_double_up(unit) > kGreatest)
    return invalid_parameter(
        fmt::format("epsilon {} over sensitivity {} is beyond the range of doubles; choose other "
                    "units for the scores",
                    epsilon.value(), score.sensitivity.value()));
  return unit;
}

std::vector<std::uint64_t> distances_below_best(std::span<const std::int64_t> scores) {
  DISCREET_CHECK(!scores.empty(), "there is a best score");
  const std::int64_t best = *std::max_element(scores.begin(), scores.end());
  std::vector<std::uint64_t> distances(scores.size());
  // The difference of two int64 always fits uint64; unsigned subtraction gives it without overflow.
  std::transform(scores.begin(), scores.end(), distances.begin(), [best](std::int64_t score) {
    return static_cast<std::uint64_t>(best) - static_cast<std::uint64_t>(score);
  });
  return distances;
}

std::optional<GridScores> on_common_grid(std::span<const double> scores) {
  int lowest = std::numeric_limits<int>::max(), highest = std::numeric_limits<int>::min();
  for (const double score : scores) {
    if (score == 0) continue;
    int exponent = 0;
    const auto digits =
        static_cast<std::uint64_t>(std::ldexp(std::fabs(std::frexp(score, &exponent)), 53));
    lowest = std::min(lowest, exponent - 53 + std::countr_zero(digits));
    highest = std::max(highest, exponent);
  }
  GridScores grid{std::vector<std::int64_t>(scores.size()), 1};
  if (lowest > highest) return grid;  // all of them zero
  if (highest - lowest > 62) return std::nullopt;
  for (std::size_t i = 0; i < scores.size(); ++i)
    grid.multiples[i] = static_cast<std::int64_t>(std::ldexp(scores[i], -lowest));
  const BigInt power = BigInt(1) << static_cast<unsigned>(std::abs(lowest));
  grid.step = lowest < 0 ? Rational(BigInt(1), power) : Rational(power);
  return grid;
}

Result<void> check_scores(std::span<const double> scores) {
  if (scores.empty()) return invalid_parameter("there is nothing to choose from");
  if (!std::all_of(scores.begin(), scores.end(), [](double score) { return std::isfinite(score); }))
    return invalid_parameter("scores must be finite numbers; bound them before choosing");
  return {};
}

Result<void> check_scores(std::span<const std::int64_t> scores) {
  if (scores.empty()) return invalid_parameter("there is nothing to choose from");
  return {};
}

Result<void> check_confidence_of_choice(double confidence) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter(
        fmt::format("confidence must lie strictly between 0 and 1, not {}", confidence));
  return {};
}

Result<Epsilon> least_epsilon(double error, const std::function<double(double)>& error_at) {
  if (!std::isfinite(error) || error < 0)
    return invalid_parameter(
        fmt::format("the wanted error must be finite and not negative, not {}", error));
  double low = 0, high = 1;
  while (error_at(high) > error) {
    low = high;
    high *= 2;
    if (!(high < 0x1p200))
      return invalid_parameter(fmt::format("no epsilon makes the error as small as {}", error));
  }
  if (low == 0 && error_at(0x1p-200) <= error)
    return invalid_parameter(
        "even a fair draw meets the wanted error, so there is nothing to pay for");
  for (int step = 0; step < 400 && next_up(low) < high; ++step) {
    const double middle = low + (high - low) / 2;
    (error_at(middle) <= error ? high : low) = middle;
  }
  return Epsilon::make(high);
}

}  // namespace discreet
