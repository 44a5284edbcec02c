// Additive classifiers: a weight for each bin of each column, added up to log-odds. Logistic
// regression with preconditioned noisy gradients, and naive Bayes, give models of this form.
//
// Guarantee: training releases through one GaussianBudget only: class tables first, then for each
//            step the sum over rows of (one-hot codes) x (clipped residual), whole numbers of L2
//            sensitivity root(columns) x clip; at the end one noisy count that decides whether the
//            model is better than the most common class. (epsilon, delta)-DP, rows private.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learn/majority.h"

namespace discreet::learn {

struct AdditiveModel {
  std::uint32_t classes = 0;
  std::vector<Bins> bins;
  std::vector<std::vector<double>> weights;  ///< of column c at [bin * outputs + output]
  std::vector<double> prior;                 ///< of each output

  std::uint32_t outputs() const { return outputs_of(classes); }
  /// Scores of one row: log-odds, or for several classes logits. `scores` has outputs() places.
  void score(const CodedRows& rows, std::size_t row, std::span<double> scores) const;
  /// Of all rows, at [row * outputs() + output].
  std::vector<double> score_all(const CodedRows& rows) const;
};

/// Settings that were found on splits of ADULT and checked elsewhere (docs/learning.md). Zero
/// means: chosen by rule, from the budget and the noisy number of rows.
struct LogisticSettings {
  double share = 1;           ///< of the whole budget; the parts below are of this
  double table_share = 0;     ///< 0.3 at small budgets, 0.2 at large ones
  double check_share = 0.01;  ///< for the comparison with the most common class
  double clip = 0;            ///< of the residual p - y: from 0.5 where noise is strong to 0.7
  double start = 0.5;         ///< how much of naive Bayes to begin with
  double curvature = 0.4;     ///< of the preconditioner
  double damping = 2;
  double bins = 1.5;
  double rows_min = 13;  ///< times root(columns) / mu: with fewer rows it gives up
  std::uint32_t steps_min = 8, steps_max = 64, bins_min = 4, bins_max = 64;
  bool leave_out_clipping = false;  ///< a broken twin for tests; never set by a trainer
};

struct TrainedAdditive {
  AdditiveModel model;
  TrainingNotes notes;
  ClassTables tables;  ///< as released
  BinnedTables binned;
};

Result<TrainedAdditive> train_logistic(const CodedRows& rows, const Coding& coding,
                                       GaussianBudget& budget, RandomSource& random,
                                       const LogisticSettings& settings = {});

struct NaiveBayesSettings {
  double check_share = 0.01;
  double strength = 0.5;  ///< columns repeat each other: log-odds added up in full are too bold
  double bins = 1.5;
};
Result<TrainedAdditive> train_naive_bayes(const CodedRows& rows, const Coding& coding,
                                          GaussianBudget& budget, RandomSource& random,
                                          const NaiveBayesSettings& settings = {});

/// How many bins a column may have, for an estimated number of rows.
std::uint32_t bins_for(double rows, double mu, double columns, double factor, std::uint32_t least,
                       std::uint32_t most);

/// The most probable class of a row's scores.
std::uint32_t class_of(std::span<const double> scores);

/// Damps a model that gave up, so that it says the most common class for every row.
void damp_additive(const ClassTables& tables, AdditiveModel& model);

/// Checks the model against the most common class, and damps it when it loses (majority.h).
Result<void> finish_additive(const CodedRows& rows, const ClassTables& tables, double rows_min,
                             double share, GaussianBudget& budget, RandomSource& random,
                             TrainedAdditive& trained);

}  // namespace discreet::learn
