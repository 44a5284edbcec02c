// Algorithm 2 as printed: how the budget is split, and that the twin is of the public size.
#include "synth/rap.h"

#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "support/seeded_random.h"

namespace discreet::synth {
namespace {

CodedTable correlated(std::size_t rows) {
  CodedTable table{Domain::parse(R"({"a": 3, "b": 3, "c": 2})").value(), {{}, {}, {}}};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto a = static_cast<std::uint16_t>(i % 3);
    table.columns[0].push_back(a);
    table.columns[1].push_back(i % 7 == 0 ? static_cast<std::uint16_t>((a + 1) % 3) : a);
    table.columns[2].push_back(static_cast<std::uint16_t>(i % 5 == 0));
  }
  return table;
}

ApproxDp target() {
  return {Epsilon::make(1).value(), Delta::make(1e-9).value()};
}

Workload pairs() {
  return {{{{0, 1}, 1}, {{1, 2}, 1}}};
}

TEST(RapAsPrintedTest, RhoSolvesThePrintedLine) {
  const double rho = printed_rho(target());
  EXPECT_NEAR(rho + 2 * std::sqrt(rho * std::log(1e9)), 1, 1e-6);
}

TEST(RapAsPrintedTest, ChoicesAndMeasurementsGetHalfOfTheBudgetEach) {
  SeededRandom random(20261130);
  Workers workers(1);
  const FitContext context{.workers = workers, .random = random};
  RapSettings settings{.rounds = 2, .queries_per_round = 3};
  settings.as_printed = true;
  settings.relaxed_rows = 50;
  settings.steps = 50;
  settings.proposals = 10'000;
  const Twin twin = fit_rap(correlated(3000), pairs(), target(), settings, context).value();
  const double rho = printed_rho(target());
  EXPECT_LE(twin.rho.value(), rho);
  EXPECT_GT(twin.rho.value(), 0.999 * rho);
  EXPECT_EQ(twin.rows_estimate, 3000);
  // Two rounds: one choice of three, and three measurements of one cell.
  EXPECT_EQ(twin.events.size(), 2U * (1 + 3));
}

TEST(RapAsPrintedTest, OneRoundGivesEveryCellItsShareOfTheBudget) {
  SeededRandom random(20261201);
  Workers workers(1);
  const FitContext context{.workers = workers, .random = random};
  RapSettings settings;
  settings.as_printed = true;
  settings.relaxed_rows = 50;
  settings.proposals = 10'000;
  const Twin twin = fit_rap(correlated(3000), pairs(), target(), settings, context).value();
  EXPECT_EQ(twin.rows_estimate, 3000);
  EXPECT_EQ(twin.tables.front().rows(), 3000U);
  // 9 + 6 cells share rho equally, so sigma^2 = 15 / (2 rho).
  const double sigma = std::sqrt(15 / (2 * printed_rho(target())));
  ASSERT_EQ(twin.notes.size(), 1U);
  EXPECT_NE(twin.notes.front().find(
                fmt::format("15 cells measured with noise of standard deviation {:.4g}", sigma)),
            std::string::npos)
      << twin.notes.front();
}

}  // namespace
}  // namespace discreet::synth
