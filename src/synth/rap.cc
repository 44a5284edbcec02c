#include "synth/rap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synth/grouping.h"
#include "synth/marginals.h"
#include "synth/records.h"
#include "synth/relaxed_rows_internal.h"
#include "synth/tree_methods_internal.h"
#include "synth/zcdp_budget.h"

namespace discreet::synth {
namespace {

struct Query {
  std::uint32_t marginal, cell;
};

MeasuredCell to_cell(const Domain& domain, const Clique& clique, std::uint32_t cell) {
  MeasuredCell measured{clique, std::vector<std::uint16_t>(clique.size()), 0, 1};
  for (std::size_t i = clique.size(); i-- > 0;) {
    measured.values[i] = static_cast<std::uint16_t>(cell % domain[clique[i]].size);
    cell /= domain[clique[i]].size;
  }
  return measured;
}

// Records of the relaxed rows, pulled towards the rows' own answers.
Result<void> emit(const Mixture& model, const Workload& workload, std::uint64_t proposals,
                  const FitContext& context, Dice& dice, Twin& twin) {
  const std::size_t rows = context.rows_out > 0
                               ? context.rows_out
                               : static_cast<std::size_t>(std::llround(twin.rows_estimate));
  std::vector<SearchTarget> search(workload.marginals.size());
  const double scale = static_cast<double>(rows) / twin.rows_estimate;
  context.workers.run(search.size(), [&](std::size_t i) {
    search[i] = {workload.marginals[i].attributes,
                 model.marginal(workload.marginals[i].attributes)};
    for (float& count : search[i].counts) count *= static_cast<float>(scale);
  });
  for (std::size_t t = 0; t < context.twins; ++t) {
    CodedTable records = sample_mixture(model, rows, dice);
    DISCREET_TRY_VOID(
        local_search(records, search, proposals, dice, stage(context, "searching", 0.85, 1)));
    twin.tables.push_back(std::move(records));
  }
  return {};
}

// Algorithm 2's T = 1: every cell of the workload is a query of its own and gets rho / m. Nothing
// is gained from the cells of a marginal being disjoint; that is what fit_once does better.
Result<Twin> fit_once_as_printed(const CodedTable& table, const Workload& workload, ApproxDp target,
                                 const RapSettings& settings, const FitContext& context) {
  const Domain& domain = table.domain;
  std::uint64_t queries = 0;
  for (const WeightedClique& marginal : workload.marginals)
    queries += domain.cells(marginal.attributes);
  DISCREET_TRY(ZcdpBudget budget, ZcdpBudget::make(target));
  const double sigma = std::sqrt(static_cast<double>(queries) / (2 * printed_rho(target)));
  Twin twin;
  twin.rows_estimate = static_cast<double>(table.rows());  // public here
  std::vector<FitTarget> targets;
  for (const WeightedClique& marginal : workload.marginals) {
    const SplitClique split = split_clique(domain, marginal.attributes);
    DISCREET_TRY(const NoisyMarginal noisy,
                 budget.measure(table, split.attributes, sigma, context.random));
    targets.push_back(
        {split.attributes, split.left, {noisy.counts.begin(), noisy.counts.end()}, noisy.sigma});
  }
  DISCREET_TRY(twin.rho, Rho::make(printed_rho(target)));
  twin.events = budget.events();
  std::vector<FitOneWay> nothing_known;
  for (std::size_t a = 0; a < domain.size(); ++a)
    nothing_known.push_back(
        {std::vector<double>(domain[a].size, twin.rows_estimate / domain[a].size),
         std::vector<double>(domain[a].size, 1e3 * twin.rows_estimate)});
  Dice dice(context.random);
  DISCREET_TRY(
      const Mixture model,
      Mixture::fit(domain, twin.rows_estimate, nothing_known, targets,
                   {.components = std::min(settings.relaxed_rows, 400u), .steps = 400, .rate = 0.1},
                   context.workers, dice, stage(context, "projecting", 0.05, 0.85)));
  DISCREET_TRY_VOID(emit(model, workload, settings.proposals, context, dice, twin));
  twin.notes.push_back(
      fmt::format("rap as printed: T = 1, {} cells measured with noise of standard deviation "
                  "{:.4g}; {} relaxed rows; neighbours replace a row",
                  queries, sigma, model.components()));
  return twin;
}

// T = 1: one-way marginals and the whole workload, each measured once.
Result<Twin> fit_once(const CodedTable& table, const Workload& workload, ApproxDp target,
                      const RapSettings& settings, const FitContext& context) {
  const Domain& domain = table.domain;
  std::vector<Clique> one_ways, wider;
  std::vector<std::size_t> lefts;
  for (std::uint32_t a = 0; a < domain.size(); ++a) one_ways.push_back({a});
  std::uint64_t cells = domain.width();
  for (const WeightedClique& marginal : workload.marginals) {
    if (marginal.attributes.size() < 2) continue;
    SplitClique split = split_clique(domain, marginal.attributes);
    cells += domain.cells(split.attributes);
    wider.push_back(std::move(split.attributes));
    lefts.push_back(split.left);
  }
  DISCREET_TRY(
      auto measurements,
      Measurements::make(target, std::vector<double>(one_ways.size() + wider.size(), 1.0), cells));
  Twin twin;
  twin.rho = measurements.rho();
  twin.measured = measurements.measure(table, one_ways, context.workers, context.random);
  const auto wide = measurements.measure(table, wider, context.workers, context.random);
  twin.events = measurements.events();
  const Grouping grouping = group_values(domain, twin.measured, 0);
  twin.rows_estimate = grouping.rows_estimate;
  std::vector<FitOneWay> fit_one_ways;
  for (const NoisyMarginal& one_way : twin.measured)
    fit_one_ways.push_back({{one_way.counts.begin(), one_way.counts.end()},
                            std::vector<double>(one_way.counts.size(), one_way.sigma)});
  std::vector<FitTarget> targets;
  for (std::size_t i = 0; i < wide.size(); ++i)
    targets.push_back({wide[i].attributes,
                       lefts[i],
                       {wide[i].counts.begin(), wide[i].counts.end()},
                       wide[i].sigma});
  Dice dice(context.random);
  DISCREET_TRY(
      const Mixture model,
      Mixture::fit(domain, twin.rows_estimate, fit_one_ways, targets,
                   {.components = std::min(settings.relaxed_rows, 400u), .steps = 400, .rate = 0.1},
                   context.workers, dice, stage(context, "projecting", 0.05, 0.85)));
  DISCREET_TRY_VOID(emit(model, workload, settings.proposals, context, dice, twin));
  twin.notes.push_back(fmt::format("rap: T = 1, {} marginals measured once, {} relaxed rows",
                                   one_ways.size() + wider.size(), model.components()));
  return twin;
}

}  // namespace

double printed_rho(ApproxDp target) {
  const double log_inverse = std::log(1 / target.delta.value());
  const double root = std::sqrt(log_inverse + target.epsilon.value()) - std::sqrt(log_inverse);
  return root * root * (1 - 1e-9);
}

RapPlan rap_plan(double rho, bool adaptive) {
  if (!adaptive) return {1, 0};
  // More queries than the budget can tell from noise only hurt: their number grows with the
  // inverse of the noise.
  const double queries = std::clamp(2000 * std::sqrt(rho), 25.0, 1250.0);
  const double rounds = std::clamp(std::round(std::sqrt(queries / 2)), 2.0, 25.0);
  return {static_cast<std::uint32_t>(rounds),
          static_cast<std::uint32_t>(std::ceil(queries / rounds))};
}

Result<Twin> fit_rap(const CodedTable& table, const Workload& workload, ApproxDp target,
                     const RapSettings& settings, const FitContext& context) {
  const Domain& domain = table.domain;
  if (settings.as_printed && !(target.delta.value() > 0))
    return invalid_parameter("the printed algorithm needs a delta above zero");
  if (settings.rounds <= 1 && settings.queries_per_round == 0)
    return settings.as_printed ? fit_once_as_printed(table, workload, target, settings, context)
                               : fit_once(table, workload, target, settings, context);
  DISCREET_TRY(ZcdpBudget budget, ZcdpBudget::make(target));
  double rho = budget.total().value() * (1 - 1e-9);
  if (settings.as_printed) rho = std::min(rho, printed_rho(target));
  const double one_way_share = settings.as_printed ? 0 : settings.one_way_share;
  RapPlan plan = rap_plan(rho, true);
  if (settings.rounds > 0) plan.rounds = settings.rounds;
  if (settings.queries_per_round > 0) plan.queries_per_round = settings.queries_per_round;

  Twin twin;
  const double one_way_sigma =
      std::sqrt(static_cast<double>(domain.size()) / (2 * one_way_share * rho));
  std::vector<MeasuredCell> cells;
  std::vector<std::vector<double>> chances;
  for (std::uint32_t a = 0; a < domain.size() && !settings.as_printed; ++a) {
    DISCREET_TRY(NoisyMarginal one_way, budget.measure(table, {a}, one_way_sigma, context.random));
    for (std::uint32_t v = 0; v < domain[a].size; ++v)
      cells.push_back({{a},
                       {static_cast<std::uint16_t>(v)},
                       static_cast<double>(one_way.counts[v]),
                       one_way.sigma});
    twin.measured.push_back(std::move(one_way));
  }
  if (settings.as_printed) {
    twin.rows_estimate = static_cast<double>(table.rows());  // public here
    for (std::size_t a = 0; a < domain.size(); ++a)
      chances.emplace_back(domain[a].size, 1.0 / domain[a].size);
  } else {
    const Grouping grouping = group_values(domain, twin.measured, 3);
    twin.rows_estimate = grouping.rows_estimate;
    for (std::size_t a = 0; a < domain.size(); ++a) {
      auto& chance = chances.emplace_back(domain[a].size);
      for (std::size_t v = 0; v < chance.size(); ++v) {
        const std::uint16_t g = grouping.attributes[a].group_of[v];
        chance[v] = std::max(0.0, grouping.attributes[a].count[g]) *
                    grouping.attributes[a].chance[v] / twin.rows_estimate;
      }
    }
  }
  std::vector<Query> queries;
  std::vector<Clique> cliques;
  for (const WeightedClique& marginal : workload.marginals) cliques.push_back(marginal.attributes);
  const auto exact = count_marginals(table, cliques, context.workers);  // private
  for (std::uint32_t m = 0; m < cliques.size(); ++m)
    for (std::uint32_t c = 0; c < exact[m].size(); ++c) queries.push_back({m, c});
  plan.queries_per_round =
      std::min<std::uint32_t>(plan.queries_per_round, static_cast<std::uint32_t>(queries.size()));
  plan.rounds = std::clamp<std::uint32_t>(
      plan.rounds, 1, static_cast<std::uint32_t>(queries.size() / plan.queries_per_round));

  Dice dice(context.random);
  RelaxedRows relaxed(domain, twin.rows_estimate, settings.relaxed_rows, settings.relaxation,
                      chances, dice);
  const double rate = settings.relaxation == Relaxation::Softmax ? 0.1 : 0.02;
  const double round_rho = (1 - one_way_share) * rho / plan.rounds;
  const double epsilon = std::sqrt(4 * round_rho / plan.queries_per_round);
  const double sigma = std::sqrt(plan.queries_per_round / round_rho);
  const Progress progress = stage(context, "choosing and projecting", 0.05, 0.85);
  for (std::uint32_t round = 0; round < plan.rounds; ++round) {
    const Mixture model = relaxed.mixture();
    std::vector<std::vector<float>> answers(cliques.size());
    context.workers.run(cliques.size(),
                        [&](std::size_t m) { answers[m] = model.marginal(cliques[m]); });
    std::vector<std::int64_t> scores(queries.size());
    for (std::size_t q = 0; q < queries.size(); ++q)
      scores[q] = std::abs(exact[queries[q].marginal][queries[q].cell] -
                           std::llround(answers[queries[q].marginal][queries[q].cell]));
    DISCREET_TRY(auto chosen,
                 budget.select_several(scores, 1, epsilon, plan.queries_per_round, context.random));
    for (const std::size_t q : chosen) {
      DISCREET_TRY(
          const NoisyMarginal noisy,
          budget.measure(std::vector<std::int64_t>{exact[queries[q].marginal][queries[q].cell]},
                         cliques[queries[q].marginal], sigma, context.random));
      MeasuredCell cell = to_cell(domain, cliques[queries[q].marginal], queries[q].cell);
      cell.count = static_cast<double>(noisy.counts.front());
      cell.sigma = noisy.sigma;
      cells.push_back(std::move(cell));
    }
    // What was measured is not a candidate again.
    std::sort(chosen.begin(), chosen.end(), std::greater<>());
    for (const std::size_t q : chosen) {
      queries[q] = queries.back();
      queries.pop_back();
    }
    relaxed.project(cells, settings.steps, rate, context.workers);
    if (progress && !progress(static_cast<double>(round + 1) / plan.rounds))
      return Error{ErrorCode::Refused, "stopped before the twin was finished"};
  }
  twin.rho = budget.spent();
  twin.events = budget.events();
  DISCREET_TRY_VOID(emit(relaxed.mixture(), workload, settings.proposals, context, dice, twin));
  twin.notes.push_back(fmt::format(
      "rap{}: {} one-way marginals, then T = {} rounds of K = {} queries ({}), noise of standard "
      "deviation {:.4g}; {} relaxed rows",
      settings.as_printed ? " as printed" : "", settings.as_printed ? 0 : domain.size(),
      plan.rounds, plan.queries_per_round,
      settings.relaxation == Relaxation::Softmax ? "softmax" : "sparsemax", sigma,
      settings.relaxed_rows));
  return twin;
}

}  // namespace discreet::synth
