// Tries to refute what synth/ promises. Each defect that was found in published implementations has
// a broken twin here, which the same check must catch.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/exponential.h"
#include "support/seeded_random.h"
#include "synth/marginals.h"
#include "synth/synthesize.h"
#include "synth/zcdp_budget.h"

namespace discreet::synth {
namespace {

ApproxDp target(double epsilon) {
  return {Epsilon::make(epsilon).value(), Delta::make(1e-6).value()};
}

CodedTable random_table(std::size_t rows, std::uint64_t seed) {
  Dice dice(seed, 0);
  CodedTable table{Domain::parse(R"({"a": 4, "b": 4, "c": 4})").value(),
                   std::vector<std::vector<std::uint16_t>>(3)};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto a = dice.below(4);
    for (std::size_t c = 0; c < 3; ++c)
      table.columns[c].push_back(static_cast<std::uint16_t>(dice.unit() < 0.5 ? a : dice.below(4)));
  }
  return table;
}

CodedTable with_row(CodedTable table, std::initializer_list<std::uint16_t> row) {
  std::size_t c = 0;
  for (const std::uint16_t value : row) table.columns[c++].push_back(value);
  return table;
}

// Published defect: one key for every round, so that all rounds add the identical noise. The
// difference of two measurements of one marginal is then exactly zero; with fresh noise its mean
// square is 2 sigma^2. 4,096 cells: the statistic lies within 20 % except with chance below 1e-7.
double mean_square_difference(const std::vector<std::int64_t>& x,
                              const std::vector<std::int64_t>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = static_cast<double>(x[i] - y[i]);
    sum += d * d;
  }
  return sum / static_cast<double>(x.size());
}

TEST(SynthPrivacyTest, EveryRoundDrawsFreshNoise) {
  SeededRandom random(1);
  auto budget = ZcdpBudget::make(target(10)).value();
  const double sigma = 12;
  const std::vector<std::int64_t> exact(4096, 100);
  const auto first = budget.measure(exact, {0}, sigma, random).value();
  const auto second = budget.measure(exact, {0}, sigma, random).value();
  const double fresh = mean_square_difference(first.counts, second.counts) / (2 * sigma * sigma);
  std::cout << "mean square difference over 2 sigma^2: " << fresh << " (0.8 to 1.2)\n";
  EXPECT_GT(fresh, 0.8);
  EXPECT_LT(fresh, 1.2);
  // The broken twin: the noise of round one again.
  std::vector<std::int64_t> reused = exact;
  for (std::size_t i = 0; i < reused.size(); ++i) reused[i] += first.counts[i] - exact[i];
  EXPECT_LT(mean_square_difference(first.counts, reused) / (2 * sigma * sigma), 0.8);
}

// Published defect: each round measures the whole history again but pays for the new queries only.
// Every draw of noise leaves an event, so a run of T rounds of K queries has exactly one for each
// one-way marginal and T K for queries, and their sum is within the budget.
std::map<std::string, int> kinds(const std::vector<LossEvent>& events) {
  std::map<std::string, int> count;
  for (const LossEvent& event : events) {
    if (std::holds_alternative<loss::DiscreteGaussian>(event.kind)) ++count["measure"];
    if (std::holds_alternative<loss::BoundedRange>(event.kind) ||
        std::holds_alternative<loss::Repeated>(event.kind) ||
        std::holds_alternative<loss::Composed>(event.kind))
      ++count["select"];
  }
  return count;
}

