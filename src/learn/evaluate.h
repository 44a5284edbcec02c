// How good a model is on labelled rows: exactly, for rows that are no secret, or with noise.
//
// Guarantee: evaluate_privately() is epsilon-DP for the rows scored on (add/remove): noisy numbers
//            of right answers and of rows. evaluate() is NOT private.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "learn/model.h"

namespace discreet::learn {

struct Evaluation {
  bool is_private = false;
  std::vector<std::pair<std::string, double>> values;  ///< accuracy, auc, r2, inertia, ...
};

/// NotFound: the target is not in the table.
Result<Evaluation> evaluate(const Model& model, const synth::RawTable& raw);

/// Accuracy of a classifier. Refused: other models, whose scores have no small sensitivity.
Result<Evaluation> evaluate_privately(const Model& model, const synth::RawTable& raw,
                                      Epsilon epsilon, RandomSource& random);

}  // namespace discreet::learn
