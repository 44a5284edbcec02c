#include "mechanisms/exponential.h"

#include <algorithm>
#include <cmath>

namespace discreet {
namespace {

// The least t at which n - 1 candidates, all t below the best, are chosen with chance at most beta:
// (n - 1) exp(-rate t) <= (1 - beta) / beta.
double distance_at(double rate, double confidence, std::uint64_t candidates) {
  if (candidates <= 1) return 0;
  const double odds = div_up(confidence, sub_down(1, confidence));
  return std::fmax(0, div_up(log_up(mul_up(count_up(candidates - 1), odds)), rate));
}

}  // namespace

Result<ExponentialMechanism> ExponentialMechanism::make(Epsilon epsilon, QualityScore score) {
  DISCREET_TRY(Rational unit, exponent_unit(epsilon, score));
  return ExponentialMechanism(epsilon, std::move(unit));
}

Result<ExponentialMechanism> ExponentialMechanism::for_error(double error, double confidence,
                                                             std::uint64_t candidates,
                                                             QualityScore score) {
  DISCREET_TRY_VOID(check_confidence_of_choice(confidence));
  if (candidates == 0) return invalid_parameter("there is nothing to choose from");
  const double range = to_double_up(score.range());
  DISCREET_TRY(const Epsilon epsilon, least_epsilon(error, [&](double value) {
                 return distance_at(div_down(value, range), confidence, candidates);
               }));
  return make(epsilon, score);
}

Result<ExponentialWeights> ExponentialMechanism::weights(
    std::span<const std::int64_t> scores) const {
  DISCREET_TRY_VOID(check_scores(scores));
  return ExponentialWeights::make(distances_below_best(scores), unit_);
}

Result<ExponentialWeights> ExponentialMechanism::weights(std::span<const double> scores) const {
  DISCREET_TRY_VOID(check_scores(scores));
  if (const auto grid = on_common_grid(scores))
    return ExponentialWeights::make(distances_below_best(grid->multiples), unit_ * grid->step);
  const Rational best = exact_rational(*std::max_element(scores.begin(), scores.end())).value();
  std::vector<Rational> exponents;
  exponents.reserve(scores.size());
  for (const double score : scores)
    exponents.push_back(unit_ * (best - exact_rational(score).value()));
  return ExponentialWeights::make(std::move(exponents));
}

Result<std::size_t> ExponentialMechanism::release(std::span<const std::int64_t> scores,
                                                  RandomSource& random) const {
  DISCREET_TRY(const ExponentialWeights chances, weights(scores));
  return chances.draw(random);
}

Result<std::size_t> ExponentialMechanism::release(std::span<const double> scores,
                                                  RandomSource& random) const {
  DISCREET_TRY(const ExponentialWeights chances, weights(scores));
  return chances.draw(random);
}

double ExponentialMechanism::error_bound(double confidence, std::uint64_t candidates) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1 && candidates > 0,
                 "confidence within (0, 1) and at least one candidate");
  return distance_at(to_double_down(unit_), confidence, candidates);
}

double ExponentialMechanism::whole_error_bound(double confidence, std::uint64_t candidates) const {
  return std::fmax(0, std::ceil(error_bound(confidence, candidates)) - 1);
}

double ExponentialMechanism::textbook_error_bound(double beta, std::uint64_t candidates,
                                                  std::uint64_t best) const {
  DISCREET_CHECK(beta > 0 && beta <= 1 && best > 0 && best <= candidates,
                 "beta within (0, 1] and at least one best candidate");
  const double logs =
      add_up(log_up(div_up(count_up(candidates), count_down(best))), log_up(div_up(1, beta)));
  return div_up(logs, to_double_down(unit_));
}

}  // namespace discreet
