#include "learn/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rounding.h"
#include "learn/preconditioner_internal.h"
#include "mechanisms/discrete_gaussian.h"
#include "synth/dice.h"
#include "synth/workers.h"

namespace discreet::learn {
namespace {

constexpr double kUnit = 1 << 15;  // the clipping norm, in steps of the gradient's grid
constexpr double kSmoothing = 3;   // docs/proofs/discrete_gaussian.md
constexpr std::size_t kChunks = 16;

// All weights in one row: for each bin its linear outputs and hidden inputs, then the second layer.
struct Shape {
  std::size_t k, h, block, bins = 0;
  std::vector<std::size_t> begins;  // first bin of each column

  Shape(std::span<const Bins> columns, std::size_t outputs, std::size_t hidden)
      : k(outputs), h(hidden), block(outputs + hidden) {
    for (const Bins& column : columns) {
      begins.push_back(bins);
      bins += column.size;
    }
  }
  std::size_t second() const { return bins * block; }
  std::size_t size() const { return second() + h * k; }
};

// Clipped gradients of some rows, added up as whole numbers.
class Gradient {
 public:
  Gradient(const CodedRows& rows, std::span<const Bins> bins, const Shape& shape, double norm_max,
           bool leave_out_clipping)
      : rows_(rows), shape_(shape), norm_max_(norm_max), leave_out_(leave_out_clipping) {
    for (std::size_t c = 0; c < bins.size(); ++c) {
      auto& column = at_.emplace_back(rows.rows);
      for (std::size_t row = 0; row < rows.rows; ++row)
        column[row] = static_cast<std::uint32_t>(
            (shape.begins[c] + bins[c].bin_of_code[rows.columns[c][row]]) * shape.block);
    }
  }

  void add(std::span<const std::uint32_t> batch, const std::vector<float>& w,
           std::vector<std::int64_t>& sums) const {
    const std::size_t k = shape_.k, h = shape_.h, block = shape_.block, m = at_.size();
    std::vector<float> in(block), back(block), act(h);
    std::vector<std::int64_t> whole(block);
    const float* second = w.data() + shape_.second();
    for (const std::uint32_t row : batch) {
      std::fill(in.begin(), in.end(), 0.0f);
      for (std::size_t c = 0; c < m; ++c) {
        const float* from = w.data() + at_[c][row];
        for (std::size_t i = 0; i < block; ++i) in[i] += from[i];
      }
      for (std::size_t u = 0; u < h; ++u) {
        act[u] = std::tanh(in[k + u]);
        for (std::size_t o = 0; o < k; ++o) in[o] += act[u] * second[u * k + o];
      }
      residual(std::span(in).first(k), rows_.labels[row], std::span(back).first(k));
      double outer = 0, hidden = 0, active = 0;
      for (std::size_t o = 0; o < k; ++o) outer += static_cast<double>(back[o]) * back[o];
      for (std::size_t u = 0; u < h; ++u) {
        float flow = 0;
        for (std::size_t o = 0; o < k; ++o) flow += second[u * k + o] * back[o];
        back[k + u] = flow * (1 - act[u] * act[u]);
        hidden += static_cast<double>(back[k + u]) * back[k + u];
        active += static_cast<double>(act[u]) * act[u];
      }
      const auto columns = static_cast<double>(m);
      const double norm = std::sqrt(columns * (outer + hidden) + active * outer);
      if (!std::isfinite(norm)) continue;  // counts as zero: an error would reveal it
      // Shrunk a little more than needed and cut towards zero: the norm is certain.
      const double scale =
          kUnit * (1 - 1e-6) / (leave_out_ ? norm_max_ : std::fmax(norm, norm_max_));
      for (std::size_t i = 0; i < block; ++i)
        whole[i] = static_cast<std::int64_t>(static_cast<double>(back[i]) * scale);
      for (std::size_t c = 0; c < m; ++c) {
        std::int64_t* to = sums.data() + at_[c][row];
        for (std::size_t i = 0; i < block; ++i) to[i] += whole[i];
      }
      std::int64_t* to = sums.data() + shape_.second();
      for (std::size_t u = 0; u < h; ++u)
        for (std::size_t o = 0; o < k; ++o)
          to[u * k + o] += static_cast<std::int64_t>(static_cast<double>(act[u]) * back[o] * scale);
    }
  }

 private:
  void residual(std::span<float> logits, std::uint16_t label, std::span<float> out) const {
    if (logits.size() == 1) {
      out[0] = 1 / (1 + std::exp(-logits[0])) - (label == 1 ? 1.0f : 0.0f);
      return;
    }
    const float top = *std::max_element(logits.begin(), logits.end());
    float total = 0;
    for (float& s : logits) total += s = std::exp(s - top);
    for (std::size_t o = 0; o < logits.size(); ++o)
      out[o] = logits[o] / total - (o == label ? 1.0f : 0.0f);
  }

