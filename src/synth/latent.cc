#include "synth/latent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "privacy/zcdp_conversion.h"
#include "synth/grouping.h"
#include "synth/pair_cover.h"
#include "synth/records.h"
#include "synth/tree_methods_internal.h"

namespace discreet::synth {

Progress stage(const FitContext& context, std::string_view name, double from, double to) {
  if (!context.progress) return nullptr;
  return [&context, name, from, to](double done) {
    return context.progress(name, from + done * (to - from));
  };
}

namespace {

constexpr std::size_t kWholeMax = 250;                // marginals that are always measured whole
constexpr std::uint64_t kCellsWholeMax = 20'000'000;  // of all of them
constexpr double kRhoWhole = 0.1;                     // budgets that can afford any number
// Times that the part covers every pair: fewer at budgets that few marginals use up already. On the
// NIST tables at epsilon 0.1 two covers were better than three, at 1 three better than two.
constexpr double kRhoSmall = 0.002;
constexpr std::uint32_t kCovers = 3, kCoversSmall = 2;

// How many sigmas a value needs to stay alone. Small budgets drown the cells of wide marginals, so
// coarser groups win there (mean TVD at epsilon 0.1: ADULT -2 %, NIST -4 %, the town -9 %, with the
// same largest error); from epsilon 1 on they lose in the largest error.
constexpr double kGroupSigmas = 2, kGroupSigmasSmall = 3;

// The penalty makes one twin better by drawing classes together, which biases what several twins
// say about columns together. Twins that are fitted anew are there for honest intervals: nearly
// none (bench_synth_rubin: 89 % of 95 % intervals hold with all of it, 95 % with a tenth).
constexpr double kPenaltyOfRefits = 0.1;

// The penalty grows with the budget a little slower than its precision does: smaller budgets want
// relatively more of it. Found on ADULT and NIST; a constant ratio is nearly as good.
double penalty_of(const LatentSettings& settings, Rho rho) {
  const double mu = std::sqrt(2 * rho.value());
  return settings.penalty * mu * std::pow(0.18 / mu, 0.05);
}

// What of the workload is measured: all of it, or a part that covers its pairs. Decided by sizes
// and the budget, not by rows.
Workload measured_part(const Workload& workload, const Domain& domain, ApproxDp target,
                       std::uint32_t covers) {
  const auto meeting = zcdp_meeting(target);
  const double rho = meeting ? meeting->value() : 0;
  if (workload.marginals.size() <= kWholeMax ||
      (covers == 0 && rho >= kRhoWhole && workload.cells(domain) <= kCellsWholeMax))
    return workload;
  if (covers == 0) covers = rho < kRhoSmall ? kCoversSmall : kCovers;
  Workload part = cover_pairs(workload, domain, covers);
  return part.marginals.empty() ? workload : part;
}

// What one more fit is made from.
struct Inputs {
  std::vector<FitOneWay> one_ways;
  std::vector<FitTarget> targets;
};

// Perturb and fit again: draws, approximately, from what the parameters may be given the noisy
// counts (exactly so in a linear Gaussian model). Post-processing, so the noise need not be exact.
Inputs with_fresh_noise(std::vector<FitOneWay> one_ways, std::vector<FitTarget> targets,
                        Dice& dice) {
  for (FitOneWay& one_way : one_ways)
    for (std::size_t v = 0; v < one_way.counts.size(); ++v)
      one_way.counts[v] += one_way.sigma[v] * dice.normal();
  for (FitTarget& target : targets)
    for (float& count : target.counts) count += static_cast<float>(target.sigma * dice.normal());
  return {std::move(one_ways), std::move(targets)};
}

}  // namespace

LatentSettings LatentSettings::fast() {
  return {.components = 160,
          .steps = 450,
          .rate = 0.2,
          .penalty = 0.128,
          .proposals = 4'000'000,
          .group_sigmas = 2.5};
}

Result<Twin> fit_latent(const CodedTable& table, const Workload& workload, ApproxDp target,
                        const LatentSettings& settings, const FitContext& context) {
  const Domain& domain = table.domain;
  std::vector<Clique> one_ways, wider;
  std::vector<double> weights;
  for (std::uint32_t a = 0; a < domain.size(); ++a) one_ways.push_back({a});
  double weight_sum = 0;
  const Workload part = measured_part(workload, domain, target, settings.covers);
  for (const WeightedClique& marginal : part.marginals) {
    if (marginal.attributes.size() < 2) continue;
    wider.push_back(marginal.attributes);
    weights.push_back(std::pow(marginal.weight, 2.0 / 3));
    weight_sum += weights.back();
  }
  // Equal shares for equal weights. Otherwise the power 2/3 minimises the weighted sum of errors.
  std::vector<double> shares(one_ways.size(), 1.0);
  for (const double weight : weights)
    shares.push_back(weight * static_cast<double>(weights.size()) / weight_sum);
  std::uint64_t cells = domain.width();
  for (const Clique& clique : wider) cells += domain.cells(clique);
  DISCREET_TRY(auto measurements, Measurements::make(target, shares, cells));

  Twin twin;
  twin.rho = measurements.rho();
  auto narrow = measurements.measure(table, one_ways, context.workers, context.random);
  const double sigmas = settings.group_sigmas > 0      ? settings.group_sigmas
                        : twin.rho.value() < kRhoSmall ? kGroupSigmasSmall
                                                       : kGroupSigmas;
  const Grouping grouping = group_values(domain, narrow, sigmas);
  twin.rows_estimate = grouping.rows_estimate;
  const CodedTable coarse = grouping.coarsen(table);
  std::vector<std::size_t> lefts;
  for (Clique& clique : wider) {
    SplitClique split = split_clique(grouping.domain, clique);
    clique = std::move(split.attributes);
    lefts.push_back(split.left);
  }
  const auto wide = measurements.measure(coarse, wider, context.workers, context.random);
  DISCREET_CHECK(measurements.left() == 0, "everything paid for is measured");

  std::vector<FitOneWay> fit_one_ways;
  for (const AttributeGroups& groups : grouping.attributes)
    fit_one_ways.push_back({groups.count, groups.sigma});
  std::vector<FitTarget> targets;
  for (std::size_t i = 0; i < wide.size(); ++i)
    targets.push_back({wide[i].attributes,
                       lefts[i],
                       {wide[i].counts.begin(), wide[i].counts.end()},
                       wide[i].sigma});
  const double penalty = penalty_of(settings, twin.rho) * (context.refit ? kPenaltyOfRefits : 1.0);
  Dice dice(context.random);
  const MixtureSettings mixture{.components = settings.components,
                                .steps = settings.steps,
                                .rate = settings.rate,
                                .penalty = penalty,
                                .batch = settings.batch};
  const std::size_t rows = context.rows_out > 0
                               ? context.rows_out
                               : static_cast<std::size_t>(std::llround(grouping.rows_estimate));
  const double scale = static_cast<double>(rows) / grouping.rows_estimate;
  // A proposal costs as much as the marginals its attribute is in: the work is bounded, not the
  // number.
  double uses = 0;
  for (const FitTarget& one : targets)
    uses += static_cast<double>(one.attributes.size()) / static_cast<double>(domain.size());
  const auto proposals = static_cast<std::uint64_t>(static_cast<double>(settings.proposals) *
                                                    std::min(1.0, 14 / std::max(uses, 1.0)));
  // What can be hoped for, while one waits: the noise of a measured cell, as a share of the rows.
  const std::string fitting =
      fmt::format("fitting (measured cells within {:.2g} % of the rows)",
                  wide.empty() ? 0 : 196 * wide.front().sigma / grouping.rows_estimate);
  const std::size_t fits = context.refit ? context.twins : 1;
  const std::size_t tables = context.twins / fits;  // of each fit
  const double span = 0.95 / static_cast<double>(fits);
  for (std::size_t f = 0; f < fits; ++f) {
    const double from = 0.05 + span * static_cast<double>(f);
    const Inputs inputs =
        context.refit ? with_fresh_noise(fit_one_ways, targets, dice) : Inputs{{}, {}};
    DISCREET_TRY(const Mixture model,
                 Mixture::fit(grouping.domain, grouping.rows_estimate,
                              context.refit ? inputs.one_ways : fit_one_ways,
                              context.refit ? inputs.targets : targets, mixture, context.workers,
                              dice, stage(context, fitting, from, from + 0.75 * span)));
    std::vector<SearchTarget> search(targets.size());
    context.workers.run(targets.size(), [&](std::size_t i) {
      search[i] = {targets[i].attributes, model.marginal(targets[i].attributes)};
      for (float& count : search[i].counts) count *= static_cast<float>(scale);
    });
    for (std::size_t t = 0; t < tables; ++t) {
      CodedTable records = sample_mixture(model, rows, dice);
      const double each = 0.25 * span / static_cast<double>(tables);
      const double begin = from + 0.75 * span + each * static_cast<double>(t);
      DISCREET_TRY_VOID(local_search(records, search, proposals, dice,
                                     stage(context, "searching", begin, begin + each)));
      twin.tables.push_back(refine_groups(records, grouping, domain, dice));
    }
  }
  twin.wide = wide;
  for (const AttributeGroups& groups : grouping.attributes) twin.groups.push_back(groups.members);
  twin.measured = std::move(narrow);
  twin.events = measurements.events();
  twin.notes.push_back(fmt::format(
      "latent: {} marginals measured once{}, noise of standard deviation {:.4g}; {} of {} value "
      "groups; {} classes, {} steps, penalty {:.4g}; {} search proposals",
      shares.size(),
      part.marginals.size() < workload.marginals.size() ? " (a part that covers every pair)" : "",
      std::sqrt(1 / (2 * twin.rho.value()) * static_cast<double>(shares.size())),
      grouping.domain.width(), domain.width(), settings.components, settings.steps, penalty,
      proposals));
  return twin;
}

}  // namespace discreet::synth
