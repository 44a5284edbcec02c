// Several quantiles at once, cheaper than one by one.
//
// Small ranges (up to 256 values): a tree of two levels of about sqrt(size) nodes, whose consistent
// cumulative counts are read off. Larger ones: recursive approximate quantiles (Kaplan, Schnapp and
// Stemmer 2022): the middle quantile first, then the quantiles below it from the rows below it and
// those above from the rows above; a row takes part once per level. A branch that ends early spends
// what is left of its levels on its last quantile. Rows with equal values are told apart by secret
// random digits, drawn by the mechanism; without them a large tie would all fall to one side.
//
// Guarantee: epsilon-DP under add/remove for all the quantiles together.
// Assumes:   one row per privacy unit; values outside the range are moved to its ends.
// Proof:     docs/proofs/quantile.md
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mechanisms/quantile.h"
#include "mechanisms/tree.h"

namespace discreet {

enum class QuantilesMethod { BySize, Tree, Recursive };

class Quantiles {
 public:
  static constexpr std::uint64_t kTreeSizeMax = 256;

  /// `quantiles` rise strictly. InvalidParameter: none, or more than 1,000, or not rising; a share
  /// of epsilon outside [2^-40, 2^20]; a tree for a range of more than 2^26 values.
  static Result<Quantiles> make(Epsilon epsilon, std::vector<double> quantiles, IntegerRange range,
                                QuantilesMethod method = QuantilesMethod::BySize);
  /// The least epsilon (to a millionth) whose rank_error_bound is within this many rows.
  static Result<Quantiles> for_rank_error(double rows, double confidence,
                                          std::vector<double> quantiles, IntegerRange range,
                                          QuantilesMethod method = QuantilesMethod::BySize);

  /// One value for each quantile, never falling.
  std::vector<std::int64_t> release(std::span<const std::int64_t> values,
                                    RandomSource& random) const;

  LossEvent loss() const;

  /// With this confidence the rank error of every quantile is at most this many rows, whatever the
  /// data. Making the cumulative counts of a tree rise does not increase their largest error. Trees
  /// of more than 1,024 leaves are judged by 1,024 evenly spread prefixes.
  double rank_error_bound(double confidence) const;

  QuantilesMethod method() const {
    return tree_ ? QuantilesMethod::Tree : QuantilesMethod::Recursive;
  }
  /// Levels of the recursion; each gets an equal share of epsilon.
  std::uint64_t levels() const { return levels_; }

 private:
  struct Part;  // a subproblem of the recursion
  struct Node;  // what its draw needs that does not depend on data
  Quantiles(Epsilon epsilon, std::vector<double> quantiles, IntegerRange range,
            std::optional<Tree> tree, std::uint64_t levels, unsigned jitter_bits);
  void prepare(std::size_t first, std::size_t last, double below, double above,
               std::uint64_t levels_left);
  void solve(const Part& part, std::vector<std::int64_t>& answers, RandomSource& random) const;

  Epsilon epsilon_;
  std::vector<double> quantiles_;
  IntegerRange range_;
  std::optional<Tree> tree_;
  std::uint64_t levels_;
  unsigned jitter_bits_;
  std::vector<std::shared_ptr<const Node>> nodes_;  // by the quantile they answer
};

}  // namespace discreet