  const CodedRows& rows_;
  const Shape& shape_;
  double norm_max_;
  bool leave_out_;
  std::vector<std::vector<std::uint32_t>> at_;  // where a row's weights of a column begin
};

// Checks the network against the most common class, and damps it when it loses (majority.h).
Result<void> finish(const CodedRows& rows, const ClassTables& tables, double rows_min, double share,
                    GaussianBudget& budget, RandomSource& random, TrainedNetwork& trained) {
  if (share <= 0) return {};  // not asked to compare
  NetworkModel& model = trained.model;
  std::vector<std::uint32_t> predicted(rows.rows);
  std::vector<double> scores(model.outputs());
  for (std::size_t row = 0; row < rows.rows; ++row) {
    model.score(rows, row, scores);
    predicted[row] = class_of(scores);
  }
  DISCREET_TRY_VOID(compare_with_majority(predicted, rows.labels, tables, rows_min, share, budget,
                                          random, trained.notes));
  if (!trained.notes.majority) return {};
  std::fill(model.outputs_of_hidden.begin(), model.outputs_of_hidden.end(), 0.0);
  damp_additive(tables, model.linear);
  return {};
}

}  // namespace

void NetworkModel::score(const CodedRows& rows, std::size_t row, std::span<double> scores) const {
  linear.score(rows, row, scores);
  const std::size_t k = outputs();
  std::vector<double> in(hidden, 0.0);
  for (std::size_t c = 0; c < inputs.size() && hidden > 0; ++c) {
    const std::size_t bin = linear.bins[c].bin_of_code[rows.columns[c][row]];
    for (std::size_t u = 0; u < hidden; ++u) in[u] += inputs[c][bin * hidden + u];
  }
  for (std::size_t u = 0; u < hidden; ++u) {
    const double active = std::tanh(in[u]);
    for (std::size_t o = 0; o < k; ++o) scores[o] += active * outputs_of_hidden[u * k + o];
  }
}

Result<TrainedNetwork> train_network(const CodedRows& rows, const Coding& coding, ApproxDp target,
                                     RandomSource& random, const NetworkSettings& settings) {
  const std::size_t columns = coding.features().size();
  const auto m = static_cast<double>(columns);
  // Sampled steps and the full release of a learner that gives up have profiles that cross, so
  // which one follows the tables may not depend on them for one delta: each has its own part.
  const double delta = target.delta.value();
  DISCREET_TRY(const Delta delta_training, Delta::make(mul_down(0.9, delta)));
  DISCREET_TRY(const Delta delta_giving_up, Delta::make(mul_down(0.0999999, delta)));
  const ApproxDp training{target.epsilon, delta_training};
  DISCREET_TRY(GaussianBudget budget, GaussianBudget::make(training));
  DISCREET_TRY(const auto giving_up, GaussianBudget::make({target.epsilon, delta_giving_up}));
  // Rates and steps are public: strong noise wants few steps of many rows.
  const double mu = budget.mu();
  const double check_share = settings.check_share > 0 ? settings.check_share
                             : mu < 0.1               ? 0.03
                                                      : 0.01;
  const double rate = settings.rate > 0 ? settings.rate : mu < 0.1 ? 0.25 : 0.1;
  const std::uint64_t steps = settings.steps > 0 ? settings.steps
                              : mu < 0.1         ? 40
                              : mu < 1           ? 120
                                                 : 240;
  TrainedNetwork trained;
  DISCREET_TRY(trained.plan, plan_sgd(training, rate, steps, settings.table_share + check_share));
  DISCREET_TRY(ClassTables tables,
               measure_class_tables(rows, coding, budget, settings.table_share, random));

  AdditiveModel& linear = trained.model.linear;
  linear.classes = tables.classes;
  linear.bins = choose_bins(tables, coding, bins_for(tables.rows, mu, m, settings.bins, 4, 64));
  const BinnedTables binned = merge_bins(tables, linear.bins);
  const auto odds = shrunk_log_odds(coding, tables, binned);
  const auto prior = prior_log_odds(tables);
  const std::size_t k = linear.outputs(), h = settings.hidden;
  const Shape shape(linear.bins, k, h);
  trained.notes.rows = tables.rows;
  const double rows_min = settings.rows_min * std::sqrt(m) / mu;
  const double given_up_share =
      giving_up.mu() * giving_up.mu() / (mu * mu) * (1 - 1e-12) - settings.table_share;
  DISCREET_CHECK(given_up_share > 0, "the tables leave something to a learner that gives up");
  DISCREET_TRY(const bool gave_up, give_up_early(rows.labels, rows_min, given_up_share, budget,
                                                 random, tables, trained.notes));
  if (gave_up) {
    linear.weights = odds;
    damp_additive(tables, linear);
    trained.model.hidden = settings.hidden;
    for (const Bins& bins : linear.bins)
      trained.model.inputs.emplace_back(std::size_t{bins.size} * h, 0.0);
    trained.model.outputs_of_hidden.assign(h * k, 0.0);
    return trained;
  }

  std::vector<float> w(shape.size(), 0);
  synth::Dice dice(random);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t b = 0; b < linear.bins[c].size; ++b) {
      float* at = w.data() + (shape.begins[c] + b) * shape.block;
      for (std::size_t o = 0; o < k; ++o)
        at[o] = static_cast<float>(settings.start * odds[c][b * k + o] + prior[o] / m);
      for (std::size_t u = 0; u < h; ++u)
        at[k + u] = static_cast<float>(1.5 * dice.normal() / std::sqrt(m));
    }
  for (std::size_t i = 0; i < h * k; ++i)
    w[shape.second() + i] = static_cast<float>(0.05 * dice.normal());

