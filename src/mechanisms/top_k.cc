#include "mechanisms/top_k.h"

#include <cmath>
#include <memory>

#include <fmt/format.h>

namespace discreet {
namespace {

// Given what came before, each choice keeps its bound with chance at least c, so all k do with c^k.
double confidence_each(double confidence, std::uint64_t k) {
  if (k == 1) return confidence;
  const double failure = -std::expm1(std::log(confidence) / count_up(k)) * (1 - 1e-12);
  return std::fmin(next_down(1), sub_up(1, failure));
}

Result<std::vector<std::size_t>> draw(Result<ExponentialWeights> weights, std::uint64_t k,
                                      RandomSource& random) {
  DISCREET_TRY(const ExponentialWeights chances, std::move(weights));
  if (k > chances.size())
    return invalid_parameter(
        fmt::format("asked for the best {} of only {} candidates", k, chances.size()));
  return chances.draw_distinct(static_cast<std::size_t>(k), random);
}

}  // namespace

Result<TopK> TopK::make(Epsilon epsilon_each, std::uint64_t k, QualityScore score) {
  if (k == 0) return invalid_parameter("the best 0 candidates are nobody; k must be at least 1");
  DISCREET_TRY(auto each, ExponentialMechanism::make(epsilon_each, score));
  return TopK(std::move(each), k);
}

Result<TopK> TopK::within(Epsilon total, std::uint64_t k, QualityScore score) {
  if (k == 0) return invalid_parameter("the best 0 candidates are nobody; k must be at least 1");
  return make(total.share(k), k, score);
}

Result<TopK> TopK::for_error(double error, double confidence, std::uint64_t candidates,
                             std::uint64_t k, QualityScore score) {
  DISCREET_TRY_VOID(check_confidence_of_choice(confidence));
  if (k == 0) return invalid_parameter("the best 0 candidates are nobody; k must be at least 1");
  DISCREET_TRY(auto each, ExponentialMechanism::for_error(error, confidence_each(confidence, k),
                                                          candidates, score));
  return TopK(std::move(each), k);
}

Result<std::vector<std::size_t>> TopK::release(std::span<const std::int64_t> scores,
                                               RandomSource& random) const {
  return draw(each_.weights(scores), k_, random);
}

Result<std::vector<std::size_t>> TopK::release(std::span<const double> scores,
                                               RandomSource& random) const {
  return draw(each_.weights(scores), k_, random);
}

LossEvent TopK::loss() const {
  return loss::Repeated{k_, std::make_shared<const LossEvent>(each_.loss())};
}

double TopK::error_bound(double confidence, std::uint64_t candidates) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  return each_.error_bound(confidence_each(confidence, k_), candidates);
}

double TopK::whole_error_bound(double confidence, std::uint64_t candidates) const {
  return std::fmax(0, std::ceil(error_bound(confidence, candidates)) - 1);
}

}  // namespace discreet
