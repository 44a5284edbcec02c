// Binned additive logistic regression by preconditioned noisy gradients: train_logistic().
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rounding.h"
#include "learn/additive.h"
#include "learn/preconditioner_internal.h"
#include "learn/residual.h"

namespace discreet::learn {
namespace {

constexpr std::size_t kBlock = 4096;  // rows at a time, so that their scores stay in cache

// Columns that are looked up together: one number for the bins of all of them.
struct ColumnGroup {
  struct Part {
    std::size_t column, bins, stride;
  };
  std::vector<Part> parts;
  std::size_t cells = 1;
  std::vector<std::uint16_t> cell;  // of each row

  /// For every cell the sum of its bins' weights.
  std::vector<std::int32_t> spread(const std::vector<std::vector<std::int32_t>>& weights) const {
    std::vector<std::int32_t> sums(cells, 0);
    for (const Part& part : parts)
      for (std::size_t at = 0; at < cells; ++at)
        sums[at] += weights[part.column][at / part.stride % part.bins];
    return sums;
  }
  /// Adds sums of cells to their bins' sums, which begin at `begins[column]`.
  void fold(std::span<const std::int64_t> of_cells, std::span<const std::size_t> begins,
            std::span<std::int64_t> sums) const {
    for (const Part& part : parts)
      for (std::size_t at = 0; at < cells; ++at)
        sums[begins[part.column] + at / part.stride % part.bins] += of_cells[at];
  }
};

// The fewer groups, the fewer look-ups a row takes; their tables stay in the fastest cache, and
// small beside the rows.
std::vector<ColumnGroup> group_columns(const CodedRows& rows, std::span<const Bins> bins) {
  const std::size_t most = std::min<std::size_t>(1024, rows.rows / 32);
  std::vector<std::size_t> order(bins.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bins[a].size > bins[b].size; });
  std::vector<ColumnGroup> groups;
  for (const std::size_t column : order) {
    const std::size_t size = bins[column].size;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const ColumnGroup& g) { return g.cells * size <= most; });
    if (group == groups.end()) {
      groups.emplace_back().cell.assign(rows.rows, 0);
      group = groups.end() - 1;
    }
    std::vector<std::uint16_t> step;
    for (const std::uint16_t bin : bins[column].bin_of_code)
      step.push_back(static_cast<std::uint16_t>(bin * group->cells));
    const std::uint16_t* code = rows.columns[column].data();
    std::uint16_t* cell = group->cell.data();
    for (std::size_t row = 0; row < rows.rows; ++row)
      cell[row] = static_cast<std::uint16_t>(cell[row] + step[code[row]]);
    group->parts.push_back({column, size, group->cells});
    group->cells *= size;
  }
  return groups;
}

// Sums over rows of (one-hot bins) x (residual), as whole numbers.
class GradientSums {
 public:
  GradientSums(const CodedRows& rows, std::span<const Bins> bins, std::uint32_t classes,
               const LogisticSettings& settings)
      : rows_(rows),
        bins_(bins),
        k_(outputs_of(classes)),
        rule_(classes, settings.clip, settings.leave_out_clipping) {
    for (const Bins& column : bins) {
      begins_.push_back(size_);
      size_ += column.size * k_;
    }
    if (k_ == 1) groups_ = group_columns(rows, bins);
  }

  /// The most one row moves the sums, L2.
  double sensitivity() const {
    return mul_up(rule_.limit(), sqrt_up(static_cast<double>(begins_.size())));
  }

  std::vector<std::int64_t> sum(const std::vector<std::vector<double>>& weights) const {
    return k_ == 1 ? sum_two_classes(weights) : sum_many_classes(weights);
  }
  std::size_t begin(std::size_t column) const { return begins_[column]; }

 private:
  std::vector<std::int64_t> sum_two_classes(const std::vector<std::vector<double>>& weights) const {
    const std::size_t m = bins_.size();
    const double most = std::fmin(50, 30'000 / static_cast<double>(m));  // sums stay in 31 bits
    std::vector<std::vector<std::int32_t>> fixed(m);
    for (std::size_t c = 0; c < m; ++c)
      for (const double w : weights[c])
        fixed[c].push_back(static_cast<std::int32_t>(
            std::lround(std::clamp(w, -most, most) * ResidualRule::kScoreUnit)));
    std::vector<std::vector<std::int32_t>> of_cell;
    std::vector<std::vector<std::int64_t>> cell_sums;
    for (const ColumnGroup& group : groups_) {
      of_cell.push_back(group.spread(fixed));
      cell_sums.emplace_back(group.cells, 0);
    }
    std::vector<std::int32_t> score(kBlock), residual(kBlock);
    for (std::size_t from = 0; from < rows_.rows; from += kBlock) {
      const std::size_t count = std::min(kBlock, rows_.rows - from);
      std::fill(score.begin(), score.end(), 0);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const std::int32_t* w = of_cell[g].data();
        const std::uint16_t* cell = groups_[g].cell.data() + from;
        for (std::size_t i = 0; i < count; ++i) score[i] += w[cell[i]];
      }
      for (std::size_t i = 0; i < count; ++i)
        residual[i] = rule_.of(score[i], rows_.labels[from + i]);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        std::int64_t* sum = cell_sums[g].data();
        const std::uint16_t* cell = groups_[g].cell.data() + from;
        for (std::size_t i = 0; i < count; ++i) sum[cell[i]] += residual[i];
      }
    }
    std::vector<std::int64_t> sums(size_, 0);
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].fold(cell_sums[g], begins_, sums);
    return sums;
  }

  std::vector<std::int64_t> sum_many_classes(
      const std::vector<std::vector<double>>& weights) const {
    const std::size_t m = bins_.size();
    std::vector<std::int64_t> sums(size_, 0);
    std::vector<float> score(k_);
    std::vector<std::int32_t> residual(k_);
    std::vector<std::size_t> at(m);
    std::vector<std::vector<float>> fixed;
    for (const auto& w : weights) fixed.emplace_back(w.begin(), w.end());
    for (std::size_t row = 0; row < rows_.rows; ++row) {
      std::fill(score.begin(), score.end(), 0.0f);
      for (std::size_t c = 0; c < m; ++c) {
        at[c] = bins_[c].bin_of_code[rows_.columns[c][row]] * k_;
        const float* w = fixed[c].data() + at[c];
        for (std::size_t o = 0; o < k_; ++o) score[o] += w[o];
      }
      rule_.of(score, rows_.labels[row], residual);
      for (std::size_t c = 0; c < m; ++c) {
        std::int64_t* sum = sums.data() + begins_[c] + at[c];
        for (std::size_t o = 0; o < k_; ++o) sum[o] += residual[o];
      }
    }
    return sums;
  }

  const CodedRows& rows_;
  std::span<const Bins> bins_;
  std::size_t k_;
  ResidualRule rule_;
  std::vector<ColumnGroup> groups_;  // for two classes
  std::vector<std::size_t> begins_;
  std::size_t size_ = 0;
};

}  // namespace

