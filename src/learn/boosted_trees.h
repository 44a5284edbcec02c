// Boosted trees whose shape is drawn before any row is read: each tree asks three questions of
// random columns at random cuts, and only the values of its eight leaves come from rows.
//
// Guarantee: through one GaussianBudget: an additive start (additive.h), then for each tree the
//            sums of clipped residuals in its leaves, of L2 sensitivity `clip` because a row lies
//            in one leaf; then the comparison with the most common class. (epsilon, delta)-DP, rows
//            private.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "learn/additive.h"

namespace discreet::learn {

inline constexpr std::size_t kTreeDepth = 3;
inline constexpr std::size_t kTreeLeaves = std::size_t{1} << kTreeDepth;

struct ObliviousTree {
  std::array<std::uint32_t, kTreeDepth> column{};
  std::array<std::vector<std::uint8_t>, kTreeDepth> side;  ///< of each bin: 0 or 1
  std::vector<double> leaves;                              ///< [leaf * outputs + output]
};

/// Trees on top of an additive start.
struct TreesModel {
  AdditiveModel start;
  std::vector<ObliviousTree> trees;

  std::uint32_t outputs() const { return start.outputs(); }
  void score(const CodedRows& rows, std::size_t row, std::span<double> scores) const;
};

struct TreesSettings {
  double start_share = 0.6;  ///< for the additive start: logistic regression (additive.h)
  double check_share = 0.01;
  double clip = 0.7;
  double rate = 0.3;
  double curvature = 0.25;
  double damping = 10;
  std::uint32_t trees = 600;
  std::uint32_t start_steps = 64;  ///< of the start, at most

  /// A twentieth of the time, for a few thousandths of accuracy.
  static TreesSettings fast() {
    return {.start_share = 0.8, .rate = 1, .trees = 8, .start_steps = 4};
  }
};

struct TrainedTrees {
  TreesModel model;
  TrainingNotes notes;
};

Result<TrainedTrees> train_trees(const CodedRows& rows, const Coding& coding,
                                 GaussianBudget& budget, RandomSource& random,
                                 const TreesSettings& settings = {});

}  // namespace discreet::learn
