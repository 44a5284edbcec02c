#include "tables/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "synth/grouping.h"
#include "synth/records.h"

namespace discreet::tables {
namespace {

struct WantedSets {
  std::vector<Attributes>
      largest;                     // that no other wanted set contains: the model is fitted to them
  std::vector<Attributes> others;  // follow from those
};

WantedSets wanted_sets(const Plan& plan) {
  std::vector<Attributes> sets;
  for (const Marginal& marginal : plan.marginals()) sets.push_back(marginal.attributes);
  std::sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  WantedSets wanted;
  for (const Attributes& set : sets) {
    if (set.empty()) continue;
    const bool contained =
        std::any_of(wanted.largest.begin(), wanted.largest.end(), [&](const Attributes& larger) {
          return larger.size() > set.size() &&
                 std::includes(larger.begin(), larger.end(), set.begin(), set.end());
        });
    (!contained && set.size() > 1 ? wanted.largest : wanted.others).push_back(set);
  }
  return wanted;
}

// The mean variance of a cell of groups: sums of cells have errors that hang together, so it is not
// the number of cells times the variance of one.
double grouped_variance(const Plan& plan, const synth::Grouping& grouping,
                        const Attributes& attributes) {
  // Mean squared lengths of groups on the constants and off them.
  std::vector<std::array<double, 2>> lengths;
  for (const std::uint32_t a : attributes) {
    const auto& members = grouping.attributes[a].members;
    const double n = plan.axes()[a].size();
    std::array<double, 2> mean{0, 0};
    for (const auto& group : members) {
      const auto size = static_cast<double>(group.size());
      mean[0] += size / n * size / n / static_cast<double>(members.size());
      mean[1] += size * (1 - size / n) / static_cast<double>(members.size());
    }
    lengths.push_back(mean);
  }
  double sum = 0;
  for (std::uint32_t subset = 0; subset < std::uint32_t{1} << attributes.size(); ++subset) {
    Attributes chosen;
    double weight = 1;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      weight *= lengths[i][subset >> i & 1];
      if (subset >> i & 1) chosen.push_back(attributes[i]);
    }
    const std::vector<std::uint32_t> parts(chosen.size(), 1);
    if (const Space* space = plan.find(chosen, parts)) sum += weight * space->sigma2;
  }
  return sum;
}

// Moves the model's counts towards the estimates as far as their distance is not explained by the
// estimates' noise: what remains of it is the model's own error (empirical Bayes).
void blend(std::vector<float>& model, std::span<const float> estimate, double variance) {
  double distance2 = 0;
  for (std::size_t i = 0; i < model.size(); ++i)
    distance2 += std::pow(static_cast<double>(model[i]) - static_cast<double>(estimate[i]), 2) /
                 static_cast<double>(model.size());
  const double bias2 = std::max(0.0, distance2 - variance);
  const auto share = static_cast<float>(bias2 / std::max(bias2 + variance, 1e-12));
  for (std::size_t i = 0; i < model.size(); ++i) model[i] += share * (estimate[i] - model[i]);
}

// The estimate summed over groups, in the order of `attributes` (which may be any).
std::vector<float> grouped(const Released& released, const synth::Grouping& grouping,
                           const synth::Clique& attributes) {
  Attributes ascending(attributes.begin(), attributes.end());
  std::sort(ascending.begin(), ascending.end());
  const std::vector<double> fine = released.marginal(ascending);
  std::vector<std::size_t> stride(ascending.size());
  std::size_t product = 1;
  for (std::size_t i = attributes.size(); i-- > 0;) {
    const auto at = std::find(ascending.begin(), ascending.end(), attributes[i]);
    stride[static_cast<std::size_t>(at - ascending.begin())] = product;
    product *= grouping.domain[attributes[i]].size;
  }
  std::vector<double> sums(product, 0.0);
  std::vector<std::uint32_t> value(ascending.size(), 0);
  for (const double cell : fine) {
    std::size_t place = 0;
    for (std::size_t i = 0; i < value.size(); ++i)
      place += stride[i] * grouping.attributes[ascending[i]].group_of[value[i]];
    sums[place] += cell;
    for (std::size_t i = value.size(); i-- > 0;) {
      if (++value[i] < released.plan().axes()[ascending[i]].size()) break;
      value[i] = 0;
    }
  }
  return {sums.begin(), sums.end()};
}

}  // namespace

