// A histogram released at several resolutions, for ranges and cumulative counts.
//
// The values 0 .. size - 1 are the leaves of a tree; a node of a level covers `branching` nodes of
// the level below. Every node of every level (the root is not measured) gets a noisy count; the
// noisy counts are then made to add up by weighted least squares, which is free (post-processing)
// and is the best linear unbiased estimate (Hay, Rastogi, Miklau and Suciu 2010, here for any tree
// and variances).
//
// Guarantee: with one row per unit, the release is epsilon-DP (discrete Laplace) or rho-zCDP
// (discrete
//            Gaussian) under add/remove, the levels sharing equally.
// Assumes:   the counts given are of rows, one leaf per row; RandomSource yields uniform bits.
// Proof:     docs/proofs/tree.md
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "privacy/loss_event.h"
#include "random/discrete_gaussian_sampler.h"
#include "random/discrete_laplace_sampler.h"

namespace discreet {

/// Leaves first..last, both included.
struct LeafRange {
  std::uint64_t first, last;
};

struct RangeAnswer {
  double value;
  double variance;
};

class TreeRelease;

class Tree {
 public:
  static constexpr std::uint64_t kLeavesMax = std::uint64_t{1} << 26;

  /// `branching` 0 chooses it: the one with the least average variance of prefix ranges.
  /// InvalidParameter: no leaves or more than 2^26, branching 1, or noise too large to draw.
  static Result<Tree> laplace(Epsilon epsilon, std::uint64_t leaves, std::uint64_t branching = 0);
  /// The least epsilon (to a millionth) at which the answer for `range` is within `error`.
  static Result<Tree> laplace_for_error(double error, double confidence, LeafRange range,
                                        std::uint64_t leaves, std::uint64_t branching = 0);
  static Result<Tree> gaussian(Rho rho, std::uint64_t leaves, std::uint64_t branching = 0);

  /// Exact counts of the leaves in, all noise added; counts.size() == leaves().
  TreeRelease release(std::span<const std::int64_t> counts, RandomSource& random) const;

  LossEvent loss() const;

  /// Variance of a range's answer; the same for all data, so known before the release.
  double range_variance(LeafRange range) const;
  /// With this confidence the answer for the range is within this distance of the exact one (a
  /// Chernoff bound on the answer's own combination of noises).
  double range_error_bound(LeafRange range, double confidence) const;

  std::uint64_t leaves() const { return leaves_; }
  std::uint64_t branching() const { return branching_; }
  std::size_t levels() const { return level_sizes_.size(); }

 private:
  friend class TreeRelease;
  using Noise = std::variant<DiscreteLaplaceSampler, DiscreteGaussianSampler>;
  using Levels = std::vector<std::vector<double>>;

  Tree(std::uint64_t leaves, std::uint64_t branching, LossEvent per_level, Noise noise);

  /// The weight of each noisy count in the range's answer, by level.
  Levels coefficients(LeafRange range) const;
  double log_moment(double t) const;  // ln E exp(t Z) of one noise variable
  double noise_variance() const;

  std::uint64_t leaves_, branching_;
  std::vector<std::uint64_t> level_sizes_;  // top first, leaves last
  LossEvent per_level_;
  Noise noise_;
  double noise_variance_ = 0;
  Levels spread_;  // variance of the best estimate of each node from its subtree alone
};

class TreeRelease {
 public:
  /// The estimated count of a range and its variance. Estimates of parts add up to the whole.
  RangeAnswer range(LeafRange range) const;
  double total() const;

  /// Consistent estimates of the leaves; they may be negative.
  std::span<const double> leaves() const { return leaves_; }
  /// Cumulative counts up to each leaf, made to rise within [0, total] by least squares.
  std::vector<double> monotone_cdf() const;
  /// The least leaf at which the monotone cumulative count reaches q times the total.
  std::uint64_t quantile(double q) const;

  /// The noisy integers as they were drawn, top level first.
  const std::vector<std::vector<std::int64_t>>& noisy() const { return noisy_; }

 private:
  friend class Tree;
  TreeRelease(Tree tree, std::vector<std::vector<std::int64_t>> noisy);

  Tree tree_;
  std::vector<std::vector<std::int64_t>> noisy_;
  std::vector<double> leaves_;
  std::vector<double> prefix_;  // prefix_[i]: estimated count of the first i leaves
};

/// The nearest sequence, in squares, that never falls (pool adjacent violators).
std::vector<double> isotonic(std::span<const double> values);

}  // namespace discreet
