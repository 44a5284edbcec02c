#include "learn/boosted_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/residual.h"
#include "synth/dice.h"

namespace discreet::learn {

void TreesModel::score(const CodedRows& rows, std::size_t row, std::span<double> scores) const {
  start.score(rows, row, scores);
  const std::size_t k = outputs();
  for (const ObliviousTree& tree : trees) {
    std::size_t leaf = 0;
    for (std::size_t d = 0; d < kTreeDepth; ++d) {
      const std::size_t column = tree.column[d];
      leaf = 2 * leaf + tree.side[d][start.bins[column].bin_of_code[rows.columns[column][row]]];
    }
    for (std::size_t o = 0; o < k; ++o) scores[o] += tree.leaves[leaf * k + o];
  }
}

namespace {

// How bins of each column lie along a line on which a cut makes sense: their own order, or for
// columns without one the order of their noisy log-odds.
std::vector<std::vector<std::uint32_t>> orders(const Coding& coding,
                                               const std::vector<std::vector<double>>& odds,
                                               std::span<const Bins> bins, std::size_t k,
                                               std::size_t output) {
  std::vector<std::vector<std::uint32_t>> all;
  for (std::size_t c = 0; c < bins.size(); ++c) {
    auto& order = all.emplace_back(bins[c].size);
    std::iota(order.begin(), order.end(), 0u);
    if (!coding.features()[c].ordered())
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return odds[c][a * k + output] < odds[c][b * k + output];
      });
  }
  return all;
}

// How much each column seems to say about the class, from noisy tables: the spread of its shrunk
// log-odds. Questions are asked of telling columns more often, of all columns sometimes.
std::vector<double> telling(const BinnedTables& binned,
                            const std::vector<std::vector<double>>& odds, std::size_t k) {
  std::vector<double> cumulated;
  double total = 0, sum = 0;
  std::vector<double> spread;
  for (std::size_t c = 0; c < odds.size(); ++c) {
    double squares = 0;
    for (std::size_t i = 0; i < odds[c].size(); ++i)
      squares += binned.frequency[c][i / k] * odds[c][i] * odds[c][i];
    spread.push_back(odds[c].size() > k ? std::sqrt(squares) : 0);
    total += spread.back();
  }
  for (std::size_t c = 0; c < odds.size(); ++c) {
    const double least = odds[c].size() > k ? 0.1 / static_cast<double>(odds.size()) : 0;
    sum += (total > 0 ? 0.9 * spread[c] / total : 0) + least;
    cumulated.push_back(sum);
  }
  return cumulated;
}

// One question: the bins beyond a random cut, which leaves at least a twentieth on both sides where
// the column allows it. Returns the share of rows beyond.
double draw_question(std::span<const std::uint32_t> order, std::span<const double> frequency,
                     synth::Dice& dice, std::vector<std::uint8_t>& side) {
  side.assign(order.size(), 0);
  if (order.size() < 2) return 0;
  const double wanted = 0.05 + 0.9 * dice.unit();
  double below = 0;
  std::size_t at = 0;
  while (at + 1 < order.size() && below + frequency[order[at]] / 2 < wanted)
    below += frequency[order[at++]];
  if (at == 0) below += frequency[order[at++]];
  for (std::size_t i = at; i < order.size(); ++i) side[order[i]] = 1;
  return std::clamp(1 - below, 0.0, 1.0);
}

Result<void> finish(const CodedRows& rows, const ClassTables& tables, double rows_min, double share,
                    GaussianBudget& budget, RandomSource& random, TrainedTrees& trained) {
  TreesModel& model = trained.model;
  std::vector<std::uint32_t> predicted(rows.rows);
  std::vector<double> scores(model.outputs());
  for (std::size_t row = 0; row < rows.rows; ++row) {
    model.score(rows, row, scores);
    predicted[row] = class_of(scores);
  }
  DISCREET_TRY_VOID(compare_with_majority(predicted, rows.labels, tables, rows_min, share, budget,
                                          random, trained.notes));
  if (!trained.notes.majority) return {};
  std::vector<double> reach(tables.classes, 0.0);
  const auto add = [&](const std::vector<double>& weights) {
    const auto part = reach_of(weights, tables.classes, most_common_class(tables));
    for (std::size_t y = 0; y < reach.size(); ++y) reach[y] += part[y];
  };
  for (const auto& weights : model.start.weights) add(weights);
  for (const auto& tree : model.trees) add(tree.leaves);
  const Damping damping = damp(tables, reach);
  model.start.prior = damping.prior;
  for (auto& weights : model.start.weights)
    for (double& w : weights) w *= damping.scale;
  for (auto& tree : model.trees)
    for (double& leaf : tree.leaves) leaf *= damping.scale;
  return {};
}

}  // namespace