TEST(SynthPrivacyTest, RapMeasuresEachQueryOnceAndPaysForIt) {
  const CodedTable table = random_table(2'000, 2);
  Workers workers(1);
  SeededRandom random(3);
  const FitContext context{.workers = workers, .random = random};
  const auto workload = Workload::all(table.domain, 3, 1'000).value();
  RapSettings settings{.rounds = 5, .queries_per_round = 4, .relaxed_rows = 64, .steps = 20};
  settings.proposals = 1'000;
  const Twin twin = fit_rap(table, workload, target(1), settings, context).value();
  const auto count = kinds(twin.events);
  EXPECT_EQ(count.at("measure"), 3 + 5 * 4);
  EXPECT_EQ(count.at("select"), 5);
  double rho = 0;
  for (const LossEvent& event : twin.events)
    if (const auto* noise = std::get_if<loss::DiscreteGaussian>(&event.kind))
      rho += noise->sensitivity * noise->sensitivity / (2 * noise->sigma2);
  const double total = ZcdpBudget::make(target(1)).value().total().value();
  // Half of the adaptive part pays for choices.
  std::cout << "measurements spend " << rho / total << " of the budget (at most 0.56)\n";
  EXPECT_LE(rho, total * 0.56);
  EXPECT_LE(twin.rho.value(), total);
  // The broken twin: round t draws noise for all queries of rounds 1 to t at the same sigma.
  double again = 0;
  for (int t = 1; t <= 5; ++t) again += t * 4 * rho * 0.8 / 20;
  EXPECT_GT(again, total * 0.56);
}

TEST(SynthPrivacyTest, MeasureOnceMethodsMeasureOnce) {
  const CodedTable table = random_table(2'000, 2);
  Workers workers(1);
  SeededRandom random(3);
  const FitContext context{.workers = workers, .random = random};
  const auto workload = Workload::all(table.domain, 2, 1'000).value();
  const Twin twin = fit_latent(table, workload, target(1),
                               {.components = 16, .steps = 20, .proposals = 100}, context)
                        .value();
  EXPECT_EQ(kinds(twin.events).at("measure"), 3 + 3);
}

// Published defect: the exponential mechanism called as if scores were monotone, so that a choice
// costs four times its charge. One row can raise one error and lower another; the odds of two
// candidates then move by e^epsilon at the correct scale and by e^(2 epsilon) at the wrong one.
double odds_shift(const ExponentialMechanism& mechanism, const std::vector<std::int64_t>& scores,
                  const std::vector<std::int64_t>& neighbour, std::uint64_t seed) {
  SeededRandom random(seed);
  const auto odds = [&](const std::vector<std::int64_t>& s) {
    int first = 0;
    constexpr int kTrials = 12'000;
    for (int i = 0; i < kTrials; ++i) first += mechanism.release(s, random).value() == 0;
    return static_cast<double>(first + 0.5) / (kTrials - first + 0.5);
  };
  return std::abs(std::log(odds(neighbour) / odds(scores)));
}

TEST(SynthPrivacyTest, ASelectionMovesTheOddsByAtMostItsCharge) {
  // Errors of two marginals against a model: in the first the new row fills a gap, in the second
  // it falls on an excess.
  const std::vector<std::int64_t> scores = {50, 50}, neighbour = {49, 51};
  const double epsilon = 0.8;
  const auto right =
      ExponentialMechanism::make(Epsilon::make(epsilon).value(), {LInfSensitivity{1}, false})
          .value();
  const auto wrong =
      ExponentialMechanism::make(Epsilon::make(epsilon).value(), {LInfSensitivity{1}, true})
          .value();
  // Each log-odds has a standard error of 0.02; six of the difference are 0.17 (false alarm 1e-8).
  const double kept = odds_shift(right, scores, neighbour, 4);
  const double broken = odds_shift(wrong, scores, neighbour, 5);
  std::cout << "charged " << epsilon << "; odds moved by " << kept << ", broken twin " << broken
            << "\n";
  EXPECT_LE(kept, epsilon + 0.17);
  EXPECT_GT(broken, epsilon + 0.17);
}

// The same through the path AIM takes: tables that differ in one row, scores from exact counts.
TEST(SynthPrivacyTest, AimsSelectionOnNeighbouringTablesStaysWithinItsCharge) {
  const CodedTable one = random_table(60, 6);
  const CodedTable two = with_row(one, {0, 1, 2});
  const double epsilon = 1;
  const auto audited = [&](const CodedTable& table) -> AuditedRun {
    std::vector<std::int64_t> scores;
    for (const Clique& clique : {Clique{0, 1}, Clique{1, 2}, Clique{0, 2}}) {
      std::int64_t distance = 0;
      for (const std::int64_t count : count_marginal(table, clique))
        distance += std::abs(count - 4);
      scores.push_back(distance);
    }
    return [scores, epsilon](RandomSource& random) {
      auto budget = ZcdpBudget::make(target(10)).value();
      return static_cast<std::int64_t>(budget.select(scores, 1, epsilon, random).value());
    };
  };
  SeededRandom random(7);
  const AuditResult found = audit_epsilon(audited(one), audited(two), {.trials = 3'000}, random);
  std::cout << "claimed " << epsilon << ", at least " << found.lower_bound << "\n";
  EXPECT_LE(found.lower_bound, epsilon);
}

// Membership: is the one row with a value that nobody else has in the table? The attacker sees the
// whole twin and counts rows with that value. A twin with next to no noise (the broken one) gives
// the row away.
std::int64_t look_alikes(const CodedTable& table) {
  std::int64_t count = 0;
  for (const std::uint16_t value : table.columns[0]) count += value == 3;
  return count;
}

TEST(SynthPrivacyTest, TheTwinDoesNotGiveAMemberAway) {
  CodedTable one = random_table(200, 8);
  for (std::size_t row = 0; row < one.rows(); ++row)  // nobody else has this value
    if (one.columns[0][row] == 3) one.columns[0][row] = 1;
  const CodedTable two = with_row(one, {3, 0, 3});
  const auto workload = Workload::all(one.domain, 3, 1'000).value();
  const double epsilon = 1;
  const auto audited = [&](const CodedTable& table, double at) -> AuditedRun {
    return [&table, &workload, at](RandomSource& random) {
      static Workers workers(1);
      const FitContext context{.workers = workers, .random = random};
      return look_alikes(fit_latent(table, workload, target(at),
                                    {.components = 8, .steps = 60, .rate = 0.2, .proposals = 500},
                                    context)
                             .value()
                             .tables[0]);
    };
  };
  SeededRandom random(9);
  const AuditOptions options{.trials = 1'500, .confidence = 1 - 1e-7, .delta = 1e-6};
  const auto found = audit_epsilon(audited(one, epsilon), audited(two, epsilon), options, random);
  // The broken twin claims epsilon 1 and adds the noise of epsilon 400.
  const auto broken = audit_epsilon(audited(one, 400), audited(two, 400), options, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "; broken twin at least "
            << broken.lower_bound << "\n";
  EXPECT_LE(found.lower_bound, epsilon);
  EXPECT_GT(broken.lower_bound, epsilon);
}

}  // namespace
}  // namespace discreet::synth