Result<synth::CodedTable> fit_records(const Released& released, std::optional<std::uint64_t> total,
                                      const RecordSettings& settings,
                                      const synth::FitContext& context) {
  const Plan& plan = released.plan();
  std::vector<synth::Attribute> attributes;
  for (const Axis& axis : plan.axes()) attributes.push_back({axis.name(), axis.size()});
  DISCREET_TRY(const synth::Domain domain, synth::Domain::make(std::move(attributes)));

  // One-way estimates; the total is their common sum, so it is known as well as it can be.
  std::vector<synth::NoisyMarginal> one_ways;
  const double released_total = released.total();
  const double rows_wanted =
      total ? static_cast<double>(*total) : std::fmax(1, std::round(released_total));
  for (std::uint32_t a = 0; a < domain.size(); ++a) {
    const std::uint32_t part[] = {1}, attribute[] = {a};
    if (domain[a].size > 1 && !plan.find(attribute, part))
      return invalid_parameter(fmt::format(
          "no released table has attribute '{}'; records need every attribute", domain[a].name));
    synth::NoisyMarginal one{{a}, {}, std::sqrt(plan.variance(Marginal{.attributes = {a}}))};
    for (const double estimate : released.marginal({a}))
      one.counts.push_back(std::llround(estimate));
    one_ways.push_back(std::move(one));
  }
  synth::Grouping grouping = synth::group_values(domain, one_ways, settings.group_sigmas);
  grouping.rows_estimate = rows_wanted;

  std::vector<synth::FitOneWay> fit_one_ways;
  for (const auto& groups : grouping.attributes)
    fit_one_ways.push_back({groups.count, groups.sigma});
  const WantedSets wanted = wanted_sets(plan);
  const std::vector<Attributes>& sets = wanted.largest;
  // Tables overlap and their errors hang together, so they are weighted as if each had its even
  // share of rho: together they then count as much as was paid for.
  const double sigma = std::sqrt(static_cast<double>(sets.size()) / (2 * plan.rho().value()));
  std::vector<synth::FitTarget> targets(sets.size());
  context.workers.run(sets.size(), [&](std::size_t i) {
    auto split = synth::split_clique(grouping.domain, sets[i]);
    targets[i] = {split.attributes, split.left, grouped(released, grouping, split.attributes),
                  sigma};
  });
  const double mu = std::sqrt(2 * plan.rho().value());
  const double penalty = settings.penalty * mu * std::pow(0.18 / mu, 0.05);
  synth::Dice dice(context.random);
  DISCREET_TRY(
      const synth::Mixture model,
      synth::Mixture::fit(grouping.domain, rows_wanted, fit_one_ways, targets,
                          {.components = settings.components,
                           .steps = settings.steps,
                           .rate = settings.rate,
                           .penalty = penalty,
                           .batch = settings.batch},
                          context.workers, dice, synth::stage(context, "fitting", 0.1, 0.8)));
  std::vector<synth::SearchTarget> search(targets.size() + wanted.others.size());
  context.workers.run(search.size(), [&](std::size_t i) {
    const bool fitted = i < targets.size();
    const Attributes& set = fitted ? sets[i] : wanted.others[i - targets.size()];
    const synth::Clique order = fitted ? targets[i].attributes : set;
    search[i] = {order, model.marginal(order)};
    blend(search[i].counts, fitted ? targets[i].counts : grouped(released, grouping, order),
          grouped_variance(plan, grouping, set));
    if (fitted) targets[i].counts = {};
  });
  synth::CodedTable records =
      synth::sample_mixture(model, static_cast<std::size_t>(rows_wanted), dice);
  DISCREET_TRY_VOID(synth::local_search(records, search, settings.proposals, dice,
                                        synth::stage(context, "searching", 0.8, 1)));
  return synth::refine_groups(records, grouping, domain, dice);
}

}  // namespace discreet::tables
