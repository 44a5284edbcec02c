#include "audit/planted.h"

#include <algorithm>
#include <limits>

#include "mechanisms/exponential.h"
#include "mechanisms/top_k.h"
#include "random/bernoulli.h"
#include "random/discrete_laplace_sampler.h"

namespace discreet::planted {
namespace {

using Scores = std::vector<std::int64_t>;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

DiscreteLaplaceSampler noise(double rate) {
  return DiscreteLaplaceSampler::make(exact_rational(rate).value()).value();
}

// Exponential mechanism at the epsilon that is spent, whatever is claimed.
AuditedRun exponential(double spent, QualityScore score, const Scores& scores) {
  const auto weights =
      ExponentialMechanism::make(eps(spent), score).value().weights(scores).value();
  return [=](RandomSource& random) { return static_cast<std::int64_t>(weights.draw(random)); };
}

AuditedRun best_without_noise(const Scores& scores) {
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  return [=](RandomSource&) { return static_cast<std::int64_t>(best); };
}

// The candidates are tossed for in their own order instead of a random one.
AuditedRun flip_without_permuting(double epsilon, const Scores& scores) {
  const std::int64_t best = *std::max_element(scores.begin(), scores.end());
  std::vector<Bernoulli> coins;
  for (const std::int64_t score : scores)
    coins.emplace_back(
        Probability::exp_minus(exact_rational(epsilon).value() / 2 * (best - score)));
  return [=](RandomSource& random) -> std::int64_t {
    for (std::size_t i = 0; i < coins.size(); ++i)
      if (coins[i].draw(random)) return static_cast<std::int64_t>(i);
    fail_check("the best is taken", "its coin is certain");
  };
}

AuditedRun noisy_max_value(double epsilon, const Scores& scores) {
  const auto sampler = noise(epsilon / 2);
  return [=](RandomSource& random) {
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    for (const std::int64_t score : scores) best = std::max(best, score + sampler.draw(random));
    return best;  // the index would say even more
  };
}

// Each candidate's noise is that of a count: the number of candidates that may move is forgotten,
// as is the factor two.
AuditedRun noisy_max_at_rate(double rate, const Scores& scores) {
  const auto sampler = noise(rate);
  return [=](RandomSource& random) {
    std::int64_t best = std::numeric_limits<std::int64_t>::min(), winner = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::int64_t noisy = scores[i] + sampler.draw(random);
      if (noisy > best) {
        best = noisy;
        winner = static_cast<std::int64_t>(i);
      }
    }
    return winner;
  };
}

AuditedRun top_k(double each, std::uint64_t k, const Scores& scores) {
  const auto weights =
      ExponentialMechanism::make(eps(each), {LInfSensitivity{1}}).value().weights(scores).value();
  return [=](RandomSource& random) {
    std::int64_t key = 0;
    for (const std::size_t index : weights.draw_distinct(static_cast<std::size_t>(k), random))
      key = key * static_cast<std::int64_t>(scores.size()) + static_cast<std::int64_t>(index);
    return key;
  };
}

// What the broken sparse vectors differ in. A rate of zero means no noise at all.
struct BrokenSparse {
  double threshold_rate = 0;
  double question_rate = 0;
  std::uint64_t answers_max = std::numeric_limits<std::uint64_t>::max();
};

std::int64_t draw(const std::vector<DiscreteLaplaceSampler>& sampler, RandomSource& random) {
  return sampler.empty() ? 0 : sampler.front().draw(random);
}

std::vector<DiscreteLaplaceSampler> noise_or_none(double rate) {
  std::vector<DiscreteLaplaceSampler> sampler;
  if (rate > 0) sampler.push_back(noise(rate));
  return sampler;
}

// The answers as binary digits, most significant first; questions after the last paid yes count as
// no.
AuditedRun yes_no(const BrokenSparse& broken, const Scores& stream) {
  const auto threshold = noise_or_none(broken.threshold_rate),
             question = noise_or_none(broken.question_rate);
  return [=](RandomSource& random) {
    const std::int64_t noisy_threshold = draw(threshold, random);
    std::uint64_t left = broken.answers_max;
    std::int64_t key = 0;
    for (const std::int64_t exact : stream) {
      const bool yes = left > 0 && exact + draw(question, random) >= noisy_threshold;
      left -= yes ? 1 : 0;
      key = 2 * key + (yes ? 1 : 0);
    }
    return key;
  };
}

// All noes and then, for the last question, a yes that shows the very number that was compared. Any
// other course of answers is lumped together.
AuditedRun shows_compared_value(const BrokenSparse& broken, const Scores& stream) {
  const auto threshold = noise_or_none(broken.threshold_rate),
             question = noise_or_none(broken.question_rate);
  return [=](RandomSource& random) {
    constexpr std::int64_t kOther = std::numeric_limits<std::int64_t>::max();
    const std::int64_t noisy_threshold = draw(threshold, random);
    for (std::size_t i = 0; i + 1 < stream.size(); ++i)
      if (stream[i] + draw(question, random) >= noisy_threshold) return kOther;
    const std::int64_t compared = stream.back() + draw(question, random);
    return compared >= noisy_threshold ? compared : kOther;
  };
}

// `noes` questions that rise and `yeses` that fall when one person joins.
struct Streams {
  Scores before, after;
};
Streams rise_then_fall(std::size_t noes, std::size_t yeses) {
  Streams streams{Scores(noes, -1), Scores(noes + yeses, 0)};
  streams.before.resize(noes + yeses, 1);
  return streams;
}

}  // namespace

