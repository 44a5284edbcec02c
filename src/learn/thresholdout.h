// A holdout that can be asked again and again (Thresholdout: Dwork, Feldman, Hardt, Pitassi,
// Reingold and Roth 2015): an answer comes from the training rows unless the holdout disagrees with
// them by more than a threshold; only disagreements are paid for.
//
// Guarantee: a run is epsilon-DP for its holdout rows when one of them is replaced (their number is
//            public), however questions depend on earlier answers; by the bound on max-information
//            of pure privacy (same paper, Theorem 20) every question's mean over the holdout is
//            therefore near its mean over the population: generalisation_error().
// Assumes:   a question gives each row a number in [0, 1]; holdout rows are independent draws.
// Proof:     docs/proofs/thresholdout.md
#pragma once

#include <cstdint>
#include <span>

#include "mechanisms/sparse_vector.h"

namespace discreet::learn {

struct ThresholdoutPlan {
  Epsilon epsilon;
  std::uint64_t answers_max = 10;  ///< disagreements that can be shown
  double threshold = 0.04;         ///< a disagreement is larger than this
  std::uint64_t holdout_rows = 0;
};

class Thresholdout {
 public:
  /// InvalidParameter: no rows, a threshold not within (0, 1), or as SparseVector.
  static Result<Thresholdout> make(const ThresholdoutPlan& plan, RandomSource& random);

  struct Answer {
    double mean;        ///< of the question, for the population as far as can be told
    bool from_holdout;  ///< the training rows overfit: this answer was paid for
  };
  /// One number in [0, 1] for each row of both parts. BudgetExhausted: answers_max disagreements
  /// were shown; take a fresh holdout. InvalidParameter: another number of holdout rows, or none to
  /// train.
  Result<Answer> ask(std::span<const double> training, std::span<const double> holdout,
                     RandomSource& random);

  std::uint64_t answers_left() const { return run_.answers_left(); }

  /// With this confidence no answer to `questions` questions is farther than this from the mean
  /// over the population: threshold, noise and generalisation together.
  double error_bound(double confidence, std::uint64_t questions) const;

 private:
  Thresholdout(const ThresholdoutPlan& plan, SparseVector technique, SparseVector::Run run)
      : plan_(plan), technique_(std::move(technique)), run_(std::move(run)) {}

  ThresholdoutPlan plan_;
  SparseVector technique_;
  SparseVector::Run run_;
};

/// With probability at least 1 - beta, the means over `rows` independent draws of `questions`
/// questions chosen through an epsilon-DP mechanism are all within this of the population's.
double generalisation_error(std::uint64_t rows, Epsilon epsilon, std::uint64_t questions,
                            double beta);

}  // namespace discreet::learn
