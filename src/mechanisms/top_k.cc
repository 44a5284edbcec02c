#include "mechanisms/top_k.h"

#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>

namespace discreet {
namespace {

// Given what came before, each choice keeps its bound with chance at least c, so all k do with c^k.
double confidence_each(double confidence, std::uint64_t k) {
  if (k == 1) return confidence;
  const double failure = -std::expm1(std::log(confidence) / count_up(k)) * (1 - 1e-12);
  return std::fmin(next_down(1), sub_up(1, failure));
}

// Weights are made anew for every choice, relative to the best candidate left: relative to the
// first one they could all vanish below any fixed precision once it is taken.
template <class Score>
Result<std::vector<std::size_t>> peel(const ExponentialMechanism& each, std::uint64_t k,
                                      std::span<const Score> scores, RandomSource& random) {
  DISCREET_TRY_VOID(check_scores(scores));
  if (k > scores.size())
    return invalid_parameter(
        fmt::format("asked for the best {} of only {} candidates", k, scores.size()));
  std::vector<Score> left(scores.begin(), scores.end());
  std::vector<std::size_t> index(scores.size()), chosen;
  std::iota(index.begin(), index.end(), std::size_t{0});
  while (chosen.size() < k) {
    DISCREET_TRY(const std::size_t at, each.release(std::span<const Score>(left), random));
    chosen.push_back(index[at]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    index.erase(index.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return chosen;
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
  return peel(each_, k_, scores, random);
}

Result<std::vector<std::size_t>> TopK::release(std::span<const double> scores,
                                               RandomSource& random) const {
  return peel(each_, k_, scores, random);
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
