// Logistic regression by objective perturbation: noise is added to the loss before it is minimised,
// and a whisper of it to the minimum found, because a computer finds minima only nearly.
//
// Guarantee: (epsilon, delta)-DP for the target, rows private, two classes. Tables, objective and
//            comparison with the most common class share one mu^2; the minimum is computed to a
//            distance that is checked, and released with noise that covers that distance.
// Assumes:   add/remove of one row; exp() is within 2^-45 of the truth in relative terms.
// Proof:     docs/proofs/objective_perturbation.md
#pragma once

#include "learn/additive.h"

namespace discreet::learn {

struct ObjectiveSettings {
  double table_share = 0;  ///< 0: 0.35 where noise is strong, else 0.2
  double check_share = 0.01;
  double curvature_share = 0.05;  ///< of epsilon, for what one row does to the curvature
  double start = 0.5;  ///< how much of naive Bayes the weights are pulled towards; 0: towards 0
  double bins = 1.5;
  double rows_min = 13;  ///< times root(columns) / mu: with fewer rows it gives up
  bool one_column_noise =
      false;  ///< a broken twin for tests: forgets that a row is in every column
};

/// How a target is divided; nothing of it depends on rows.
struct ObjectivePlan {
  double mu = 0;                                ///< of tables, objective and comparison together
  double curvature = 0;                         ///< log(1 + largest curvature of a row / ridge)
  double output_epsilon = 0, output_delta = 0;  ///< of the noise on the minimum, each way
};
/// InvalidParameter: epsilon not positive and finite, or delta not strictly between 0 and 1.
Result<ObjectivePlan> plan_objective(ApproxDp target, double curvature_share);

/// The price of a plan at the target's epsilon, rounded up: at most the target's delta.
double objective_delta(const ObjectivePlan& plan, double epsilon);

/// Refused: not two classes.
Result<TrainedAdditive> train_objective(const CodedRows& rows, const Coding& coding,
                                        ApproxDp target, RandomSource& random,
                                        const ObjectiveSettings& settings = {});

}  // namespace discreet::learn
