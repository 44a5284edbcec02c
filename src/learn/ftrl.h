// Logistic regression by DP-FTRL (Kairouz et al. 2021): one pass over rows in batches, where noise
// is on sums of gradients over dyadic stretches of time. No sampling is needed for its price.
//
// Guarantee: through one GaussianBudget: class tables, then all nodes of a binary tree over batches
//            as one adaptive Gaussian release; a row is in one batch, so in one node of each level:
//            L2 sensitivity clip x root(columns x levels).
// Assumes:   as train_logistic(); which batch a row is in is drawn for each row by itself.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include "learn/additive.h"

namespace discreet::learn {

struct FtrlSettings {
  double table_share = 0.3;
  double check_share = 0.01;
  double clip = 0.6;
  double start = 0.5;
  double curvature = 0.1;  ///< one pass must get there: bolder than full-batch steps
  double damping = 2;
  double bins = 1.5;
  std::uint32_t batches = 32;  ///< a power of two
};

Result<TrainedAdditive> train_ftrl(const CodedRows& rows, const Coding& coding,
                                   GaussianBudget& budget, RandomSource& random,
                                   const FtrlSettings& settings = {});

}  // namespace discreet::learn
