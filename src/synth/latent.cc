#include "synth/latent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "synth/grouping.h"
#include "synth/records.h"
#include "synth/tree_methods_internal.h"

namespace discreet::synth {

Progress stage(const FitContext& context, std::string_view name, double from, double to) {
  if (!context.progress) return nullptr;
  return [&context, name, from, to](double done) {
    return context.progress(name, from + done * (to - from));
  };
}

LatentSettings LatentSettings::fast() {
  return {.components = 112, .steps = 320, .rate = 0.2, .proposals = 4'000'000};
}

Result<Twin> fit_latent(const CodedTable& table, const Workload& workload, ApproxDp target,
                        const LatentSettings& settings, const FitContext& context) {
  const Domain& domain = table.domain;
  std::vector<Clique> one_ways, wider;
  std::vector<double> weights;
  for (std::uint32_t a = 0; a < domain.size(); ++a) one_ways.push_back({a});
  double weight_sum = 0;
  for (const WeightedClique& marginal : workload.marginals) {
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
  const Grouping grouping = group_values(domain, narrow, settings.group_sigmas);
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
  const double mu = std::sqrt(2 * twin.rho.value());
  Dice dice(context.random);
  const MixtureSettings mixture{.components = settings.components,
                                .steps = settings.steps,
                                .rate = settings.rate,
                                .penalty = settings.penalty * mu,
                                .batch = settings.batch};
  DISCREET_TRY(const Mixture model,
               Mixture::fit(grouping.domain, grouping.rows_estimate, fit_one_ways, targets, mixture,
                            context.workers, dice, stage(context, "fitting", 0.05, 0.75)));
  const std::size_t rows = context.rows_out > 0
                               ? context.rows_out
                               : static_cast<std::size_t>(std::llround(grouping.rows_estimate));
  std::vector<SearchTarget> search(targets.size());
  const double scale = static_cast<double>(rows) / grouping.rows_estimate;
  context.workers.run(targets.size(), [&](std::size_t i) {
    search[i] = {targets[i].attributes, model.marginal(targets[i].attributes)};
    for (float& count : search[i].counts) count *= static_cast<float>(scale);
  });
  // A proposal costs as much as the marginals its attribute is in: the work is bounded, not the
  // number.
  double uses = 0;
  for (const SearchTarget& one : search)
    uses += static_cast<double>(one.attributes.size()) / static_cast<double>(domain.size());
  const auto proposals = static_cast<std::uint64_t>(static_cast<double>(settings.proposals) *
                                                    std::min(1.0, 14 / std::max(uses, 1.0)));
  for (std::size_t t = 0; t < context.twins; ++t) {
    CodedTable records = sample_mixture(model, rows, dice);
    const auto part = 0.25 / static_cast<double>(context.twins);
    DISCREET_TRY_VOID(local_search(records, search, proposals, dice,
                                   stage(context, "searching", 0.75 + part * static_cast<double>(t),
                                         0.75 + part * static_cast<double>(t + 1))));
    twin.tables.push_back(refine_groups(records, grouping, domain, dice));
  }
  twin.measured = std::move(narrow);
  twin.events = measurements.events();
  twin.notes.push_back(fmt::format(
      "latent: {} marginals measured once, noise of standard deviation {:.4g}; {} of {} value "
      "groups; {} classes, {} steps, penalty {:.4g}; {} search proposals",
      shares.size(), std::sqrt(1 / (2 * twin.rho.value()) * static_cast<double>(shares.size())),
      grouping.domain.width(), domain.width(), settings.components, settings.steps,
      settings.penalty * mu, proposals));
  return twin;
}

}  // namespace discreet::synth
