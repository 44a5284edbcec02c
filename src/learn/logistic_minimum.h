// The minimum of a perturbed logistic loss over one-hot bins, and how far from it the point found
// can be.
//
// Guarantee: the point returned is within `away` of the true minimum of the loss that was given,
//            whatever the rows are, if there are at most `rows_most` of them. Scores and sums of
//            residuals are whole numbers, so the only errors are those of one row's residual.
// Assumes:   exp() is within 2^-45 of the truth in relative terms.
// Proof:     docs/proofs/objective_perturbation.md, steps 5 and 7
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "learn/class_tables.h"

namespace discreet::learn {

/// sum over rows of log(1 + e^score) - y score, + ridge / 2 |w - centre|^2 + tilt . w: a weight for
/// each bin of each column, column after column.
struct PerturbedLoss {
  std::vector<double> centre, tilt;
  double ridge = 0;
  double rows_most = 0;
  double tilt_most = 0;  ///< a bound on |tilt| that was known before it was drawn
};

struct LogisticMinimum {
  std::vector<double> weights;
  double away = 0;  ///< L2, a function of the loss without rows and tilt
};

/// Refused: so many rows or so small a ridge that scores might not fit whole numbers; that too does
/// not depend on rows. `careless` is a broken twin for tests: it stops that many times too early.
Result<LogisticMinimum> minimise_logistic(const CodedRows& rows, const std::vector<Bins>& bins,
                                          const PerturbedLoss& loss, double careless = 1);

}  // namespace discreet::learn
