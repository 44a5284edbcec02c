// The first release of every classifier: for each column a noisy table of code by class. From it
// come, for nothing more, the number of rows, class rates, bins and starting points.
//
// Guarantee: one release of a GaussianBudget: a row lies in one cell of each of the m tables, so
// the
//            L2 sensitivity is the root of m. Everything else here reads the noisy counts only.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learn/coding.h"
#include "learn/gaussian_budget.h"

namespace discreet::learn {

struct ClassTables {
  std::uint32_t classes = 0;
  std::vector<std::vector<double>> counts;  ///< of column c at [code * classes + label]
  double sigma = 0;                         ///< noise of one cell
  double rows = 0;                          ///< estimate, at least 1
  std::vector<double> rates;                ///< of the classes, each positive, adding up to one
};

Result<ClassTables> measure_class_tables(const CodedRows& rows, const Coding& coding,
                                         GaussianBudget& budget, double share,
                                         RandomSource& random);

/// Two releases of the same tables as one, each weighted by its precision: as if both shares had
/// been spent at once.
ClassTables combine(const ClassTables& a, const ClassTables& b);

/// The nearest vector without negatives that adds up to `total`.
std::vector<double> project_to_simplex(std::span<const double> counts, double total);

/// A grouping of a column's codes.
struct Bins {
  std::vector<std::uint16_t> bin_of_code;
  std::uint32_t size = 0;
};

/// Ordered columns of more than `bins_max` codes are cut into about `bins_max` bins of equal sums
/// of the roots of their counts; others keep their codes.
std::vector<Bins> choose_bins(const ClassTables& tables, const Coding& coding,
                              std::uint32_t bins_max);

/// Tables over bins.
struct BinnedTables {
  std::vector<std::vector<double>> counts;     ///< [bin * classes + label], may be negative
  std::vector<std::vector<double>> frequency;  ///< of bins, adding up to one
  std::vector<std::vector<double>> sigma;      ///< noise of a bin's count of one class
};
BinnedTables merge_bins(const ClassTables& tables, std::span<const Bins> bins);

/// For each column and bin the log-odds of each class against its rate, shrunk towards zero by a
/// pseudo-count that grows with the noise, and along a line towards its neighbours. Two classes:
/// one number, for the second.
std::vector<std::vector<double>> shrunk_log_odds(const Coding& coding, const ClassTables& tables,
                                                 const BinnedTables& binned);

/// log-odds of the rates: one number for two classes.
std::vector<double> prior_log_odds(const ClassTables& tables);

/// Outputs of a linear score: one for two classes, else one for each class.
inline std::uint32_t outputs_of(std::uint32_t classes) {
  return classes <= 2 ? 1 : classes;
}

}  // namespace discreet::learn
