#include "mechanisms/noisy_max.h"

#include <cmath>

#include "base/saturating.h"
#include "mechanisms/integer_noise.h"
#include "mechanisms/permute_and_flip.h"
#include "random/uniform.h"

namespace discreet {
namespace {

// Laplace noise: if the winner lies more than E below the best, some Z_j - Z_best > E, so Z_j >= a
// or Z_best <= -b with a + b = E + 2; n - 1 upper tails and one lower tail share beta equally.
double laplace_error(double rate, double confidence, std::uint64_t candidates) {
  if (candidates <= 1) return 0;
  const double each = div_down(sub_down(1, confidence), count_up(candidates));
  return 2 * upper_tail_start(rate, each) - 2;
}

double whole_error(MaxNoise noise, Epsilon epsilon, QualityScore score, double confidence,
                   std::uint64_t candidates) {
  const double rate = div_down(epsilon.value(), to_double_up(score.range()));
  if (noise == MaxNoise::DiscreteLaplace) return laplace_error(rate, confidence, candidates);
  return PermuteAndFlip::whole_error_bound(rate, confidence, candidates);
}

struct Contest {
  std::size_t winner = 0;
  Int128 best = 0;
  Int128 runner_up = 0;
};

// All candidates are given noise and compared. Equal noisy scores fall to a fair lot: the m-th
// candidate that shares the lead takes it with chance 1/m.
template <class Sampler>
Contest contest(const Sampler& sampler, std::span<const std::int64_t> scores,
                RandomSource& random) {
  Contest result;
  std::uint64_t tied = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const Int128 noisy = Int128{scores[i]} + draw_unbounded(sampler, random);
    if (i == 0 || noisy > result.best) {
      result.runner_up = i == 0 ? noisy : result.best;
      result.best = noisy;
      result.winner = i;
      tied = 1;
    } else if (noisy == result.best) {
      result.runner_up = noisy;
      if (uniform_below(++tied, random) == 0) result.winner = i;
    } else if (i == 1 || noisy > result.runner_up) {
      result.runner_up = noisy;
    }
  }
  return result;
}

}  // namespace

Result<NoisyMax> NoisyMax::make(Epsilon epsilon, QualityScore score, MaxNoise noise) {
  DISCREET_TRY(Rational rate, exponent_unit(epsilon, score));
  DISCREET_TRY(auto sampler, DiscreteLaplaceSampler::make(std::move(rate)));
  return NoisyMax(epsilon, score, noise, std::move(sampler));
}

Result<NoisyMax> NoisyMax::for_error(double error, double confidence, std::uint64_t candidates,
                                     QualityScore score, MaxNoise noise) {
  DISCREET_TRY_VOID(check_confidence_of_choice(confidence));
  if (candidates == 0) return invalid_parameter("there is nothing to choose from");
  DISCREET_TRY(const Epsilon epsilon, least_epsilon(error, [&](double value) {
                 return whole_error(noise, Epsilon::make(value).value(), score, confidence,
                                    candidates);
               }));
  return make(epsilon, score, noise);
}

Result<std::size_t> NoisyMax::release(std::span<const std::int64_t> scores,
                                      RandomSource& random) const {
  DISCREET_TRY_VOID(check_scores(scores));
  return noise_ == MaxNoise::Geometric ? contest(sampler_.magnitude(), scores, random).winner
                                       : contest(sampler_, scores, random).winner;
}

Result<NoisyMax::ChoiceWithGap> NoisyMax::release_with_gap(std::span<const std::int64_t> scores,
                                                           RandomSource& random) const {
  DISCREET_TRY_VOID(check_scores(scores));
  if (noise_ == MaxNoise::Geometric)
    return invalid_parameter(
        "the gap is private only under discrete Laplace noise; one-sided noise would leak it");
  const Contest result = contest(sampler_, scores, random);
  return ChoiceWithGap{result.winner, saturate(result.best - result.runner_up)};
}

Result<NoisyMax::ChoiceWithValue> NoisyMax::release_with_value(std::span<const std::int64_t> scores,
                                                               const DiscreteLaplace& measurement,
                                                               RandomSource& random) const {
  DISCREET_TRY(const std::size_t index, release(scores, random));
  return ChoiceWithValue{index, measurement.release(scores[index], random)};
}

LossEvent NoisyMax::loss_with_value(const DiscreteLaplace& measurement) const {
  return loss::Composed{{loss(), measurement.loss()}};
}

double NoisyMax::error_bound(double confidence, std::uint64_t candidates) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1 && candidates > 0,
                 "confidence within (0, 1) and at least one candidate");
  return whole_error(noise_, epsilon_, score_, confidence, candidates);
}

}  // namespace discreet
