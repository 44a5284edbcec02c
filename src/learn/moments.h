// Mean and second moments of numbers, in two stages: first where the rows are and how far they
// spread, then products of centred rows clipped to that radius, which need far less noise.
//
// Guarantee: four releases of a GaussianBudget: a count (sensitivity 1), sums of coordinates (root
//            d), a histogram of distances (1), sums of products (radius squared, as whole numbers
//            of a grid). Proof: docs/proofs/learning_releases.md
#pragma once

#include <cstdint>
#include <vector>

#include "learn/coding.h"
#include "learn/gaussian_budget.h"

namespace discreet::learn {

struct MomentsSettings {
  double share = 1;          ///< of the whole budget
  double count_part = 0.02;  ///< of the share
  double mean_part = 0.10;   ///< of the rest; what is left goes to the products
  double histogram_part = 0.05;
  double tail = 60;  ///< as many rows as this over mu may be clipped
};

struct Moments {
  double rows = 0;
  std::vector<double> mean;
  std::vector<std::vector<double>> products;  ///< sums of centred products, over rows
  double sigma = 0;                           ///< noise on the diagonal of products
  double radius = 0;
};

Result<Moments> measure_moments(const NumericRows& rows, const MomentsSettings& settings,
                                GaussianBudget& budget, RandomSource& random);

/// Eigenvectors of a symmetric matrix, largest eigenvalue first.
struct Spectrum {
  std::vector<double> values;
  std::vector<std::vector<double>> vectors;  ///< vectors[i] belongs to values[i], length one
};
Spectrum spectrum_of(const std::vector<std::vector<double>>& symmetric);

}  // namespace discreet::learn
