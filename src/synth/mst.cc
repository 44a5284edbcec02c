#include "synth/mst.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synth/marginals.h"
#include "synth/tree_methods_internal.h"
#include "synth/zcdp_budget.h"

namespace discreet::synth {

Result<Twin> fit_mst(const CodedTable& table, const Workload& workload, ApproxDp target,
                     const FitContext& context) {
  static_cast<void>(workload);  // MST looks at all pairs
  const Domain& domain = table.domain;
  const auto d = static_cast<double>(domain.size());
  DISCREET_TRY(ZcdpBudget budget, ZcdpBudget::make(target));
  const double third = budget.total().value() * (1 - 1e-9) / 3;
  Twin twin;
  for (std::uint32_t a = 0; a < domain.size(); ++a) {
    DISCREET_TRY(NoisyMarginal one_way,
                 budget.measure(table, {a}, std::sqrt(d / (2 * third)), context.random));
    twin.measured.push_back(std::move(one_way));
  }
  const Grouping grouping = group_values(domain, twin.measured, 3);
  twin.rows_estimate = grouping.rows_estimate;
  const CodedTable coarse = grouping.coarsen(table);
  std::vector<ModelMeasurement> measurements;
  std::vector<Clique> cliques;
  std::vector<std::vector<double>> shares(domain.size());
  for (std::uint32_t a = 0; a < domain.size(); ++a) {
    double variance = 0, sum = 0;
    for (const double s : grouping.attributes[a].sigma)
      variance += s * s / static_cast<double>(grouping.attributes[a].sigma.size());
    for (const double count : grouping.attributes[a].count) sum += std::max(0.0, count);
    for (const double count : grouping.attributes[a].count)
      shares[a].push_back(sum > 0 ? std::max(0.0, count) / sum : 0);
    measurements.push_back({{a}, grouping.attributes[a].count, std::sqrt(variance)});
    cliques.push_back({a});
  }
  struct Pair {
    Clique attributes;
    std::vector<std::int64_t> exact;  // private
    std::int64_t distance = 0;        // private: L1 from the product of the noisy one-ways
  };
  std::vector<Pair> pairs;
  for (std::uint32_t a = 0; a < domain.size(); ++a)
    for (std::uint32_t b = a + 1; b < domain.size(); ++b) pairs.push_back({{a, b}, {}, 0});
  context.workers.run(pairs.size(), [&](std::size_t i) {
    Pair& pair = pairs[i];
    pair.exact = count_marginal(coarse, pair.attributes);
    const auto& x = shares[pair.attributes[0]];
    const auto& y = shares[pair.attributes[1]];
    for (std::size_t c = 0; c < pair.exact.size(); ++c)
      pair.distance += std::abs(
          pair.exact[c] - std::llround(grouping.rows_estimate * x[c / y.size()] * y[c % y.size()]));
  });
  // Kruskal with noise: each time one of the pairs that join two parts.
  std::vector<std::uint32_t> part(domain.size());
  std::iota(part.begin(), part.end(), 0u);
  const double epsilon = std::sqrt(8 * third / std::max(1.0, d - 1));
  const double sigma = std::sqrt(std::max(1.0, d - 1) / (2 * third));
  std::vector<std::size_t> tree;
  for (std::size_t edge = 0; edge + 1 < domain.size(); ++edge) {
    std::vector<std::size_t> joining;
    std::vector<std::int64_t> scores;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (part[pairs[i].attributes[0]] == part[pairs[i].attributes[1]]) continue;
      joining.push_back(i);
      scores.push_back(pairs[i].distance);
    }
    DISCREET_TRY(const std::size_t chosen, budget.select(scores, 1, epsilon, context.random));
    const Pair& pair = pairs[joining[chosen]];
    tree.push_back(joining[chosen]);
    const std::uint32_t from = part[pair.attributes[0]], to = part[pair.attributes[1]];
    for (auto& p : part)
      if (p == from) p = to;
  }
  for (const std::size_t i : tree) {
    DISCREET_TRY(const NoisyMarginal noisy,
                 budget.measure(pairs[i].exact, pairs[i].attributes, sigma, context.random));
    measurements.push_back(to_measurement(noisy));
    twin.wide.push_back(noisy);
    cliques.push_back(pairs[i].attributes);
  }
  GraphicalModel model(grouping.domain, grouping.rows_estimate,
                       JunctionTree::make(grouping.domain, cliques));
  if (context.progress && !context.progress("fitting", 0.2))
    return Error{ErrorCode::Refused, "stopped before the twin was finished"};
  model.fit(measurements, 10'000, 1e-7);
  Dice dice(context.random);
  twin.rho = budget.spent();
  twin.events = budget.events();
  emit_tables(model, grouping, domain, context, dice, twin);
  for (const AttributeGroups& groups : grouping.attributes) twin.groups.push_back(groups.members);
  twin.notes.push_back(
      fmt::format("mst: {} pairs measured with noise of standard deviation {:.4g}; {} of {} value "
                  "groups",
                  tree.size(), sigma, grouping.domain.width(), domain.width()));
  return twin;
}

}  // namespace discreet::synth
