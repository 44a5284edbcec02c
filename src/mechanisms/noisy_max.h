// Report noisy max: add independent integer noise to every whole-number score and name the
// candidate whose noisy score is greatest, ties falling to a fair lot.
//
// Guarantee: the index alone is epsilon-DP, with noise of rate epsilon / (2 sensitivity), or
// epsilon /
//            sensitivity when scores are monotone, whatever the number of candidates.
//            - Geometric noise (one-sided, the default): with whole-number scores this is the same
//              distribution as permute-and-flip, and as accurate.
//            - Discrete Laplace noise: in addition the gap to the runner-up is free (Ding et al.
//            2019).
// Not given: the winner's noisy score. It says that all other noisy scores were below it, and every
// one of them
//            may have moved: with n candidates the loss grows like n epsilon / 2. Who wants the
//            winner's score pays for a fresh measurement: release_with_value.
// Assumes:   candidates are public; sensitivity as declared; RandomSource yields independent
// uniform bits. Proof:     docs/proofs/noisy_max.md
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "mechanisms/discrete_laplace.h"
#include "mechanisms/quality_score.h"
#include "privacy/loss_event.h"
#include "random/discrete_laplace_sampler.h"
#include "random/geometric.h"

namespace discreet {

enum class MaxNoise { Geometric, DiscreteLaplace };

class NoisyMax {
 public:
  /// InvalidParameter: as exponent_unit in quality_score.h, or noise of scale above 2^54.
  static Result<NoisyMax> make(Epsilon epsilon, QualityScore score,
                               MaxNoise noise = MaxNoise::Geometric);
  /// The least epsilon whose choice is within `error` of the best score with this confidence, by
  /// error_bound.
  static Result<NoisyMax> for_error(double error, double confidence, std::uint64_t candidates,
                                    QualityScore score, MaxNoise noise = MaxNoise::Geometric);

  /// InvalidParameter: no scores.
  Result<std::size_t> release(std::span<const std::int64_t> scores, RandomSource& random) const;

  struct ChoiceWithGap {
    std::size_t index;
    std::int64_t
        gap;  ///< noisy score of the winner minus that of the runner-up; zero for a lone candidate
  };
  /// Costs no more than release. InvalidParameter: no scores, or geometric noise, for which the gap
  /// is not free.
  Result<ChoiceWithGap> release_with_gap(std::span<const std::int64_t> scores,
                                         RandomSource& random) const;

  struct ChoiceWithValue {
    std::size_t index;
    std::int64_t value;  ///< the winner's score with fresh noise
  };
  /// Costs loss_with_value: the choice, and a measurement of the winner's score with noise of its
  /// own.
  Result<ChoiceWithValue> release_with_value(std::span<const std::int64_t> scores,
                                             const DiscreteLaplace& measurement,
                                             RandomSource& random) const;

  LossEvent loss() const { return loss::Pure{epsilon_}; }
  LossEvent loss_with_value(const DiscreteLaplace& measurement) const;

  /// With this confidence the chosen score is at most this far below the best. A whole number. For
  /// geometric noise exact over all scores; for discrete Laplace noise a union bound.
  double error_bound(double confidence, std::uint64_t candidates) const;

  Epsilon epsilon() const { return epsilon_; }

 private:
  NoisyMax(Epsilon epsilon, QualityScore score, MaxNoise noise, DiscreteLaplaceSampler sampler)
      : epsilon_(epsilon), score_(score), noise_(noise), sampler_(std::move(sampler)) {}

  Epsilon epsilon_;
  QualityScore score_;
  MaxNoise noise_;
  DiscreteLaplaceSampler sampler_;  // geometric noise is its magnitude's sampler
};

}  // namespace discreet
