#include "synth/aim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "synth/marginals.h"
#include "synth/records.h"
#include "synth/residuals.h"
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

// Two measurements of one marginal count as one with the noise of their weighted mean.
void average_into(ModelMeasurement& first, const ModelMeasurement& second) {
  const double one = 1 / (first.sigma * first.sigma), other = 1 / (second.sigma * second.sigma);
  for (std::size_t c = 0; c < first.counts.size(); ++c)
    first.counts[c] = (one * first.counts[c] + other * second.counts[c]) / (one + other);
  first.sigma = std::sqrt(1 / (one + other));
}

// What is known of the table so far: a model, and where asked for residuals around it.
class Knowledge {
 public:
  Knowledge(const Grouping& grouping, const AimSettings& settings)
      : domain_(grouping.domain),
        rows_(grouping.rows_estimate),
        settings_(settings),
        model_(domain_, rows_, JunctionTree::make(domain_, {})) {}

  // Answers come from residuals from now on.
  void rebuild_answers() { residuals_.emplace(domain_); }
  bool rebuilds() const { return residuals_.has_value(); }
  const GraphicalModel& model() const { return model_; }

  // Whether the model would keep within `cells` with this clique.
  bool fits(const Clique& clique, double cells) {
    if (model_.tree().node_of(clique) >= 0) return true;
    cliques_.push_back(clique);
    const bool fit =
        static_cast<double>(JunctionTree::make(domain_, cliques_).cells(domain_)) <= cells;
    cliques_.pop_back();
    return fit;
  }

  // Takes a measurement in. With residuals, what is beyond the model's limit goes into it by parts.
  void learn(ModelMeasurement measurement, double cells) {
    if (residuals_) residuals_->add(measurement);
    put_into_model(std::move(measurement),
                   residuals_ ? cells : std::numeric_limits<double>::infinity());
    model_ = model_.on(JunctionTree::make(domain_, cliques_));
  }
  void fit(int iterations) { model_.fit(measurements_, iterations); }

  // Rows that stand for the model; answers are judged by them.
  void sample(Dice& dice) {
    sampled_ =
        model_.sample(static_cast<std::size_t>(std::llround(rows_)) * settings_.oversampling, dice);
  }
  // Counts of a marginal, `oversampling` times.
  std::vector<std::int64_t> answer(const Clique& clique) const {
    std::vector<std::int64_t> counts = count_marginal(*sampled_, clique);
    if (!residuals_) return counts;
    const double scale = settings_.oversampling;
    std::vector<double> guess(counts.begin(), counts.end());
    for (double& count : guess) count /= scale;
    std::vector<double> rebuilt = residuals_->marginal(clique, guess);
    make_nonnegative(rebuilt, rows_);
    for (std::size_t c = 0; c < counts.size(); ++c) counts[c] = std::llround(rebuilt[c] * scale);
    return counts;
  }
  // The counts that are believed now.
  std::vector<double> expected(const Clique& clique) const {
    if (!residuals_) return model_.marginal(clique);
    const std::vector<std::int64_t> counts = answer(clique);
    std::vector<double> scaled(counts.begin(), counts.end());
    for (double& count : scaled) count /= settings_.oversampling;
    return scaled;
  }

 private:
  void put_into_model(ModelMeasurement measurement, double cells) {
    const Clique& clique = measurement.attributes;
    if (clique.size() < 2 || fits(clique, cells)) {
      for (ModelMeasurement& known : measurements_) {
        if (known.attributes != clique) continue;
        average_into(known, measurement);
        return;
      }
      cliques_.push_back(clique);
      measurements_.push_back(std::move(measurement));
      return;
    }
    for (std::size_t out = 0; out < clique.size(); ++out) {
      Clique part = clique;
      part.erase(part.begin() + static_cast<std::ptrdiff_t>(out));
      if (part.size() < 2) continue;
      const auto map = projection(domain_, clique, part);
      std::vector<double> counts(domain_.cells(part), 0);
      for (std::size_t c = 0; c < map.size(); ++c) counts[map[c]] += measurement.counts[c];
      put_into_model(
          {part, std::move(counts), measurement.sigma * std::sqrt(domain_[clique[out]].size)},
          cells);
    }
  }

  const Domain& domain_;
  double rows_;
  const AimSettings& settings_;
  std::vector<Clique> cliques_;
  std::vector<ModelMeasurement> measurements_;
  GraphicalModel model_;
  std::optional<Residuals> residuals_;
  std::optional<CodedTable> sampled_;
};

// Records of the model, pulled towards the rebuilt marginals of the workload.
Result<void> emit_rebuilt(Knowledge& known, const Workload& workload, const Grouping& grouping,
                          const Domain& domain, const AimSettings& settings,
                          const FitContext& context, Dice& dice, Twin& twin) {
  known.sample(dice);
  const std::size_t rows = context.rows_out > 0
                               ? context.rows_out
                               : static_cast<std::size_t>(std::llround(grouping.rows_estimate));
  const double scale = static_cast<double>(rows) / grouping.rows_estimate / settings.oversampling;
  std::vector<SearchTarget> targets;
  for (const WeightedClique& marginal : workload.marginals)
    if (marginal.attributes.size() > 1) targets.push_back({marginal.attributes, {}});
  context.workers.run(targets.size(), [&](std::size_t i) {
    for (const std::int64_t count : known.answer(targets[i].attributes))
      targets[i].counts.push_back(static_cast<float>(static_cast<double>(count) * scale));
  });
  double uses = 0;
  for (const SearchTarget& target : targets)
    uses += static_cast<double>(target.attributes.size()) / static_cast<double>(domain.size());
  const auto proposals = static_cast<std::uint64_t>(static_cast<double>(settings.proposals) *
                                                    std::min(1.0, 14 / std::max(uses, 1.0)));
  for (std::size_t t = 0; t < context.twins; ++t) {
    CodedTable records = known.model().sample(rows, dice);
    DISCREET_TRY_VOID(
        local_search(records, targets, proposals, dice, stage(context, "searching", 0.92, 1)));
    twin.tables.push_back(refine_groups(records, grouping, domain, dice));
  }
  return {};
}

