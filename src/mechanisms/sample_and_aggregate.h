// Any estimator made private, without knowing its sensitivity: it is run on disjoint random blocks
// of the rows, and the blocks' answers are combined privately (Nissim, Raskhodnikova and Smith
// 2007).
//
// One row is in one block, so it moves one of the answers; anywhere, and that is allowed for.
//
// Guarantee: epsilon-DP under add/remove and under replace-one.
// Assumes:   the estimator is a total function of its block (it may be random, not shared between
//            blocks), and neither fails nor reveals by its time which rows it saw; one row per
//            unit.
// Proof:     docs/proofs/combinators.md
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <variant>

#include "mechanisms/discrete_laplace.h"
#include "mechanisms/quantile.h"

namespace discreet {

enum class BlockAggregate { Median, Mean };

/// The estimate from the rows at these places, on the output grid. Must answer for no rows too.
using BlockEstimator = std::function<std::int64_t(std::span<const std::size_t> rows)>;

class SampleAndAggregate {
 public:
  /// InvalidParameter: epsilon outside [2^-39, 2^20], no blocks or more than 2^24, an empty range
  /// or (for the mean) a range of one value.
  static Result<SampleAndAggregate> make(Epsilon epsilon, std::uint64_t blocks, IntegerRange output,
                                         BlockAggregate aggregate);
  /// The least epsilon (to a millionth) whose error_bound is within `error`.
  static Result<SampleAndAggregate> for_error(double error, double confidence, std::uint64_t blocks,
                                              IntegerRange output, BlockAggregate aggregate);

  /// Rows 0 .. rows - 1 are dealt to the blocks at random. Answers outside the range are moved into
  /// it.
  double release(std::size_t rows, const BlockEstimator& estimator, RandomSource& random) const;

  LossEvent loss() const;

  /// Median: with this confidence the answer's rank among the blocks' answers is within this many
  /// of the middle; so when all but (blocks / 2 - this) answers lie in a window, the release does
  /// too. Mean: with this confidence the release is within this distance of the mean of the
  /// answers.
  double error_bound(double confidence) const;

 private:
  SampleAndAggregate(Epsilon epsilon, std::uint64_t blocks, IntegerRange output,
                     std::variant<Quantile, DiscreteLaplace> combine)
      : epsilon_(epsilon), blocks_(blocks), output_(output), combine_(std::move(combine)) {}

  Epsilon epsilon_;
  std::uint64_t blocks_;
  IntegerRange output_;
  std::variant<Quantile, DiscreteLaplace> combine_;
};

}  // namespace discreet
