// Correlation and linear regression from noisy sums of several columns (joint_sums.h).
//
// Standard errors add the noise's part to the sampling part. Tests and intervals use the
// studentised estimate, whose law is found by drawing residuals and noise anew from the fitted
// line, with residual spreads that the release allows. Where the noise does not let the regressors
// be told apart from a constant (or from each other), nothing is claimed: p-values are not numbers
// and intervals infinite.
//
// Guarantee: privacy is the release's; what is here is post-processing. Level: measured
//            (docs/inference.md).
// Assumes:   one row per unit, rows independent; residuals of equal spread; values as moved into
//            their ranges.
// Argument:  docs/proofs/inference.md
#pragma once

#include <vector>

#include "inference/joint_sums.h"
#include "inference/outcome.h"

namespace discreet::inference {

/// Columns are {x, y}. Null: no correlation. Estimate and interval: of the correlation (Pearson's).
TestOutcome correlation_test(const NoisyJointSums& sums, const Options& options = {});

struct Coefficient {
  double value = 0, standard_error = 0, statistic = 0,
         p_value = 1;       ///< p: NaN where nothing can be said
  Interval interval{};      ///< infinite where nothing can be said
  Interval simultaneous{};  ///< jointly with all other coefficients
};

struct Regression {
  std::vector<Coefficient> coefficients;  ///< the intercept first
  double r_squared = 0;
  double residual_sd = 0;
  double rows = 0;          ///< noisy
  bool identified = false;  ///< false: the noise hides the regressors' spread
};

/// Columns are {x_1, ..., x_p, y}: y on the others and a constant.
Regression linear_regression(const NoisyJointSums& sums, const Options& options = {});

/// PostgreSQL's regr_* of columns {x, y}, with 95 % errors of the noise and sampling where they are
/// known.
struct SimpleSums {
  double count, avg_x, avg_y, sxx, syy, sxy;
};
SimpleSums simple_sums(const NoisyJointSums& sums);

}  // namespace discreet::inference
