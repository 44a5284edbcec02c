// Linear regression from noisy second moments, and principal components from the same.
//
// Guarantee: measure_moments() once; the rest is post-processing.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include <span>
#include <vector>

#include "learn/moments.h"

namespace discreet::learn {

/// On numbers scaled to [-1, 1], target too.
struct LinearModel {
  std::vector<double> coefficients;
  double intercept = 0;

  double predict(const NumericRows& rows, std::size_t row) const;
};

struct TrainedLinear {
  LinearModel model;
  double rows = 0, radius = 0, ridge = 0;
};

/// The last column of the rows is the target.
Result<TrainedLinear> train_linear(const NumericRows& rows, GaussianBudget& budget,
                                   RandomSource& random);

struct ComponentsModel {
  std::vector<double> mean;
  std::vector<std::vector<double>> components;  ///< orthonormal, largest variance first
  std::vector<double> variances;                ///< estimates, of all directions, not negative

  std::vector<double> project(const NumericRows& rows, std::size_t row) const;
};

struct TrainedComponents {
  ComponentsModel model;
  double rows = 0, radius = 0;
};

/// InvalidParameter: not between 1 and the number of columns.
Result<TrainedComponents> train_components(const NumericRows& rows, std::size_t components,
                                           GaussianBudget& budget, RandomSource& random);

}  // namespace discreet::learn
