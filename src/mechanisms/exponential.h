// The exponential mechanism: candidate r is chosen with chance proportional to
// exp(epsilon score(r) / (2 sensitivity)), or exp(epsilon score(r) / sensitivity) when scores are
// monotone.
//
// Guarantee: one choice has bounded range epsilon (Durfee and Rogers 2019), which implies
// epsilon-DP and
//            epsilon^2/8-zCDP. The chances are exactly the stated ones: scores, epsilon and
//            sensitivity are taken at their exact values and no floating point decides.
// Assumes:   the candidates are public and the same for neighbours; the sensitivity (and
// monotonicity) of the
//            scores is as declared; RandomSource yields independent uniform bits.
// Proof:     docs/proofs/exponential.md
#pragma once

#include <cstdint>
#include <span>

#include "mechanisms/quality_score.h"
#include "privacy/loss_event.h"
#include "random/exponential_weights.h"

namespace discreet {

class ExponentialMechanism {
 public:
  /// InvalidParameter: as exponent_unit in quality_score.h.
  static Result<ExponentialMechanism> make(Epsilon epsilon, QualityScore score);

  /// The least epsilon whose choice is within `error` of the best score with this confidence,
  /// whatever the scores are. InvalidParameter: see least_epsilon; confidence not within (0, 1).
  static Result<ExponentialMechanism> for_error(double error, double confidence,
                                                std::uint64_t candidates, QualityScore score);

  /// The index of the chosen candidate. InvalidParameter: no scores, more than 2^30, or one not
  /// finite.
  Result<std::size_t> release(std::span<const std::int64_t> scores, RandomSource& random) const;
  Result<std::size_t> release(std::span<const double> scores, RandomSource& random) const;

  /// The distribution that release draws from, for drawing repeatedly; every draw costs loss().
  Result<ExponentialWeights> weights(std::span<const std::int64_t> scores) const;
  Result<ExponentialWeights> weights(std::span<const double> scores) const;

  LossEvent loss() const { return loss::BoundedRange{epsilon_}; }

  /// With this confidence the chosen score is at most this far below the best, whatever the scores:
  /// exact, the bound is attained when all other candidates lie just beyond it.
  double error_bound(double confidence, std::uint64_t candidates) const;
  /// The same for whole-number scores, where the answer is a whole number too, and smaller.
  double whole_error_bound(double confidence, std::uint64_t candidates) const;
  /// The textbook's form (Dwork and Roth 2014, Theorem 3.11): with chance at least 1 - beta the
  /// chosen score is within (2 sensitivity / epsilon) (ln(candidates / best) + ln(1 / beta)) of the
  /// best, where `best` candidates share the best score. Corollary 3.12 is best = 1.
  double textbook_error_bound(double beta, std::uint64_t candidates, std::uint64_t best = 1) const;

  Epsilon epsilon() const { return epsilon_; }
  const Rational& unit() const { return unit_; }

 private:
  ExponentialMechanism(Epsilon epsilon, Rational unit)
      : epsilon_(epsilon), unit_(std::move(unit)) {}

  Epsilon epsilon_;
  Rational unit_;  // epsilon over the range of the score, exactly
};

}  // namespace discreet
