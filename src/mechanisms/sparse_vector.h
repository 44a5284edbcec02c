// The sparse vector technique: a stream of questions "is this at least the threshold?", chosen as
// one goes, where only the first `answers_max` times that the answer is yes are paid for.
//
//   AboveThreshold  stops at the first yes           (answers_max = 1)
//   Sparse          stops at the c-th yes            (answers_max = c)
//   NumericSparse   and measures each yes with noise of its own (value_share > 0)
//
// Guarantee: a whole run, from start to its last answer, is epsilon-DP, however many questions are
// asked and
//            however they depend on earlier answers. Noise on the threshold is drawn once; every
//            question has noise of its own; epsilon is split between the two so that a comparison
//            has the least variance (Lyu, Su and Li 2017).
// Assumes:   every question is a whole number that moves by at most `sensitivity` between
// neighbours (reals:
//            query_grid.h); with `monotone`, that for any two neighbours all questions of the run
//            move the same way; RandomSource yields independent uniform bits.
// Proof:     docs/proofs/sparse_vector.md
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/saturating.h"
#include "privacy/loss_event.h"
#include "privacy/sensitivity.h"
#include "random/discrete_laplace_sampler.h"

namespace discreet {

struct SparseVectorPlan {
  Epsilon epsilon;
  LInfSensitivity sensitivity;
  std::uint64_t answers_max = 1;
  bool monotone = false;
  /// The part of epsilon kept for measuring the values of the yes answers; zero: yes and no only.
  double value_share = 0;
};

class SparseVector {
 public:
  class Run;

  /// InvalidParameter: epsilon or sensitivity zero or subnormal, answers_max zero, value_share not
  /// within [0, 1), or noise of scale above 2^54.
  static Result<SparseVector> make(const SparseVectorPlan& plan);
  static Result<SparseVector> above_threshold(Epsilon epsilon, LInfSensitivity sensitivity);
  /// The least epsilon (the plan's own is not looked at) whose error_bound is within `error`.
  static Result<SparseVector> for_error(double error, double confidence, std::uint64_t questions,
                                        SparseVectorPlan plan);

  /// Draws the threshold's noise. Each run costs loss().
  Run start(std::int64_t threshold, RandomSource& random) const;

  /// What one run costs as a whole, charged before it starts.
  LossEvent loss() const;

  /// With this confidence, over the first `questions` questions of a run: every yes had an exact
  /// answer of at least threshold - bound and every no one of at most threshold + bound. A whole
  /// number.
  double error_bound(double confidence, std::uint64_t questions) const;
  /// With this confidence each measured value of a run is within this distance. Needs value_share >
  /// 0.
  double value_error_bound(double confidence) const;
  /// The textbook's bound for its own split (Dwork and Roth 2014, Theorems 3.24, 3.26 and 3.28 at
  /// delta = 0): 8 c (ln k + ln(2 c / beta)) s / epsilon, and with values 9 c (ln k + ln(4 c /
  /// beta)) s / epsilon.
  double textbook_error_bound(double beta, std::uint64_t questions) const;

  const SparseVectorPlan& plan() const { return plan_; }
  /// The rates of the noise on the threshold and on each question: what the split of epsilon came
  /// to.
  const Rational& threshold_rate() const { return noise_->threshold.rate(); }
  const Rational& question_rate() const { return noise_->question.rate(); }

 private:
  struct Noise {
    DiscreteLaplaceSampler threshold, question;
    std::optional<DiscreteLaplaceSampler> value;
  };
  SparseVector(const SparseVectorPlan& plan, std::shared_ptr<const Noise> noise)
      : plan_(plan), noise_(std::move(noise)) {}

  SparseVectorPlan plan_;
  std::shared_ptr<const Noise> noise_;  // shared with the runs
};

/// One run. It can be moved but not copied: two copies would share the threshold's noise and answer
/// twice as often as was paid for.
class SparseVector::Run {
 public:
  Run(Run&& other) noexcept;
  Run& operator=(Run&& other) noexcept;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Whether the noisy answer reaches the noisy threshold. BudgetExhausted once answers_max yeses
  /// were given.
  Result<bool> above(std::int64_t exact, RandomSource& random);
  /// The same, and for a yes the value with fresh noise. InvalidParameter when the plan keeps
  /// nothing for values; BudgetExhausted as above.
  Result<std::optional<std::int64_t>> value_above(std::int64_t exact, RandomSource& random);

  std::uint64_t answers_left() const { return answers_left_; }

 private:
  friend class SparseVector;
  Run(std::shared_ptr<const Noise> noise, Int128 noisy_threshold, std::uint64_t answers_max)
      : noise_(std::move(noise)), noisy_threshold_(noisy_threshold), answers_left_(answers_max) {}

  std::shared_ptr<const Noise> noise_;
  Int128 noisy_threshold_;
  std::uint64_t answers_left_;
};

}  // namespace discreet