  const double norm_max = settings.clip * std::sqrt(m) * (k == 1 ? 1 : std::sqrt(2.0));
  const Gradient gradient(rows, linear.bins, shape, norm_max, settings.leave_out_clipping);
  DISCREET_TRY(const PoissonBatches batches, PoissonBatches::make(rate));
  const double sigma2 =
      add_up(mul_up(mul_up(trained.plan.multiplier, kUnit), mul_up(trained.plan.multiplier, kUnit)),
             kSmoothing);
  DISCREET_TRY(const Rho rho, Rho::make(div_down(kUnit * kUnit, mul_up(2, sigma2))));
  DISCREET_TRY(const auto sensitivity, L2Sensitivity::make(kUnit));
  DISCREET_TRY(const auto noise,
               DiscreteGaussian::make(rho, sensitivity, std::max<std::size_t>(2, shape.size())));

  // A noisy sum, divided by the rate, estimates the gradient over all rows with this noise.
  const double step_noise = trained.plan.multiplier * norm_max / rate;
  const double damping = settings.damping * std::sqrt(static_cast<double>(steps)) * step_noise;
  const double curvature = settings.curvature * (k == 1 ? 1 : 2) * tables.rows;
  const Preconditioner precondition(coding, binned.frequency, curvature, damping);
  const double second_scale = 1 / (curvature / 4 + damping);

  synth::Workers workers(settings.threads);
  std::vector<double> mean(shape.size(), 0);
  const std::uint64_t tail = (steps + 1) / 2;
  std::vector<std::vector<double>> step(columns);
  std::vector<std::vector<std::int64_t>> parts(kChunks);
  for (std::uint64_t t = 0; t < steps; ++t) {
    const auto batch = batches.draw(rows.rows, random);
    const std::size_t chunks = settings.threads == 1 ? 1 : kChunks;
    const auto whole = std::span(batch);
    workers.run(chunks, [&](std::size_t i) {
      parts[i].assign(shape.size(), 0);
      const std::size_t from = batch.size() * i / chunks, to = batch.size() * (i + 1) / chunks;
      gradient.add(whole.subspan(from, to - from), w, parts[i]);
    });
    for (std::size_t i = 1; i < chunks; ++i)
      for (std::size_t j = 0; j < shape.size(); ++j) parts[0][j] += parts[i][j];
    noise.release(parts[0], random);
    const double unit = norm_max / kUnit / rate;
    for (std::size_t c = 0; c < columns; ++c) {
      step[c].resize(linear.bins[c].size * shape.block);
      for (std::size_t i = 0; i < step[c].size(); ++i)
        step[c][i] = unit * static_cast<double>(parts[0][shape.begins[c] * shape.block + i]);
    }
    for (std::size_t i = 0; i < shape.block; ++i) precondition.solve(step, shape.block, i);
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t i = 0; i < step[c].size(); ++i)
        w[shape.begins[c] * shape.block + i] -= static_cast<float>(step[c][i]);
    for (std::size_t i = shape.second(); i < shape.size(); ++i)
      w[i] -= static_cast<float>(second_scale * unit * static_cast<double>(parts[0][i]));
    if (t + tail >= steps)
      for (std::size_t i = 0; i < shape.size(); ++i)
        mean[i] += static_cast<double>(w[i]) / static_cast<double>(tail);
  }

  linear.prior.assign(k, 0.0);
  trained.model.hidden = settings.hidden;
  for (std::size_t c = 0; c < columns; ++c) {
    auto& weights = linear.weights.emplace_back();
    auto& inputs = trained.model.inputs.emplace_back();
    for (std::size_t b = 0; b < linear.bins[c].size; ++b) {
      const double* at = mean.data() + (shape.begins[c] + b) * shape.block;
      weights.insert(weights.end(), at, at + k);
      inputs.insert(inputs.end(), at + k, at + shape.block);
    }
  }
  trained.model.outputs_of_hidden.assign(mean.begin() + static_cast<std::ptrdiff_t>(shape.second()),
                                         mean.end());
  trained.notes.rows = tables.rows;
  trained.notes.notes.push_back(
      fmt::format("about {:.0f} rows; {} hidden units; {} steps, each row in one with chance {:g}, "
                  "noise {:.3g} "
                  "times the clipping norm",
                  tables.rows, h, steps, rate, trained.plan.multiplier));
  DISCREET_TRY_VOID(finish(rows, tables, rows_min, check_share, budget, random, trained));
  return trained;
}

}  // namespace discreet::learn