std::vector<AuditSubject> selection() {
  constexpr double kEpsilon = 1;
  const ApproxDp claim{eps(kEpsilon), Delta::zero()};
  const QualityScore any{LInfSensitivity{1}}, monotone{LInfSensitivity{1}, true};
  // One score rises while the other falls: what a non-monotone score may do.
  const Scores apart{0, 3}, together{1, 2};
  const Scores low(6, 0), high(6, 1);
  return {
      {"exponential-half-noise",
       "the exponent has epsilon / sensitivity although scores are not monotone", claim,
       exponential(kEpsilon, monotone, apart), exponential(kEpsilon, monotone, together)},
      {"exponential-sensitivity-forgotten", "scores of sensitivity 2 are weighted as if it were 1",
       claim, exponential(kEpsilon, any, {0, 6}), exponential(kEpsilon, any, {2, 4})},
      {"selection-without-noise", "the best of the exact scores is named (dpsynth pull 31)", claim,
       best_without_noise({1, 0}), best_without_noise({0, 1})},
      {"flip-without-permuting", "permute-and-flip tosses for the candidates in their own order",
       claim, flip_without_permuting(kEpsilon, {0, 0}), flip_without_permuting(kEpsilon, {-1, 0})},
      {"noisy-max-half-noise",
       "noise of rate epsilon instead of epsilon / 2 although scores are not monotone", claim,
       noisy_max_at_rate(kEpsilon, apart), noisy_max_at_rate(kEpsilon, together)},
      {"noisy-max-shows-value", "the winner's noisy score is released besides its index", claim,
       noisy_max_value(kEpsilon, low), noisy_max_value(kEpsilon, high)},
      {"top-k-charged-once", "three choices in a row are charged as one", claim,
       top_k(kEpsilon, 3, {0, 0, 0, 2, 2, 2}), top_k(kEpsilon, 3, {1, 1, 1, 1, 1, 1})},
  };
}

std::vector<AuditSubject> sparse_vectors() {
  constexpr double kEpsilon = 1;
  const ApproxDp claim{eps(kEpsilon), Delta::zero()};
  const Streams swap = {{0, 1}, {1, 0}}, mixed = rise_then_fall(4, 4),
                rising = rise_then_fall(5, 0);
  const BrokenSparse variant_3{kEpsilon / 2, kEpsilon / 2, 1};
  const BrokenSparse variant_4{kEpsilon / 4, kEpsilon * 3 / 4, 4};
  const BrokenSparse variant_5{.threshold_rate = kEpsilon / 2, .question_rate = 0};
  const BrokenSparse variant_6{.threshold_rate = kEpsilon / 2, .question_rate = kEpsilon / 2};
  const BrokenSparse bare_threshold{
      .threshold_rate = 0, .question_rate = kEpsilon / 2, .answers_max = 1};
  const Scores before_value{0, 0, 0, 0, 0, 1}, after_value{1, 1, 1, 1, 1, 0};
  return {
      {"sparse-vector-shows-compared-value",
       "a yes releases the very noisy number that was compared (variant 3)", claim,
       shows_compared_value(variant_3, before_value), shows_compared_value(variant_3, after_value),
       1'000'000},
      {"sparse-vector-noise-not-scaled",
       "four yeses, but the questions' noise is that for one (variant 4)", claim,
       yes_no(variant_4, mixed.before), yes_no(variant_4, mixed.after)},
      {"sparse-vector-no-question-noise", "only the threshold has noise (variant 5)", claim,
       yes_no(variant_5, swap.before), yes_no(variant_5, swap.after)},
      {"sparse-vector-never-stops", "any number of yeses is given for the price of one (variant 6)",
       claim, yes_no(variant_6, mixed.before), yes_no(variant_6, mixed.after)},
      {"sparse-vector-bare-threshold", "the threshold has no noise", claim,
       yes_no(bare_threshold, rising.before), yes_no(bare_threshold, rising.after)},
  };
}

}  // namespace discreet::planted
