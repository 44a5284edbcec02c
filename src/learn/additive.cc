#include "learn/additive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace discreet::learn {

std::uint32_t bins_for(double rows, double mu, double columns, double factor, std::uint32_t least,
                       std::uint32_t most) {
  const double wanted = std::ceil(factor * std::cbrt(rows * mu / std::sqrt(columns)));
  return static_cast<std::uint32_t>(
      std::clamp(wanted, static_cast<double>(least), static_cast<double>(most)));
}

std::uint32_t class_of(std::span<const double> scores) {
  if (scores.size() == 1) return scores[0] > 0 ? 1 : 0;
  return static_cast<std::uint32_t>(std::max_element(scores.begin(), scores.end()) -
                                    scores.begin());
}

void AdditiveModel::score(const CodedRows& rows, std::size_t row, std::span<double> scores) const {
  const std::size_t k = outputs();
  std::copy(prior.begin(), prior.end(), scores.begin());
  for (std::size_t column = 0; column < bins.size(); ++column) {
    const std::size_t bin = bins[column].bin_of_code[rows.columns[column][row]];
    for (std::size_t o = 0; o < k; ++o) scores[o] += weights[column][bin * k + o];
  }
}

std::vector<double> AdditiveModel::score_all(const CodedRows& rows) const {
  const std::size_t k = outputs();
  std::vector<double> all(rows.rows * k);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = prior[i % k];
  std::vector<double> of_code;
  for (std::size_t column = 0; column < bins.size(); ++column) {
    of_code.clear();
    for (const std::uint16_t bin : bins[column].bin_of_code)
      for (std::size_t o = 0; o < k; ++o) of_code.push_back(weights[column][bin * k + o]);
    const std::uint16_t* code = rows.columns[column].data();
    for (std::size_t row = 0; row < rows.rows; ++row)
      for (std::size_t o = 0; o < k; ++o) all[row * k + o] += of_code[code[row] * k + o];
  }
  return all;
}

void damp_additive(const ClassTables& tables, AdditiveModel& model) {
  std::vector<double> reach(model.classes, 0.0);
  for (const auto& weights : model.weights) {
    const auto part = reach_of(weights, model.classes, most_common_class(tables));
    for (std::size_t y = 0; y < reach.size(); ++y) reach[y] += part[y];
  }
  const Damping damping = damp(tables, reach);
  model.prior = damping.prior;
  for (auto& weights : model.weights)
    for (double& w : weights) w *= damping.scale;
}

Result<void> finish_additive(const CodedRows& rows, const ClassTables& tables, double rows_min,
                             double share, GaussianBudget& budget, RandomSource& random,
                             TrainedAdditive& trained) {
  if (share <= 0) return {};  // someone else compares
  AdditiveModel& model = trained.model;
  std::vector<std::uint32_t> predicted(rows.rows);
  const std::vector<double> scores = model.score_all(rows);
  for (std::size_t row = 0; row < rows.rows; ++row)
    predicted[row] = class_of(std::span(scores).subspan(row * model.outputs(), model.outputs()));
  DISCREET_TRY_VOID(compare_with_majority(predicted, rows.labels, tables, rows_min, share, budget,
                                          random, trained.notes));
  if (trained.notes.majority) damp_additive(tables, model);
  return {};
}

Result<TrainedAdditive> train_naive_bayes(const CodedRows& rows, const Coding& coding,
                                          GaussianBudget& budget, RandomSource& random,
                                          const NaiveBayesSettings& settings) {
  const auto m = static_cast<double>(coding.features().size());
  // Nine tenths tell how many rows there are, and so what the comparison needs; the tables get the
  // rest of the last tenth, too.
  DISCREET_TRY(ClassTables tables,
               measure_class_tables(rows, coding, budget, budget.left() - 0.1, random));
  const double check_share = check_share_for(tables.rows, budget.mu(), settings.check_share);
  const double rest = budget.left() - check_share;
  if (rest > 1e-6) {
    DISCREET_TRY(const ClassTables again, measure_class_tables(rows, coding, budget, rest, random));
    tables = combine(tables, again);
  }
  TrainedAdditive trained;
  trained.model.classes = tables.classes;
  trained.notes.rows = tables.rows;
  const std::uint32_t bins = bins_for(tables.rows, budget.mu(), m, settings.bins, 4, 64);
  trained.model.bins = choose_bins(tables, coding, bins);
  const BinnedTables binned = merge_bins(tables, trained.model.bins);
  trained.model.weights = shrunk_log_odds(coding, tables, binned);
  for (auto& weights : trained.model.weights)
    for (double& w : weights) w *= settings.strength;
  trained.model.prior = prior_log_odds(tables);
  trained.notes.notes.push_back(
      fmt::format("about {:.0f} rows; up to {} bins a column", tables.rows, bins));
  DISCREET_TRY_VOID(finish_additive(rows, tables, 6 * std::sqrt(m) / budget.mu(), check_share,
                                    budget, random, trained));
  trained.tables = tables;
  trained.binned = binned;
  return trained;
}

}  // namespace discreet::learn
