// Whole twins: near the table when the budget is large, the same for a seed whatever the threads,
// never beyond what was paid.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/seeded_random.h"
#include "synth/score.h"
#include "synth/synthesize.h"
#include "synth/zcdp_budget.h"

namespace discreet::synth {
namespace {

CodedTable people(std::size_t rows) {
  Dice dice(20261115, 0);
  CodedTable table{Domain::parse(R"({"age": 12, "job": 6, "pay": 8, "sex": 2, "car": 3})").value(),
                   std::vector<std::vector<std::uint16_t>>(5)};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto age = static_cast<std::uint64_t>(12 * std::pow(dice.unit(), 1.5));
    const auto job = dice.unit() < 0.7 ? age / 2 : dice.below(6);
    const auto pay = std::min<std::uint64_t>(7, job + dice.below(3));
    const auto sex = dice.unit() < (job > 2 ? 0.7 : 0.4) ? 1u : 0u;
    const auto car = dice.unit() < 0.8 ? pay / 3 : dice.below(3);
    const std::uint64_t values[] = {age, job, pay, sex, car};
    for (std::size_t c = 0; c < 5; ++c)
      table.columns[c].push_back(static_cast<std::uint16_t>(values[c]));
  }
  return table;
}

ApproxDp target(double epsilon) {
  return {Epsilon::make(epsilon).value(), Delta::make(1e-9).value()};
}

SynthesisSettings settings(Method method) {
  SynthesisSettings out{.method = method};
  out.latent = {.components = 48, .steps = 250, .rate = 0.2, .proposals = 400'000};
  out.rap.proposals = 400'000;
  out.rap.relaxed_rows = 128;
  return out;
}

Twin make(const CodedTable& table, Method method, double epsilon, std::uint64_t seed,
          std::size_t threads = 1) {
  Workers workers(threads);
  SeededRandom random(seed);
  const FitContext context{.workers = workers, .random = random};
  return synthesize(table, Workload::all(table.domain, 3, 10'000).value(), target(epsilon),
                    settings(method), context)
      .value();
}

class EveryMethod : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod,
                         testing::Values(Method::Latent, Method::Aim, Method::Mst, Method::Rap,
                                         Method::Independent),
                         [](const auto& method) { return std::string(name(method.param)); });

TEST_P(EveryMethod, IsNearTheTableWhenTheBudgetIsLarge) {
  const CodedTable table = people(8'000);
  const Twin twin = make(table, GetParam(), 20, 1);
  Workers workers(1);
  const auto pairs = Workload::all(table.domain, 2, 10'000).value();
  const Score score = score_twin(table, twin.tables[0], pairs, workers);
  const double wanted = GetParam() == Method::Independent ? 0.35
                        : GetParam() == Method::Mst       ? 0.15
                                                          : 0.06;
  std::printf("%s: max %.4f tvd %.4f\n", name(GetParam()), score.max_error, score.mean_tvd);
  EXPECT_LT(score.mean_tvd, wanted);
  EXPECT_NEAR(twin.rows_estimate, 8'000, 40);
}

TEST_P(EveryMethod, IsTheSameForASeedWhateverTheThreads) {
  const CodedTable table = people(3'000);
  const Twin one = make(table, GetParam(), 1, 7, 1);
  EXPECT_EQ(one.tables[0].columns, make(table, GetParam(), 1, 7, 3).tables[0].columns);
  EXPECT_NE(one.tables[0].columns, make(table, GetParam(), 1, 8, 1).tables[0].columns);
}

TEST_P(EveryMethod, SpendsNoMoreThanItWasGiven) {
  const CodedTable table = people(2'000);
  for (const double epsilon : {0.1, 1.0}) {
    const Twin twin = make(table, GetParam(), epsilon, 3);
    // The analytic Gaussian lets measure-once methods spend slightly more rho than plain zCDP.
    const double rho = ZcdpBudget::make(target(epsilon)).value().total().value();
    EXPECT_LE(twin.rho.value(), rho * 1.25);
    EXPECT_GE(twin.rho.value(), rho * 0.5);
  }
}

TEST_P(EveryMethod, StopsWhenItIsToldTo) {
  const CodedTable table = people(1'000);
  Workers workers(1);
  SeededRandom random(1);
  const FitContext context{.workers = workers,
                           .random = random,
                           .progress = [](std::string_view, double) { return false; }};
  const auto twin = synthesize(table, Workload::all(table.domain, 3, 10'000).value(), target(1),
                               settings(GetParam()), context);
  if (GetParam() == Method::Independent) return;  // over before it can be asked
  ASSERT_FALSE(twin);
  EXPECT_EQ(twin.error().code, ErrorCode::Refused);
}

TEST_P(EveryMethod, TakesTablesOfOneRowAndOfNone) {
  for (const std::size_t rows : {0u, 1u}) {
    const Twin twin = make(people(rows), GetParam(), 1, 5);
    EXPECT_EQ(twin.tables[0].columns.size(), 5u);
    EXPECT_GE(twin.tables[0].rows(), 1u);
  }
}

TEST(SynthesizeTest, SeveralTwinsDifferAndShareOnePrice) {
  const CodedTable table = people(2'000);
  Workers workers(1);
  SeededRandom random(1);
  const FitContext context{.workers = workers, .random = random, .rows_out = 500, .twins = 3};
  const auto twin = synthesize(table, Workload::all(table.domain, 2, 10'000).value(), target(1),
                               settings(Method::Latent), context)
                        .value();
  ASSERT_EQ(twin.tables.size(), 3u);
  EXPECT_EQ(twin.tables[1].rows(), 500u);
  EXPECT_NE(twin.tables[0].columns, twin.tables[1].columns);
}

// Over 2,000 cells; more than 7 % of misses, or fewer than 3 %, would be five standard errors off.
TEST(SynthesizeTest, MeasuredMarginalsAreShippedWithIntervalsThatHold) {
  const CodedTable table = people(6'000);
  for (const Method method : {Method::Latent, Method::Aim, Method::Mst}) {
    std::size_t cells = 0, missed = 0;
    for (std::uint64_t seed = 1; cells < 2'000; ++seed) {
      const Twin twin = make(table, method, 1, seed);
      ASSERT_FALSE(twin.wide.empty()) << name(method);
      ASSERT_EQ(twin.groups.size(), table.domain.size());
      std::vector<std::vector<std::uint16_t>> group_of;
      for (std::size_t a = 0; a < table.domain.size(); ++a) {
        group_of.emplace_back(table.domain[a].size);
        for (std::size_t g = 0; g < twin.groups[a].size(); ++g)
          for (const std::uint16_t value : twin.groups[a][g])
            group_of[a][value] = static_cast<std::uint16_t>(g);
      }
      for (const NoisyMarginal& marginal : twin.wide) {
        std::vector<std::int64_t> exact(marginal.counts.size());
        for (std::size_t row = 0; row < table.rows(); ++row) {
          std::size_t cell = 0;
          for (const std::uint32_t a : marginal.attributes)
            cell = cell * twin.groups[a].size() + group_of[a][table.columns[a][row]];
          ++exact[cell];
        }
        for (std::size_t c = 0; c < exact.size(); ++c)
          missed += std::fabs(static_cast<double>(marginal.counts[c] - exact[c])) >
                    1.959964 * marginal.sigma;
        cells += exact.size();
      }
    }
    const double share = static_cast<double>(missed) / static_cast<double>(cells);
    std::printf("%s: %zu of %zu cells outside\n", name(method), missed, cells);
    EXPECT_LT(share, 0.05 + 5 * std::sqrt(0.0475 / static_cast<double>(cells))) << name(method);
    EXPECT_GT(share, 0.05 - 5 * std::sqrt(0.0475 / static_cast<double>(cells))) << name(method);
  }
}

TEST(SynthesizeTest, TwinsFittedAnewSpreadAsTheNoiseDoes) {
  const CodedTable table = people(6'000);
  const Workload workload = Workload::all(table.domain, 3, 10'000).value();
  Workers workers(1);
  // How far apart two twins are in the counts of one column, in rows.
  const auto distance = [&](bool refit) {
    SeededRandom random(5);
    const FitContext context{
        .workers = workers, .random = random, .rows_out = 6'000, .twins = 4, .refit = refit};
    const Twin twin =
        synthesize(table, workload, target(0.3), settings(Method::Latent), context).value();
    EXPECT_EQ(twin.tables.size(), 4U);
    double sum = 0;
    for (std::size_t t = 1; t < twin.tables.size(); ++t)
      for (std::uint16_t v = 0; v < 6; ++v)
        sum += std::fabs(static_cast<double>(
            std::count(twin.tables[t].columns[1].begin(), twin.tables[t].columns[1].end(), v) -
            std::count(twin.tables[0].columns[1].begin(), twin.tables[0].columns[1].end(), v)));
    return sum;
  };
  const double same = distance(false), anew = distance(true);
  std::printf("one fit %.0f, fits of their own %.0f\n", same, anew);
  EXPECT_GT(anew, 3 * same);
  SeededRandom random(6);
  const FitContext context{.workers = workers, .random = random, .twins = 2, .refit = true};
  EXPECT_FALSE(synthesize(table, workload, target(1), settings(Method::Mst), context));
}

// Rubin's rules over refitted twins: 95 % intervals for the population's mean of one column among
// the rows of another. 100 data sets hold the truth in 80 or more except with chance below 1e-6
// (21 misses where 5 are expected). Twins of one fit, the broken way, miss far more often.
TEST(SynthesizeTest, RubinsRulesHoldForTwinsFittedAnew) {
  constexpr int kSets = 100;
  constexpr double kTruth = 0.6;  // of b among rows with a
  Workers workers(1);
  Dice dice(3, 0);
  auto wanted = settings(Method::Latent);
  wanted.latent.components = 16;
  wanted.latent.steps = 200;
  wanted.latent.proposals = 10'000;
  int held[2] = {0, 0};
  for (int set = 0; set < kSets; ++set) {
    CodedTable table{Domain::parse(R"({"a": 2, "b": 2})").value(), {{}, {}}};
    for (int i = 0; i < 800; ++i) {
      const bool a = dice.unit() < 0.4;
      table.columns[0].push_back(a ? 1 : 0);
      table.columns[1].push_back(dice.unit() < (a ? kTruth : 0.2) ? 1 : 0);
    }
    const Workload workload = Workload::all(table.domain, 2, 100).value();
    for (const bool refit : {false, true}) {
      SeededRandom random(static_cast<std::uint64_t>(set) + 1);
      const FitContext context{.workers = workers, .random = random, .twins = 5, .refit = refit};
      const Twin twin = synthesize(table, workload, target(0.5), wanted, context).value();
      double mean = 0, within = 0, between = 0;
      std::vector<double> answers;
      for (const CodedTable& one : twin.tables) {
        double rows = 0, sum = 0;
        for (std::size_t r = 0; r < one.rows(); ++r) {
          rows += one.columns[0][r];
          sum += one.columns[0][r] * one.columns[1][r];
        }
        const double share = sum / std::max(rows, 1.0);
        answers.push_back(share);
        mean += share / 5;
        within += share * (1 - share) / std::max(rows, 1.0) / 5;
      }
      for (const double answer : answers) between += (answer - mean) * (answer - mean) / 4;
      // 2.78: Student's t at four degrees of freedom, the fewest that Rubin's formula gives.
      const double spread = 1.2 * between;
      const double freedom = 4 * std::pow(1 + within / std::max(spread, 1e-12), 2);
      const double t = freedom < 10 ? 2.78 - 0.09 * (freedom - 4) : 1.96 + 2.4 / freedom;
      held[refit ? 1 : 0] += std::abs(mean - kTruth) <= t * std::sqrt(within + spread) ? 1 : 0;
    }
  }
  std::printf("held by %d of %d, by twins of one fit %d\n", held[1], kSets, held[0]);
  EXPECT_GE(held[1], 80);
  EXPECT_LT(held[0], held[1] - 5);
}

TEST(SynthesizeTest, SparsemaxAndAdaptiveRoundsWork) {
  const CodedTable table = people(4'000);
  for (const Relaxation relaxation : {Relaxation::Softmax, Relaxation::Sparsemax}) {
    Workers workers(1);
    SeededRandom random(2);
    const FitContext context{.workers = workers, .random = random};
    auto wanted = settings(Method::Rap);
    wanted.rap.rounds = 4;
    wanted.rap.queries_per_round = 10;
    wanted.rap.relaxation = relaxation;
    wanted.rap.steps = 120;
    const auto workload = Workload::all(table.domain, 3, 10'000).value();
    const auto twin = synthesize(table, workload, target(5), wanted, context).value();
    const Score score = score_twin(table, twin.tables[0], workload, workers);
    const Twin alone = make(table, Method::Independent, 5, 2);
    std::printf("adaptive: max %.4f, independent %.4f\n", score.max_error,
                score_twin(table, alone.tables[0], workload, workers).max_error);
    EXPECT_LT(score.max_error,
              0.7 * score_twin(table, alone.tables[0], workload, workers).max_error);
  }
}

TEST(MeasurementsTest, RefusesWhatWasNotPaidFor) {
  const CodedTable table = people(100);
  auto measurements = Measurements::make(target(1), {1, 1}, 20).value();
  Workers workers(1);
  SeededRandom random(1);
  const std::vector<Clique> both = {{0}, {1}};
  measurements.measure(table, both, workers, random);
  EXPECT_EQ(measurements.left(), 0u);
  EXPECT_THROW(measurements.measure(table, {both.data(), 1}, workers, random), InvariantViolation);
  EXPECT_FALSE(Measurements::make(target(1), {}, 20));
  EXPECT_FALSE(Measurements::make(target(1), {1, -1}, 20));
}

TEST(ZcdpBudgetTest, RefusesTheStepThatDoesNotFit) {
  const CodedTable table = people(100);
  auto budget = ZcdpBudget::make(target(1)).value();
  SeededRandom random(1);
  const double sigma = std::sqrt(1 / (2 * budget.total().value())) * 1.001;
  ASSERT_TRUE(budget.measure(table, {0}, sigma, random));
  EXPECT_FALSE(budget.measure(table, {0}, sigma, random));
  const std::vector<std::int64_t> scores = {1, 2, 3};
  EXPECT_FALSE(budget.select(scores, 1, 0.5, random));
  EXPECT_FALSE(budget.select_several(scores, 1, 0.5, 2, random));
  EXPECT_EQ(budget.events().size(), 1u);
}

}  // namespace
}  // namespace discreet::synth
