#include "mechanisms/permute_and_flip.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "random/bernoulli.h"
#include "random/uniform.h"

namespace discreet {
namespace {

// Heads with chance exp(-distance unit). The 128-digit bounds decide all but about one toss in
// 2^64.
bool toss(const ExpPowers& powers, std::uint64_t distance, RandomSource& random) {
  const UInt128 low = powers.low(distance);
  const UInt128 high = low + ExpPowers::kSlack < low ? ~UInt128{0} : low + ExpPowers::kSlack;
  const std::uint64_t drawn = random.bits64();
  if (drawn < static_cast<std::uint64_t>(low >> 64)) return true;
  if (drawn > static_cast<std::uint64_t>(high >> 64)) return false;
  return decide(Probability::exp_minus(powers.unit() * distance), drawn, random);
}

// A uniformly random order (Fisher and Yates); the first candidate in it whose coin shows heads.
template <class Coin>
std::size_t first_heads(std::size_t candidates, const Coin& coin, RandomSource& random) {
  std::vector<std::size_t> order(candidates);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t chosen = candidates;
  for (std::size_t i = 0; i < candidates; ++i) {
    std::swap(order[i], order[i + uniform_below(std::uint64_t{candidates - i}, random)]);
    const bool heads = coin(order[i]);
    if (heads && chosen == candidates) chosen = order[i];
  }
  DISCREET_CHECK(chosen < candidates, "the best candidate's coin always shows heads");
  return chosen;
}

std::size_t choose(const ExpPowers& powers, std::span<const std::int64_t> scores,
                   RandomSource& random) {
  const auto distances = distances_below_best(scores);
  return first_heads(
      scores.size(), [&](std::size_t i) { return toss(powers, distances[i], random); }, random);
}

// The greatest p at which n - 1 coins of chance p, against one that is certain, are chosen with
// chance at most beta: 1 - (1 - (1 - p)^n) / (n p) <= beta. That chance is at most (n - 1) p / 2,
// which serves where the formula loses its digits.
double greatest_chance(double beta, double n) {
  constexpr double kRounding = 1e-14;
  const auto suffices = [&](double p) {
    return -std::expm1(n * std::log1p(-p)) / (n * p) * (1 - kRounding) >= 1 - beta;
  };
  double low = std::fmin(1, div_down(2 * beta, n - 1)), high = 1;
  if (suffices(high)) return 1;
  for (int step = 0; step < 200 && next_up(low) < high; ++step) {
    const double middle = low + (high - low) / 2;
    (suffices(middle) ? low : high) = middle;
  }
  return low;
}

double distance_at(double rate, double confidence, std::uint64_t candidates) {
  if (candidates <= 1) return 0;
  const double p = greatest_chance(sub_down(1, confidence), count_up(candidates));
  return std::fmax(0, div_up(log_up(div_up(1, p)), rate));
}

}  // namespace

PermuteAndFlip::PermuteAndFlip(Epsilon epsilon, Rational unit)
    : epsilon_(epsilon), powers_(std::make_shared<const ExpPowers>(unit)) {}

Result<PermuteAndFlip> PermuteAndFlip::make(Epsilon epsilon, QualityScore score) {
  DISCREET_TRY(Rational unit, exponent_unit(epsilon, score));
  return PermuteAndFlip(epsilon, std::move(unit));
}

Result<PermuteAndFlip> PermuteAndFlip::for_error(double error, double confidence,
                                                 std::uint64_t candidates, QualityScore score) {
  DISCREET_TRY_VOID(check_confidence_of_choice(confidence));
  if (candidates == 0) return invalid_parameter("there is nothing to choose from");
  const double range = to_double_up(score.range());
  DISCREET_TRY(const Epsilon epsilon, least_epsilon(error, [&](double value) {
                 return distance_at(div_down(value, range), confidence, candidates);
               }));
  return make(epsilon, score);
}

Result<std::size_t> PermuteAndFlip::release(std::span<const std::int64_t> scores,
                                            RandomSource& random) const {
  DISCREET_TRY_VOID(check_scores(scores));
  return choose(*powers_, scores, random);
}

Result<std::size_t> PermuteAndFlip::release(std::span<const double> scores,
                                            RandomSource& random) const {
  DISCREET_TRY_VOID(check_scores(scores));
  if (const auto grid = on_common_grid(scores))
    return choose(ExpPowers(powers_->unit() * grid->step), grid->multiples, random);
  const Rational best = exact_rational(*std::max_element(scores.begin(), scores.end())).value();
  const auto coin = [&](std::size_t i) {
    return bernoulli_exp_minus(powers_->unit() * (best - exact_rational(scores[i]).value()),
                               random);
  };
  return first_heads(scores.size(), coin, random);
}

double PermuteAndFlip::error_bound(double confidence, std::uint64_t candidates) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1 && candidates > 0,
                 "confidence within (0, 1) and at least one candidate");
  return distance_at(to_double_down(powers_->unit()), confidence, candidates);
}

double PermuteAndFlip::whole_error_bound(double confidence, std::uint64_t candidates) const {
  return whole_error_bound(to_double_down(powers_->unit()), confidence, candidates);
}

double PermuteAndFlip::whole_error_bound(double rate, double confidence, std::uint64_t candidates) {
  DISCREET_CHECK(confidence > 0 && confidence < 1 && candidates > 0,
                 "confidence within (0, 1) and at least one candidate");
  return std::fmax(0, std::ceil(distance_at(rate, confidence, candidates)) - 1);
}

}  // namespace discreet