Result<TrainedAdditive> train_logistic(const CodedRows& rows, const Coding& coding,
                                       GaussianBudget& budget, RandomSource& random,
                                       const LogisticSettings& given) {
  const std::size_t columns = coding.features().size();
  const auto m = static_cast<double>(columns);
  const double mu = budget.mu() * std::sqrt(given.share);
  LogisticSettings settings = given;
  if (settings.table_share == 0) settings.table_share = mu < 0.5 ? 0.3 : 0.2;
  DISCREET_TRY(
      ClassTables tables,
      measure_class_tables(rows, coding, budget, settings.share * settings.table_share, random));
  const double check_share =
      settings.check_share > 0
          ? settings.share * check_share_for(tables.rows, mu, settings.check_share)
          : 0;
  const double share = settings.share * (1 - settings.table_share) - check_share;
  if (settings.clip == 0) {
    const double signal = tables.rows * mu / std::sqrt(m);
    settings.clip = std::clamp(0.5 + 0.24 * std::log10(signal / 3000), 0.5, 0.7);
  }
  const std::uint32_t bins =
      bins_for(tables.rows, mu, m, settings.bins, settings.bins_min, settings.bins_max);
  const std::uint32_t steps = std::min(settings.steps_max, std::max(settings.steps_min, bins));

  TrainedAdditive trained;
  AdditiveModel& model = trained.model;
  model.classes = tables.classes;
  model.bins = choose_bins(tables, coding, bins);
  const BinnedTables binned = merge_bins(tables, model.bins);
  const std::vector<double> prior = prior_log_odds(tables);
  const std::size_t k = model.outputs();
  auto weights = shrunk_log_odds(coding, tables, binned);
  for (auto& column : weights)
    for (std::size_t i = 0; i < column.size(); ++i)
      column[i] = settings.start * column[i] + prior[i % k] / m;

  trained.notes.rows = tables.rows;
  const double rows_min = settings.rows_min * std::sqrt(m) / mu;
  if (check_share > 0) {  // else someone else decides
    DISCREET_TRY(const bool gave_up, give_up_early(rows.labels, rows_min, share, budget, random,
                                                   tables, trained.notes));
    if (gave_up) {
      model.weights = std::move(weights);
      damp_additive(tables, model);
      return trained;
    }
  }
  const GradientSums gradient(rows, model.bins, tables.classes, settings);
  const double noise = budget.sigma(gradient.sensitivity(), share) / ResidualRule::kUnit;
  const double curvature = settings.curvature * (k == 1 ? 1 : 2) * tables.rows;
  const Preconditioner precondition(coding, binned.frequency, curvature,
                                    settings.damping * steps * noise);

  std::vector<std::vector<double>> mean(columns);
  for (std::size_t c = 0; c < columns; ++c) mean[c].assign(weights[c].size(), 0.0);
  const std::uint32_t tail = (steps + 1) / 2;
  std::vector<std::vector<double>> step(columns);
  for (std::uint32_t t = 0; t < steps; ++t) {
    auto sums = gradient.sum(weights);
    DISCREET_TRY_VOID(budget.release(sums, gradient.sensitivity(), share / steps, random));
    for (std::size_t c = 0; c < columns; ++c) {
      step[c].resize(weights[c].size());
      for (std::size_t i = 0; i < step[c].size(); ++i)
        step[c][i] = static_cast<double>(sums[gradient.begin(c) + i]) / ResidualRule::kUnit;
    }
    for (std::size_t o = 0; o < k; ++o) precondition.solve(step, k, o);
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t i = 0; i < step[c].size(); ++i) {
        weights[c][i] -= step[c][i];
        if (t + tail >= steps) mean[c][i] += weights[c][i] / tail;
      }
  }
  model.weights = std::move(mean);
  model.prior.assign(k, 0.0);
  trained.notes.notes.push_back(
      fmt::format("about {:.0f} rows; up to {} bins a column; {} steps", tables.rows, bins, steps));
  DISCREET_TRY_VOID(finish_additive(rows, tables, rows_min, check_share, budget, random, trained));
  trained.tables = tables;
  trained.binned = binned;
  return trained;
}

}  // namespace discreet::learn
