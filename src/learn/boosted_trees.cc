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

// Scores of all rows as trees are added, and their mean over the last half of the trees, which is
// what the model will say.
class RunningScores {
 public:
  RunningScores(const CodedRows& rows, const AdditiveModel& start, const ResidualRule& rule)
      : rows_(rows), rule_(rule), k_(start.outputs()), leaf_of_(rows.rows, 0) {
    for (const double s : start.score_all(rows)) {
      if (k_ == 1)
        fixed_.push_back(static_cast<std::int32_t>(
            std::lround(std::clamp(s, -1e3, 1e3) * ResidualRule::kScoreUnit)));
      else
        logits_.push_back(static_cast<float>(s));
    }
    means_.assign(rows.rows * k_, 0.0f);
    last_.assign(kTreeLeaves * k_, 0.0);
  }

  /// Sums of residuals in the leaves of a new tree, after the last one was added. One walk does
  /// both. `side_of_code` has for each question 0 or the leaf's bit.
  std::vector<std::int64_t> sum(const ObliviousTree& tree,
                                const std::vector<std::vector<std::uint8_t>>& side_of_code,
                                bool in_mean) {
    std::vector<std::int64_t> sums(kTreeLeaves * k_, 0);
    const std::uint16_t* codes[kTreeDepth];
    const std::uint8_t* sides[kTreeDepth];
    for (std::size_t d = 0; d < kTreeDepth; ++d) {
      codes[d] = rows_.columns[tree.column[d]].data();
      sides[d] = side_of_code[d].data();
    }
    const auto leaf_at = [&](std::size_t row) {
      return static_cast<std::uint8_t>(sides[0][codes[0][row]] + sides[1][codes[1][row]] +
                                       sides[2][codes[2][row]]);
    };
    if (k_ == 1) {
      // Blocks, and nothing in the loop but what the compiler knows not to change under it.
      const auto steps = fixed_steps();
      constexpr std::size_t kBlock = 1024;
      std::array<std::uint8_t, kBlock> leaves;
      std::array<std::int32_t, kBlock> scores;
      for (std::size_t from = 0; from < rows_.rows; from += kBlock) {
        const std::size_t count = std::min(kBlock, rows_.rows - from);
        std::int32_t* fixed = fixed_.data() + from;
        std::uint8_t* leaf_of = leaf_of_.data() + from;
        const std::uint16_t* labels = rows_.labels.data() + from;
        for (std::size_t i = 0; i < count; ++i) leaves[i] = leaf_at(from + i);
        for (std::size_t i = 0; i < count; ++i)
          scores[i] = std::clamp(fixed[i] + steps[leaf_of[i]], -(1 << 28), 1 << 28);
        std::copy_n(scores.begin(), count, fixed);
        if (in_mean)
          for (std::size_t i = 0; i < count; ++i) means_[from + i] += static_cast<float>(scores[i]);
        std::array<std::int32_t, kTreeLeaves> even{}, odd{};
        for (std::size_t i = 0; i + 1 < count; i += 2) {
          even[leaves[i]] += rule_.of(scores[i], labels[i]);
          odd[leaves[i + 1]] += rule_.of(scores[i + 1], labels[i + 1]);
        }
        if (count % 2 == 1)
          even[leaves[count - 1]] += rule_.of(scores[count - 1], labels[count - 1]);
        for (std::size_t leaf = 0; leaf < kTreeLeaves; ++leaf) sums[leaf] += even[leaf] + odd[leaf];
        std::copy_n(leaves.begin(), count, leaf_of);
      }
      return sums;
    }
    std::vector<float> logits(k_);
    std::vector<std::int32_t> residual(k_);
    for (std::size_t row = 0; row < rows_.rows; ++row) {
      add_logits(row, in_mean);
      const std::uint8_t leaf = leaf_at(row);
      leaf_of_[row] = leaf;
      std::copy_n(logits_.begin() + static_cast<std::ptrdiff_t>(row * k_), k_, logits.begin());
      rule_.of(logits, rows_.labels[row], residual);
      for (std::size_t o = 0; o < k_; ++o) sums[leaf * k_ + o] += residual[o];
    }
    return sums;
  }

  /// What the new tree's leaves add; rows hear of it on the next walk.
  void next(const std::vector<double>& leaves) { last_ = leaves; }

  /// What the mean of models says of each row, once the last tree is added.
  std::vector<std::uint32_t> predicted() {
    const auto steps = fixed_steps();
    std::vector<std::uint32_t> all(rows_.rows);
    std::vector<double> scores(k_);
    for (std::size_t row = 0; row < rows_.rows; ++row) {
      if (k_ == 1)
        add_fixed(row, steps, true);
      else
        add_logits(row, true);
      for (std::size_t o = 0; o < k_; ++o) scores[o] = static_cast<double>(means_[row * k_ + o]);
      all[row] = class_of(scores);
    }
    return all;
  }

