// Permute-and-flip (McKenna and Sheldon 2020): walk through the candidates in random order and take
// each with chance exp(unit (score - best)); the first one taken is the choice.
//
// Guarantee: one choice is epsilon-DP, with unit = epsilon / (2 sensitivity), or epsilon /
// sensitivity when
//            scores are monotone. Exact: every coin's chance is the stated one. For every t, the
//            chosen score is within t of the best at least as often as with the exponential
//            mechanism at the same epsilon.
// Not given: bounded range epsilon. The log-likelihood ratios of this mechanism can span more than
// epsilon, so
//            its zCDP is that of pure DP (epsilon^2/2), four times that of the exponential
//            mechanism; for many choices in a row the exponential mechanism may be the better buy.
// Assumes:   as exponential.h.
// Proof:     docs/proofs/permute_and_flip.md
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "mechanisms/quality_score.h"
#include "privacy/loss_event.h"
#include "random/exp_powers.h"
#include "random/random_source.h"

namespace discreet {

class PermuteAndFlip {
 public:
  /// InvalidParameter: as exponent_unit in quality_score.h.
  static Result<PermuteAndFlip> make(Epsilon epsilon, QualityScore score);
  /// The least epsilon whose choice is within `error` of the best score with this confidence,
  /// whatever the scores are. InvalidParameter: see least_epsilon; confidence not within (0, 1).
  static Result<PermuteAndFlip> for_error(double error, double confidence, std::uint64_t candidates,
                                          QualityScore score);

  /// The index of the chosen candidate. Every candidate is visited and tossed for, whichever is
  /// chosen. InvalidParameter: no scores, or one not finite.
  Result<std::size_t> release(std::span<const std::int64_t> scores, RandomSource& random) const;
  Result<std::size_t> release(std::span<const double> scores, RandomSource& random) const;

  LossEvent loss() const { return loss::Pure{epsilon_}; }

  /// With this confidence the chosen score is at most this far below the best, whatever the scores:
  /// exact, the bound is attained when all other candidates lie just beyond it.
  double error_bound(double confidence, std::uint64_t candidates) const;
  /// The same for whole-number scores.
  double whole_error_bound(double confidence, std::uint64_t candidates) const;

  /// The same for noise of this rate per unit of score; noisy max with geometric noise shares it.
  static double whole_error_bound(double rate, double confidence, std::uint64_t candidates);

  Epsilon epsilon() const { return epsilon_; }

 private:
  PermuteAndFlip(Epsilon epsilon, Rational unit);

  Epsilon epsilon_;
  std::shared_ptr<const ExpPowers> powers_;  // of exp(-unit); made once, shared by copies
};

}  // namespace discreet
