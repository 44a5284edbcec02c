// Tests of proportions and of tables of counts, from noisy counts.
//
// Every row is in one cell, so that all cells together get the whole epsilon: discrete Laplace
// noise on each. The statistics are the textbook's with the noise's variance added under the line;
// their null laws are found by drawing tables and noise anew, with numbers of rows that the release
// allows.
//
// Guarantee: privacy is the release's (discrete_laplace.h); what is here is post-processing. Level:
//            measured, 5 % +- .5 (docs/inference.md).
// Assumes:   one row per unit, rows independent; cells exclude each other.
// Argument:  docs/proofs/inference.md
#pragma once

#include <span>
#include <vector>

#include "inference/outcome.h"

namespace discreet::inference {

/// Noisy counts of cells that exclude each other, with discrete Laplace noise of ratio
/// exp(-epsilon) on each.
struct NoisyCounts {
  std::vector<double> cells;
  double epsilon;
  /// Uniform in [0, 1), drawn with the release and of nothing else. Few rows have few outcomes, and
  /// no rule that looks at outcomes alone rejects 5 % of them; this decides about the one between.
  double tie = 0.5;

  double noise_sd() const;
};

/// cells = {successes, failures}. Null: the chance of success is `chance`. Interval: of the chance.
TestOutcome proportion_test(const NoisyCounts& counts, double chance, const Options& options = {});

/// cells = {successes 1, failures 1, successes 2, failures 2}. Null: both chances are equal.
/// Estimate and interval: of the difference first - second.
TestOutcome two_proportion_test(const NoisyCounts& counts, const Options& options = {});

/// Null: the cells have these chances (which sum to one). The estimate is Cohen's w.
TestOutcome goodness_of_fit(const NoisyCounts& counts, std::span<const double> chances,
                            const Options& options = {});

/// `counts.cells` row by row, `columns` in each. Null: row and column are independent. The estimate
/// is Cramer's V.
TestOutcome independence_test(const NoisyCounts& counts, std::size_t columns,
                              const Options& options = {});

/// Shares of the cells, each with an interval of its own and one that holds jointly with all
/// others.
std::vector<Estimated> shares(const NoisyCounts& counts, const Options& options = {});

/// The cells' exact counts as noise alone allows: half the width of intervals that hold for all
/// cells of this data set together. Closed form: the noises are independent.
double simultaneous_reach(std::size_t cells, double epsilon, double confidence);

}  // namespace discreet::inference
