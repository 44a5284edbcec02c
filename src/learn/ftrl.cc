#include "learn/ftrl.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "base/rounding.h"
#include "learn/preconditioner_internal.h"
#include "learn/residual.h"
#include "random/uniform.h"

namespace discreet::learn {
namespace {

// Sums of (one-hot bins) x (residual) over the rows of one batch, added to `sums`.
void add_batch(const CodedRows& rows, std::span<const std::uint32_t> batch,
               const AdditiveModel& model, const ResidualRule& rule,
               std::span<const std::size_t> begins, std::vector<std::int64_t>& sums) {
  const std::size_t k = model.outputs();
  std::vector<double> scores(k);
  std::vector<float> logits(k);
  std::vector<std::int32_t> residual(k);
  for (const std::uint32_t row : batch) {
    model.score(rows, row, scores);
    if (k == 1) {
      const double inside = std::fmin(1e4, std::fmax(-1e4, scores[0]));
      residual[0] =
          rule.of(static_cast<std::int32_t>(inside * ResidualRule::kScoreUnit), rows.labels[row]);
    } else {
      logits.assign(scores.begin(), scores.end());
      rule.of(logits, rows.labels[row], residual);
    }
    for (std::size_t c = 0; c < begins.size(); ++c) {
      std::int64_t* sum =
          sums.data() + begins[c] + model.bins[c].bin_of_code[rows.columns[c][row]] * k;
      for (std::size_t o = 0; o < k; ++o) sum[o] += residual[o];
    }
  }
}

}  // namespace

Result<TrainedAdditive> train_ftrl(const CodedRows& rows, const Coding& coding,
                                   GaussianBudget& budget, RandomSource& random,
                                   const FtrlSettings& settings) {
  if (!std::has_single_bit(settings.batches))
    return invalid_parameter("the number of batches is a power of two");
  const std::size_t columns = coding.features().size();
  const auto m = static_cast<double>(columns);
  DISCREET_TRY(ClassTables tables,
               measure_class_tables(rows, coding, budget, settings.table_share, random));
  TrainedAdditive trained;
  AdditiveModel& model = trained.model;
  model.classes = tables.classes;
  model.bins =
      choose_bins(tables, coding, bins_for(tables.rows, budget.mu(), m, settings.bins, 4, 64));
  const BinnedTables binned = merge_bins(tables, model.bins);
  const auto prior = prior_log_odds(tables);
  const std::size_t k = model.outputs();
  auto start = shrunk_log_odds(coding, tables, binned);
  std::vector<std::size_t> begins;
  std::size_t size = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    begins.push_back(size);
    size += start[c].size();
    for (std::size_t i = 0; i < start[c].size(); ++i)
      start[c][i] = settings.start * start[c][i] + prior[i % k] / m;
  }
  model.weights = start;
  model.prior.assign(k, 0.0);

  trained.notes.rows = tables.rows;
  const double rows_min = 13 * std::sqrt(m) / budget.mu();
  const double check_share = check_share_for(tables.rows, budget.mu(), settings.check_share);
  DISCREET_TRY(const bool gave_up, give_up_early(rows.labels, rows_min, budget.left() - check_share,
                                                 budget, random, tables, trained.notes));
  if (gave_up) {
    damp_additive(tables, model);
    return trained;
  }

  // Each row's batch by its own draw: a row that joins moves no other.
  std::vector<std::vector<std::uint32_t>> batches(settings.batches);
  for (std::size_t row = 0; row < rows.rows; ++row)
    batches[uniform_below(settings.batches, random)].push_back(static_cast<std::uint32_t>(row));

  const ResidualRule rule(tables.classes, settings.clip);
  const auto levels = static_cast<double>(std::bit_width(settings.batches));
  const double sensitivity = mul_up(rule.limit(), sqrt_up(m * levels));
  const double share = budget.left() - check_share;
  DISCREET_TRY(const auto noise, budget.reserve(sensitivity, share));
  const double spread = noise.sigma() / ResidualRule::kUnit;
  const Preconditioner precondition(coding, binned.frequency,
                                    settings.curvature * (k == 1 ? 1 : 2) * tables.rows,
                                    settings.damping * spread * std::sqrt(levels));

  // Open nodes of the tree: exact sums, and the noisy ones of completed stretches.
  const auto depth = static_cast<std::size_t>(levels);
  std::vector<std::vector<std::int64_t>> exact(depth), noisy(depth);
  std::vector<std::vector<double>> mean(columns), step(columns);
  for (std::size_t c = 0; c < columns; ++c) mean[c].assign(start[c].size(), 0.0);
  const std::uint32_t tail = (settings.batches + 1) / 2;
  for (std::uint32_t t = 1; t <= settings.batches; ++t) {
    std::vector<std::int64_t> sums(size, 0);
    add_batch(rows, batches[t - 1], model, rule, begins, sums);
    const auto level = static_cast<std::size_t>(std::countr_zero(t));
    for (std::size_t l = 0; l < level; ++l) {
      for (std::size_t i = 0; i < size; ++i) sums[i] += exact[l][i];
      exact[l].clear();
      noisy[l].clear();
    }
    exact[level] = sums;
    noise.draw(sums, budget, random);
    noisy[level] = std::move(sums);
    for (std::size_t c = 0; c < columns; ++c) {
      step[c].assign(start[c].size(), 0.0);
      for (const auto& node : noisy)
        for (std::size_t i = 0; i < step[c].size() && !node.empty(); ++i)
          step[c][i] += static_cast<double>(node[begins[c] + i]) / ResidualRule::kUnit;
    }
    for (std::size_t o = 0; o < k; ++o) precondition.solve(step, k, o);
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t i = 0; i < step[c].size(); ++i) {
        model.weights[c][i] = start[c][i] - step[c][i];
        if (t + tail > settings.batches) mean[c][i] += model.weights[c][i] / tail;
      }
  }
  model.weights = std::move(mean);
  trained.notes.notes.push_back(
      fmt::format("about {:.0f} rows; one pass in {} batches", tables.rows, settings.batches));
  DISCREET_TRY_VOID(finish_additive(rows, tables, rows_min, check_share, budget, random, trained));
  trained.tables = tables;
  trained.binned = binned;
  return trained;
}

}  // namespace discreet::learn