// Up to so many marginals most of what the workload asks for can be measured. Beyond (all 1,117
// three-ways of the NIST table) a marginal chosen is a small part, and one that the model holds
// teaches more about the others than one that it does not.
constexpr std::size_t kRebuiltMax = 250;
// Smaller budgets pay for a handful of marginals, which the model holds anyway.
constexpr double kRhoRebuilt = 0.01;

// Whether a junction tree of the whole workload is beyond the limit.
bool is_wide(const Workload& workload, const Domain& domain, const AimSettings& settings,
             double rho) {
  if (settings.reconstruction != Reconstruction::Auto)
    return settings.reconstruction == Reconstruction::Residual;
  if (workload.marginals.size() > kRebuiltMax || rho < kRhoRebuilt) return false;
  std::vector<Clique> cliques;
  for (const WeightedClique& marginal : workload.marginals) cliques.push_back(marginal.attributes);
  return JunctionTree::make(domain, cliques).cells(domain) > settings.model_bytes / sizeof(double);
}

}  // namespace

Result<Reconstruction> parse_reconstruction(const std::string& name) {
  if (name == "auto") return Reconstruction::Auto;
  if (name == "model") return Reconstruction::Model;
  if (name == "residual") return Reconstruction::Residual;
  return invalid_parameter(
      fmt::format("there is no reconstruction \"{}\"; there are auto, model and residual", name));
}

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
  Knowledge known(grouping, settings);
  if (is_wide(workload, grouping.domain, settings, rho)) known.rebuild_answers();
  const double limit_cells = static_cast<double>(settings.model_bytes) / sizeof(double);
  for (std::uint32_t a = 0; a < domain.size(); ++a) {
    // Groups of several values are noisier than one cell; the mean noise stands for all.
    double variance = 0;
    for (const double s : grouping.attributes[a].sigma)
      variance += s * s / static_cast<double>(grouping.attributes[a].sigma.size());
    known.learn({{a}, grouping.attributes[a].count, std::sqrt(variance)}, limit_cells);
  }
  known.fit(50);
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
  const std::string choosing =
      fmt::format("choosing and measuring (one-way cells within {:.2g} % of the rows)",
                  196 * sigma / grouping.rows_estimate);
  const Progress progress = stage(context, choosing, 0.02, 0.9);
  std::size_t round = 0;
  bool last = candidates.empty();
  std::vector<std::vector<std::int64_t>> answers(candidates.size());
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
    const double limit = limit_cells * std::min(1.0, (budget.spent().value() + cost) / rho);
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (known.rebuilds() || known.fits(candidates[i].attributes, limit)) fitting.push_back(i);
    if (fitting.empty()) fitting.push_back(0);
    known.sample(dice);
    std::vector<std::int64_t> scores(fitting.size());
    context.workers.run(fitting.size(), [&](std::size_t j) {
      const std::size_t i = fitting[j];
      answers[i] = known.answer(candidates[i].attributes);
      scores[j] = score(candidates[i], answers[i], settings.oversampling, sigma);
    });
    DISCREET_TRY(const std::size_t chosen,
                 budget.select(scores, sensitivity, epsilon, context.random));
    const Candidate& candidate = candidates[fitting[chosen]];
    DISCREET_TRY(const NoisyMarginal noisy,
                 budget.measure(candidate.exact, candidate.attributes, sigma, context.random));
    twin.wide.push_back(noisy);
    known.learn(to_measurement(noisy), limit);
    known.fit(settings.iterations);
    const auto& before = answers[fitting[chosen]];
    const std::vector<double> after = known.expected(candidate.attributes);
    double moved = 0;
    for (std::size_t c = 0; c < before.size(); ++c)
      moved += std::abs(after[c] - static_cast<double>(before[c]) / settings.oversampling);
    if (moved <= sigma * kMeanAbsoluteNormal * static_cast<double>(before.size())) {
      sigma /= 2;
      epsilon *= 2;
    }
    if (progress && !progress(std::min(1.0, budget.spent().value() / rho)))
      return Error{ErrorCode::Refused, "stopped before the twin was finished"};
  }
  known.fit(settings.final_iterations);
  twin.rho = budget.spent();
  twin.events = budget.events();
  if (known.rebuilds())
    DISCREET_TRY_VOID(
        emit_rebuilt(known, workload, grouping, domain, settings, context, dice, twin));
  else
    emit_tables(known.model(), grouping, domain, context, dice, twin);
  for (const AttributeGroups& groups : grouping.attributes) twin.groups.push_back(groups.members);
  twin.notes.push_back(
      fmt::format("aim: {} rounds after {} one-way marginals; last noise of standard deviation "
                  "{:.4g}; model of {} cells in {} cliques{}",
                  round, domain.size(), sigma, known.model().tree().cells(grouping.domain),
                  known.model().tree().nodes.size(),
                  known.rebuilds() ? "; answers rebuilt from residuals around it" : ""));
  return twin;
}

}  // namespace discreet::synth