Result<TrainedTrees> train_trees(const CodedRows& rows, const Coding& coding,
                                 GaussianBudget& budget, RandomSource& random,
                                 const TreesSettings& settings) {
  const std::size_t columns = coding.features().size();
  const auto m = static_cast<double>(columns);
  DISCREET_TRY(TrainedAdditive begun,
               train_logistic(rows, coding, budget, random,
                              {.share = settings.start_share, .check_share = 0}));
  ClassTables& tables = begun.tables;
  const BinnedTables& binned = begun.binned;
  const double share = (budget.left() - settings.check_share) / settings.trees;
  TrainedTrees trained;
  AdditiveModel& start = trained.model.start;
  start = std::move(begun.model);
  trained.notes.rows = tables.rows;
  const double rows_min = 13 * std::sqrt(m) / budget.mu();
  DISCREET_TRY(const bool gave_up,
               give_up_early(rows.labels, rows_min, budget.left() - settings.check_share, budget,
                             random, tables, trained.notes));
  if (gave_up) {
    damp_additive(tables, start);
    return trained;
  }
  const auto& odds = start.weights;
  const std::size_t k = start.outputs();

  std::vector<std::vector<std::vector<std::uint32_t>>> order;
  for (std::size_t o = 0; o < k; ++o) order.push_back(orders(coding, odds, start.bins, k, o));

  const std::vector<double> chances = telling(binned, odds, k);

  // Scores of all rows, kept up to date as trees are added.
  std::vector<std::vector<std::uint8_t>> side_of_code(kTreeDepth);
  std::vector<std::int32_t> fixed(k == 1 ? rows.rows : 0);
  std::vector<float> scores(k == 1 ? 0 : rows.rows * k);
  std::vector<double> row_scores(k);
  for (std::size_t row = 0; row < rows.rows; ++row) {
    start.score(rows, row, row_scores);
    if (k == 1)
      fixed[row] = static_cast<std::int32_t>(
          std::lround(std::clamp(row_scores[0], -1e3, 1e3) * ResidualRule::kScoreUnit));
    else
      for (std::size_t o = 0; o < k; ++o) scores[row * k + o] = static_cast<float>(row_scores[o]);
  }

  const ResidualRule rule(tables.classes, settings.clip);
  const double noise = budget.sigma(rule.limit(), share) / ResidualRule::kUnit;
  const double curvature = settings.curvature * (k == 1 ? 1 : 2);
  synth::Dice dice(random);
  std::vector<std::uint8_t> leaf_of(rows.rows);
  std::vector<float> logits(k);
  std::vector<std::int32_t> residual(k);
  for (std::uint32_t t = 0; t < settings.trees; ++t) {
    ObliviousTree tree;
    const auto& along = order[dice.below(k)];
    std::array<double, kTreeLeaves> frequency;
    frequency.fill(1);
    for (std::size_t d = 0; d < kTreeDepth; ++d) {
      const double at = dice.unit() * chances.back();
      const auto column = std::min<std::size_t>(
          columns - 1, static_cast<std::size_t>(
                           std::upper_bound(chances.begin(), chances.end(), at) - chances.begin()));
      tree.column[d] = static_cast<std::uint32_t>(column);
      const double beyond =
          draw_question(along[column], binned.frequency[column], dice, tree.side[d]);
      for (std::size_t leaf = 0; leaf < kTreeLeaves; ++leaf)
        frequency[leaf] *= (leaf >> (kTreeDepth - 1 - d)) & 1 ? beyond : 1 - beyond;
      side_of_code[d].resize(start.bins[column].bin_of_code.size());
      for (std::size_t code = 0; code < side_of_code[d].size(); ++code)
        side_of_code[d][code] = tree.side[d][start.bins[column].bin_of_code[code]];
    }
    const std::uint16_t* code0 = rows.columns[tree.column[0]].data();
    const std::uint16_t* code1 = rows.columns[tree.column[1]].data();
    const std::uint16_t* code2 = rows.columns[tree.column[2]].data();
    std::vector<std::int64_t> sums(kTreeLeaves * k, 0);
    for (std::size_t row = 0; row < rows.rows; ++row) {
      const auto leaf =
          static_cast<std::uint8_t>(4 * side_of_code[0][code0[row]] +
                                    2 * side_of_code[1][code1[row]] + side_of_code[2][code2[row]]);
      leaf_of[row] = leaf;
      if (k == 1) {
        sums[leaf] += rule.of(fixed[row], rows.labels[row]);
        continue;
      }
      std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(row * k), k, logits.begin());
      rule.of(logits, rows.labels[row], residual);
      for (std::size_t o = 0; o < k; ++o) sums[leaf * k + o] += residual[o];
    }
    DISCREET_TRY_VOID(budget.release(sums, rule.limit(), share, random));
    tree.leaves.resize(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      tree.leaves[i] = -settings.rate * static_cast<double>(sums[i]) / ResidualRule::kUnit /
                       (curvature * tables.rows * frequency[i / k] + settings.damping * noise);
    if (k == 1) {
      std::array<std::int32_t, kTreeLeaves> add;
      for (std::size_t leaf = 0; leaf < kTreeLeaves; ++leaf)
        add[leaf] = static_cast<std::int32_t>(
            std::lround(std::clamp(tree.leaves[leaf], -8.0, 8.0) * ResidualRule::kScoreUnit));
      for (std::size_t row = 0; row < rows.rows; ++row)
        fixed[row] = std::clamp(fixed[row] + add[leaf_of[row]], -(1 << 28), 1 << 28);
    } else {
      for (std::size_t row = 0; row < rows.rows; ++row)
        for (std::size_t o = 0; o < k; ++o)
          scores[row * k + o] += static_cast<float>(tree.leaves[leaf_of[row] * k + o]);
    }
    trained.model.trees.push_back(std::move(tree));
  }
  // The mean of the last half of the models: later trees count less.
  const double half = settings.trees / 2.0;
  for (std::uint32_t t = 0; t < settings.trees; ++t) {
    const double weight = std::fmin(1, (settings.trees - t) / half);
    for (double& leaf : trained.model.trees[t].leaves) leaf *= weight;
  }
  trained.notes.notes = std::move(begun.notes.notes);
  trained.notes.notes.push_back(fmt::format("{} trees on top", settings.trees));
  DISCREET_TRY_VOID(finish(rows, tables, rows_min, settings.check_share, budget, random, trained));
  return trained;
}

}  // namespace discreet::learn
