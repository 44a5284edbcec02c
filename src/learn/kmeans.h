// k-means: where clusters begin is read off a coarse noisy grid along the main axes, then a few
// noisy Lloyd steps move the centres.
//
// Guarantee: through one GaussianBudget: moments (moments.h), counts of a grid (sensitivity 1), and
//            for each Lloyd step counts and clipped offsets of the clusters, of joint L2
//            sensitivity root(1 + weight^2) because a row belongs to one cluster.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include <cstdint>
#include <vector>

#include "learn/moments.h"

namespace discreet::learn {

struct ClustersModel {
  std::vector<std::vector<double>> centres;  ///< in [-1, 1]

  std::size_t nearest(const NumericRows& rows, std::size_t row, double* squared_distance) const;
};

struct TrainedClusters {
  ClustersModel model;
  double rows = 0;
  std::vector<double> sizes;  ///< noisy, of the last step
};

struct ClusterSettings {
  double moments_share = 0.10;
  double grid_share = 0.20;  ///< what is left is for Lloyd steps
  int lloyd_steps = 4;
  double count_weight = 0.35;
};

/// InvalidParameter: no clusters, or more than 1,000.
Result<TrainedClusters> train_clusters(const NumericRows& rows, std::size_t clusters,
                                       GaussianBudget& budget, RandomSource& random,
                                       const ClusterSettings& settings = {});

}  // namespace discreet::learn