 private:
  std::array<std::int32_t, kTreeLeaves> fixed_steps() const {
    std::array<std::int32_t, kTreeLeaves> steps{};
    for (std::size_t leaf = 0; leaf < kTreeLeaves && k_ == 1; ++leaf)
      steps[leaf] = static_cast<std::int32_t>(
          std::lround(std::clamp(last_[leaf], -8.0, 8.0) * ResidualRule::kScoreUnit));
    return steps;
  }
  std::int32_t add_fixed(std::size_t row, const std::array<std::int32_t, kTreeLeaves>& steps,
                         bool in_mean) {
    const std::int32_t score = std::clamp(fixed_[row] + steps[leaf_of_[row]], -(1 << 28), 1 << 28);
    fixed_[row] = score;
    if (in_mean) means_[row] += static_cast<float>(score);
    return score;
  }
  void add_logits(std::size_t row, bool in_mean) {
    for (std::size_t o = 0; o < k_; ++o) {
      float& logit = logits_[row * k_ + o];
      logit += static_cast<float>(last_[leaf_of_[row] * k_ + o]);
      if (in_mean) means_[row * k_ + o] += logit;
    }
  }

  const CodedRows& rows_;
  const ResidualRule& rule_;
  std::size_t k_;
  std::vector<std::uint8_t> leaf_of_;
  std::vector<std::int32_t> fixed_;  // log-odds, for two classes
  std::vector<float> logits_;        // else
  std::vector<float> means_;         // sums over models; only their order matters
  std::vector<double> last_;
};

Result<void> finish(const CodedRows& rows, std::span<const std::uint32_t> predicted,
                    const ClassTables& tables, double rows_min, double share,
                    GaussianBudget& budget, RandomSource& random, TrainedTrees& trained) {
  TreesModel& model = trained.model;
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
  DISCREET_TRY(TrainedAdditive begun, train_logistic(rows, coding, budget, random,
                                                     {.share = settings.start_share,
                                                      .check_share = 0,
                                                      .steps_max = settings.start_steps}));
  ClassTables& tables = begun.tables;
  const BinnedTables& binned = begun.binned;
  const double check_share = check_share_for(tables.rows, budget.mu(), settings.check_share);
  const double share = (budget.left() - check_share) / settings.trees;
  TrainedTrees trained;
  AdditiveModel& start = trained.model.start;
  start = std::move(begun.model);
  trained.notes.rows = tables.rows;
  const double rows_min = 13 * std::sqrt(m) / budget.mu();
  DISCREET_TRY(const bool gave_up, give_up_early(rows.labels, rows_min, budget.left() - check_share,
                                                 budget, random, tables, trained.notes));
  if (gave_up) {
    damp_additive(tables, start);
    return trained;
  }
  const auto& odds = start.weights;
  const std::size_t k = start.outputs();

  std::vector<std::vector<std::vector<std::uint32_t>>> order;
  for (std::size_t o = 0; o < k; ++o) order.push_back(orders(coding, odds, start.bins, k, o));

  const std::vector<double> chances = telling(binned, odds, k);

  const ResidualRule rule(tables.classes, settings.clip);
  const double noise = budget.sigma(rule.limit(), share) / ResidualRule::kUnit;
  const double curvature = settings.curvature * (k == 1 ? 1 : 2);
  synth::Dice dice(random);
  RunningScores scores(rows, start, rule);
  std::vector<std::vector<std::uint8_t>> side_of_code(kTreeDepth);
  const std::uint32_t half = settings.trees / 2;
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
        side_of_code[d][code] = static_cast<std::uint8_t>(
            tree.side[d][start.bins[column].bin_of_code[code]] << (kTreeDepth - 1 - d));
    }
    auto sums = scores.sum(tree, side_of_code, t > half);
    DISCREET_TRY_VOID(budget.release(sums, rule.limit(), share, random));
    tree.leaves.resize(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      tree.leaves[i] = -settings.rate * static_cast<double>(sums[i]) / ResidualRule::kUnit /
                       (curvature * tables.rows * frequency[i / k] + settings.damping * noise);
    scores.next(tree.leaves);
    trained.model.trees.push_back(std::move(tree));
  }
  // The mean of the last half of the models: later trees count less.
  for (std::uint32_t t = half; t < settings.trees; ++t) {
    const double weight = static_cast<double>(settings.trees - t) / (settings.trees - half);
    for (double& leaf : trained.model.trees[t].leaves) leaf *= weight;
  }
  trained.notes.notes = std::move(begun.notes.notes);
  trained.notes.notes.push_back(fmt::format("{} trees on top", settings.trees));
  DISCREET_TRY_VOID(
      finish(rows, scores.predicted(), tables, rows_min, check_share, budget, random, trained));
  return trained;
}

}  // namespace discreet::learn
