#include "synth/aim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "synth/marginals.h"
#include "synth/tree_methods_internal.h"
#include "synth/zcdp_budget.h"

namespace discreet::synth {
namespace {

constexpr double kMeanAbsoluteNormal = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kWeightSteps = 16;                         // weights are multiples of 1/16

struct Candidate {
  Clique attributes;
  std::int64_t weight;
  std::vector<std::int64_t> exact;  // private
};

// Whole-number scores: weight * (L1 distance - what noise alone would make), times the
// oversampling. A row moves the distance by at most one, either way.
std::int64_t score(const Candidate& candidate, std::span<const std::int64_t> model,
                   std::uint32_t oversampling, double sigma) {
  std::int64_t distance = 0;
  for (std::size_t cell = 0; cell < model.size(); ++cell)
    distance += std::abs(candidate.exact[cell] * oversampling - model[cell]);
  const auto noise = static_cast<std::int64_t>(
      std::llround(kMeanAbsoluteNormal * sigma * static_cast<double>(model.size()) * oversampling));
  return candidate.weight * (distance - noise);
}

}  // namespace

Result<Twin> fit_aim(const CodedTable& table, const Workload& workload, ApproxDp target,
                     const AimSettings& settings, const FitContext& context) {
  const Domain& domain = table.domain;
  DISCREET_TRY(ZcdpBudget budget, ZcdpBudget::make(target));
  const double rho = budget.total().value() * (1 - 1e-9);  // room for rounding upwards
  const double rounds = settings.rounds_per_attribute * static_cast<double>(domain.size());
  double sigma = std::sqrt(rounds / (2 * (1 - settings.select_share) * rho));
  double epsilon = std::sqrt(8 * settings.select_share * rho / rounds);

  Twin twin;
  for (std::uint32_t a = 0; a < domain.size(); ++a) {
    DISCREET_TRY(NoisyMarginal one_way, budget.measure(table, {a}, sigma, context.random));
    twin.measured.push_back(std::move(one_way));
  }
  const Grouping grouping = group_values(domain, twin.measured, settings.group_sigmas);
  twin.rows_estimate = grouping.rows_estimate;
  const CodedTable coarse = grouping.coarsen(table);
  std::vector<ModelMeasurement> measurements;
  for (std::uint32_t a = 0; a < domain.size(); ++a) {
    // Groups of several values are noisier than one cell; the mean noise stands for all.
    double variance = 0;
    for (const double s : grouping.attributes[a].sigma)
      variance += s * s / static_cast<double>(grouping.attributes[a].sigma.size());
    measurements.push_back({{a}, grouping.attributes[a].count, std::sqrt(variance)});
  }
  std::vector<Candidate> candidates;
  std::int64_t weight_max = 1;
  for (const WeightedClique& candidate : downward_closure(workload)) {
    if (candidate.attributes.size() < 2) continue;
    const auto weight = std::max<std::int64_t>(1, std::llround(candidate.weight * kWeightSteps));
    weight_max = std::max(weight_max, weight);
    candidates.push_back({candidate.attributes, weight, {}});
  }
  context.workers.run(candidates.size(), [&](std::size_t i) {
    candidates[i].exact = count_marginal(coarse, candidates[i].attributes);
  });
  if (static_cast<double>(weight_max) * settings.oversampling >= 0x1p31)
    return invalid_parameter("the workload's weights are too large for AIM; use smaller ones");
  const auto sensitivity = static_cast<std::uint32_t>(weight_max) * settings.oversampling;

  Dice dice(context.random);
  std::vector<Clique> cliques;
  for (const ModelMeasurement& measurement : measurements)
    cliques.push_back(measurement.attributes);
  GraphicalModel model(grouping.domain, grouping.rows_estimate,
                       JunctionTree::make(grouping.domain, cliques));
  model.fit(measurements, 50);
  const std::string choosing =
      fmt::format("choosing and measuring (one-way cells within {:.2g} % of the rows)",
                  196 * sigma / grouping.rows_estimate);
  const Progress progress = stage(context, choosing, 0.02, 0.9);
  std::size_t round = 0;
  bool last = candidates.empty();
  std::vector<std::vector<std::int64_t>> sampled(candidates.size());
  while (!last) {
    ++round;
    const double left = rho - budget.spent().value();
    const double cost = 0.5 / (sigma * sigma) + epsilon * epsilon / 8;
    if (left < 2 * cost) {  // the last round takes what is left
      sigma = std::sqrt(1 / (2 * (1 - settings.select_share) * left));
      epsilon = std::sqrt(8 * settings.select_share * left);
      last = true;
    }
    // The model may grow with the part of the budget that is spent.
    const double limit = static_cast<double>(settings.model_bytes) / sizeof(double) *
                         std::min(1.0, (budget.spent().value() + cost) / rho);
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      cliques.push_back(candidates[i].attributes);
      if (static_cast<double>(
              JunctionTree::make(grouping.domain, cliques).cells(grouping.domain)) <= limit ||
          model.tree().node_of(candidates[i].attributes) >= 0)
        fitting.push_back(i);
      cliques.pop_back();
    }
    if (fitting.empty()) fitting.push_back(0);
    const CodedTable rows = model.sample(
        static_cast<std::size_t>(std::llround(grouping.rows_estimate)) * settings.oversampling,
        dice);
    std::vector<std::int64_t> scores(fitting.size());
    context.workers.run(fitting.size(), [&](std::size_t j) {
      const std::size_t i = fitting[j];
      sampled[i] = count_marginal(rows, candidates[i].attributes);
      scores[j] = score(candidates[i], sampled[i], settings.oversampling, sigma);
    });
    DISCREET_TRY(const std::size_t chosen,
                 budget.select(scores, sensitivity, epsilon, context.random));
    const Candidate& candidate = candidates[fitting[chosen]];
    DISCREET_TRY(const NoisyMarginal noisy,
                 budget.measure(candidate.exact, candidate.attributes, sigma, context.random));
    std::vector<double> before(noisy.counts.size());
    for (std::size_t c = 0; c < before.size(); ++c)
      before[c] = static_cast<double>(sampled[fitting[chosen]][c]) / settings.oversampling;
    measurements.push_back(to_measurement(noisy));
    twin.wide.push_back(noisy);
    cliques.push_back(candidate.attributes);
    model = model.on(JunctionTree::make(grouping.domain, cliques));
    model.fit(measurements, settings.iterations);
    const auto after = model.marginal(candidate.attributes);
    double moved = 0;
    for (std::size_t c = 0; c < before.size(); ++c) moved += std::abs(after[c] - before[c]);
    if (moved <= sigma * kMeanAbsoluteNormal * static_cast<double>(before.size())) {
      sigma /= 2;
      epsilon *= 2;
    }
    if (progress && !progress(std::min(1.0, budget.spent().value() / rho)))
      return Error{ErrorCode::Refused, "stopped before the twin was finished"};
  }
  model.fit(measurements, settings.final_iterations);
  twin.rho = budget.spent();
  twin.events = budget.events();
  emit_tables(model, grouping, domain, context, dice, twin);
  for (const AttributeGroups& groups : grouping.attributes) twin.groups.push_back(groups.members);
  twin.notes.push_back(fmt::format(
      "aim: {} rounds after {} one-way marginals; last noise of standard deviation {:.4g}; model "
      "of "
      "{} cells in {} cliques",
      round, domain.size(), sigma, model.tree().cells(grouping.domain), model.tree().nodes.size()));
  return twin;
}

}  // namespace discreet::synth
