// Quantiles with intervals that take in sampling and noise, from noisy cumulative counts.
//
// The range is cut into at most 2^11 equal bins, released as a tree (tree.h). For a value v, D(v)
// is the noisy (1 - q) count(x <= v) - q count(x > v): were v the quantile, it would be centred at
// (or, with ties, beside) zero, with binomial variance q (1 - q) n and the tree's known noise. The
// interval is all v that this test does not reject: no density is estimated, and no spacing of
// order statistics is needed. One tree
// answers any number of quantiles.
//
// Guarantee: epsilon-DP under add/remove (the tree's). The interval holds the population's quantile
//            (or that of the rows) with at least the stated confidence, up to the normal
//            approximation.
// Assumes:   one row per unit; for the population's, rows independent.
// Argument:  docs/proofs/inference.md
#pragma once

#include <span>
#include <vector>

#include "inference/outcome.h"
#include "mechanisms/quantile.h"
#include "mechanisms/tree.h"

namespace discreet::inference {

struct QuantileOutcome {
  double estimate = 0;
  Interval interval{};
  double rows = 0;  ///< noisy
};

/// Whose quantile the interval holds: that of the population that rows are drawn from, or of the
/// rows themselves, where noise is all that there is to know.
enum class QuantileOf { Population, Rows };

class QuantileInterval {
 public:
  static constexpr std::uint64_t kBinsMax = 1 << 11;

  /// InvalidParameter: as check_quantile, check_range and Tree::laplace.
  static Result<QuantileInterval> make(Epsilon epsilon, double q, IntegerRange range,
                                       double confidence = 0.95,
                                       QuantileOf of = QuantileOf::Population);

  /// Several at once for the same epsilon. The confidence is that all intervals hold (each at
  /// 1 - (1 - confidence) / number). InvalidParameter: also, none asked for.
  static Result<QuantileInterval> make(Epsilon epsilon, std::vector<double> q, IntegerRange range,
                                       double confidence = 0.95,
                                       QuantileOf of = QuantileOf::Population);

  /// Values in any order; those outside the range are moved to its ends. In steps of the range.
  QuantileOutcome release(std::span<const std::int64_t> values, RandomSource& random) const;
  /// All of them, in the order asked.
  std::vector<QuantileOutcome> release_all(std::span<const std::int64_t> values,
                                           RandomSource& random) const;

  LossEvent loss() const { return tree_.loss(); }
  /// Half the interval's width in rows, for this many rows.
  double rank_error_before(double rows) const;

 private:
  struct Asked {
    double q;
    std::vector<double> noise;  // variance of D at the upper end of each leaf
  };
  QuantileInterval(std::span<const double> q, IntegerRange range, std::uint64_t bin,
                   double confidence, QuantileOf of, Tree tree);
  std::uint64_t bin_of(std::int64_t value) const;
  QuantileOutcome read(const Asked& asked, const TreeRelease& noisy,
                       std::span<const double> rising) const;
  double reach(double q, double rows, double noise_variance) const;

  std::vector<Asked> asked_;
  IntegerRange range_;
  std::uint64_t bin_;  // values in a bin
  double confidence_;  // of each
  QuantileOf of_;
  Tree tree_;
};

}  // namespace discreet::inference
