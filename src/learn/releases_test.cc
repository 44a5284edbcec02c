// Attempts to refute what trainers release: shares, sensitivities, canaries; broken twins are
// caught.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "learn/dp_sgd.h"
#include "learn/network.h"
#include "learn/residual.h"
#include "support/seeded_random.h"

namespace discreet::learn {
namespace {

ApproxDp budget(double epsilon, double delta = 1e-5) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}

constexpr std::size_t kColumns = 25;

Coding small_coding() {
  std::vector<synth::ColumnSpec> specs;
  for (std::size_t c = 0; c < kColumns; ++c)
    specs.push_back({"x" + std::to_string(c), synth::CodeColumn{2}});
  specs.push_back({"y", synth::CodeColumn{2}});
  return Coding::make(specs, "y").value();
}

// A few rows of zeros; the canary, if present, is all ones and of class 1.
CodedRows rows_with(bool canary) {
  CodedRows rows;
  rows.rows = canary ? 6 : 5;
  for (std::size_t c = 0; c < kColumns; ++c) {
    rows.columns.emplace_back(5, std::uint16_t{0});
    if (canary) rows.columns.back().push_back(1);
  }
  rows.labels.assign(5, 0);
  if (canary) rows.labels.push_back(1);
  return rows;
}

TEST(GaussianBudgetTest, NeverPaysMoreThanTheWhole) {
  SeededRandom random(1);
  GaussianBudget purse = GaussianBudget::make(budget(1)).value();
  std::vector<std::int64_t> cells(4, 0);
  EXPECT_TRUE(purse.release(cells, 1, 0.7, random).has_value());
  EXPECT_NEAR(purse.left(), 0.3, 1e-12);
  const auto before = cells;
  EXPECT_EQ(purse.release(cells, 1, 0.31, random).error().code, ErrorCode::BudgetExhausted);
  EXPECT_EQ(cells, before);  // a refused release draws nothing
  EXPECT_TRUE(purse.release(cells, 1, 0.3, random).has_value());
  EXPECT_FALSE(purse.release(cells, 1, 0, random).has_value());
  EXPECT_EQ(purse.events().size(), 2u);
  EXPECT_FALSE(GaussianBudget::make(budget(0)).has_value());
  EXPECT_FALSE(GaussianBudget::make({Epsilon::make(1).value(), Delta::zero()}).has_value());
}

TEST(GaussianBudgetTest, NoiseHasTheSpreadThatTheShareCallsFor) {
  SeededRandom random(2);
  GaussianBudget purse = GaussianBudget::make(budget(1)).value();
  std::vector<std::int64_t> cells(40'000, 0);
  const double sigma = purse.release(cells, 100, 0.25, random).value();
  EXPECT_NEAR(sigma, 100 / (purse.mu() * 0.5), 0.01 * sigma);
  double squares = 0;
  for (const auto z : cells) squares += static_cast<double>(z) * static_cast<double>(z);
  const double ratio = squares / 40'000 / (sigma * sigma);
  std::cout << "variance ratio " << ratio << "\n";
  EXPECT_NEAR(ratio, 1, 6 * std::sqrt(2.0 / 40'000));  // false alarm below 1e-8
}

TEST(GaussianBudgetTest, OffDiagonalNoiseIsSmallerByTheRootOfTwo) {
  SeededRandom random(3);
  GaussianBudget purse = GaussianBudget::make(budget(1)).value();
  std::vector<std::int64_t> diagonal(20'000, 0), above(20'000, 0);
  purse.release_symmetric(diagonal, above, 1000, 1, random).value();
  double on = 0, off = 0;
  for (const auto z : diagonal) on += static_cast<double>(z) * static_cast<double>(z);
  for (const auto z : above) off += static_cast<double>(z) * static_cast<double>(z);
  std::cout << "ratio of variances " << on / off << "\n";
  EXPECT_NEAR(on / off, 2, 2 * 6 * std::sqrt(4.0 / 20'000));
}

TEST(ResidualRuleTest, NoScoreGivesMoreThanTheLimit) {
  const ResidualRule two(2, 0.5), many(5, 0.5), broken(2, 0.5, true);
  std::int32_t worst = 0, worst_broken = 0;
  for (std::int32_t score = -(1 << 24); score < (1 << 24); score += 997)
    for (const std::uint16_t label : {std::uint16_t{0}, std::uint16_t{1}}) {
      worst = std::max(worst, std::abs(two.of(score, label)));
      worst_broken = std::max(worst_broken, std::abs(broken.of(score, label)));
    }
  EXPECT_LE(worst, two.limit());
  EXPECT_GT(worst_broken, broken.limit());  // the twin without clipping is caught
  SeededRandom random(4);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<float> scores(5);
    for (float& s : scores) s = static_cast<float>(random.bits64() % 4000) / 100 - 20;
    if (trial % 100 == 0) scores[0] = INFINITY;
    std::vector<std::int32_t> residual(5);
    many.of(scores, static_cast<std::uint16_t>(trial % 5), residual);
    double norm2 = 0;
    for (const auto r : residual) norm2 += static_cast<double>(r) * r;
    EXPECT_LE(std::sqrt(norm2), many.limit());
  }
}

// Calibrated once: an audit makes thousands of copies.
const GaussianBudget kPurse = GaussianBudget::make(budget(2)).value();

// What an attacker who knows everybody else would look at: the canary's own cells.
std::int64_t table_statistic(const CodedRows& rows, double columns_counted, RandomSource& random) {
  const Coding coding = small_coding();
  GaussianBudget purse = kPurse;
  std::int64_t sum = 0;
  if (columns_counted == kColumns) {
    const auto tables = measure_class_tables(rows, coding, purse, 1, random).value();
    for (const auto& counts : tables.counts) sum += std::llround(16 * counts[3]);
    return sum;
  }
  // The twin: the noise of one table for each, as if a row were in one table only.
  std::vector<std::int64_t> cells(kColumns, rows.rows == 6 ? 16 : 0);
  purse.release(cells, 16 * std::sqrt(columns_counted), 1, random).value();
  for (const auto cell : cells) sum += cell;
  return sum;
}

TEST(LearnAuditTest, ACanaryInTheTablesStaysBelowTheClaimAndTheTwinDoesNot) {
  SeededRandom random(5);
  const auto with = rows_with(true), without = rows_with(false);
  const auto audit = [&](double columns) {
    return audit_epsilon([&](RandomSource& r) { return table_statistic(with, columns, r) / 64; },
                         [&](RandomSource& r) { return table_statistic(without, columns, r) / 64; },
                         {.trials = 3000, .confidence = 1 - 1e-7, .delta = 1e-5}, random)
        .lower_bound;
  };
  const double ours = audit(kColumns), twin = audit(1);
  std::cout << "claim 2: audited " << ours << ", twin " << twin << "\n";
  EXPECT_LE(ours, 2);
  EXPECT_GT(twin, 2);
}

// Trains whole models: the canary's weight is what one more row of its kind leaves behind.
TEST(LearnAuditTest, ACanaryInAWholeTrainingRunStaysBelowTheClaim) {
  SeededRandom random(6);
  const Coding coding = small_coding();
  const auto with = rows_with(true), without = rows_with(false);
  const auto run = [&](const CodedRows& rows, RandomSource& r) {
    GaussianBudget purse = kPurse;
    LogisticSettings settings;
    settings.steps_min = 4;
    settings.rows_min = 0;  // or it would not train at all
    const auto trained = train_logistic(rows, coding, purse, r, settings).value();
    double sum = 0;
    for (const auto& weights : trained.model.weights) sum += weights[1] - weights[0];
    return static_cast<std::int64_t>(std::floor(4 * sum));
  };
  const double found =
      audit_epsilon([&](RandomSource& r) { return run(with, r); },
                    [&](RandomSource& r) { return run(without, r); },
                    {.trials = 1200, .confidence = 1 - 1e-7, .delta = 1e-5}, random)
          .lower_bound;
  std::cout << "claim 2: audited " << found << "\n";
  EXPECT_LE(found, 2);
}

TEST(DpSgdTest, ThePlanMeetsItsTargetAndLessNoiseWouldNot) {
  SgdPlan plan = plan_sgd(budget(1), 0.1, 120, 0.3).value();
  std::cout << "noise multiplier " << plan.multiplier << "\n";
  EXPECT_LE(sgd_epsilon(plan, 1e-5).value(), 1);
  plan.multiplier *= 0.97;
  EXPECT_GT(sgd_epsilon(plan, 1e-5).value(), 1);
  EXPECT_FALSE(plan_sgd(budget(1), 0, 10, 0).has_value());
  EXPECT_FALSE(plan_sgd(budget(1), 0.1, 0, 0).has_value());
}

TEST(DpSgdTest, EveryRowTakesPartByItsOwnCoin) {
  SeededRandom random(7);
  const auto batches = PoissonBatches::make(0.2).value();
  const int draws = 400;
  double total = 0, squares = 0;
  for (int i = 0; i < draws; ++i) {
    const auto size = static_cast<double>(batches.draw(1000, random).size());
    total += size / draws;
    squares += size * size / draws;
  }
  // Sizes vary as a binomial's do: mean 200, variance 160. A shuffled batch of fixed size would
  // not.
  std::cout << "mean " << total << ", variance " << squares - total * total << "\n";
  EXPECT_NEAR(total, 200, 6 * std::sqrt(160.0 / draws));
  EXPECT_NEAR(squares - total * total, 160, 6 * 160 * std::sqrt(2.0 / draws));
}

// One full-batch step: how far the canary moves the network, against what its noise hides.
TEST(LearnAuditTest, ANetworkWithoutPerExampleClippingIsCaught) {
  const Coding coding = small_coding();
  const auto audit = [&](bool broken) {
    SeededRandom random(8);
    // Clipping at a fraction of what a row's gradient can be: left out, the canary shows.
    NetworkSettings settings{.hidden = 2,
                             .table_share = 0.01,
                             .check_share = 0,
                             .rate = 1,
                             .steps = 1,
                             .clip = 0.02,
                             .start = 0,
                             .curvature = 1e-9,
                             .rows_min = 0};
    settings.leave_out_clipping = broken;
    const auto run = [&](bool canary, RandomSource& r) {
      const auto trained = train_network(rows_with(canary), coding, budget(1), r, settings).value();
      double sum = 0;
      for (const auto& weights : trained.model.linear.weights) sum += weights[1];
      return static_cast<std::int64_t>(std::floor(40 * sum));
    };
    return audit_epsilon([&](RandomSource& r) { return run(true, r); },
                         [&](RandomSource& r) { return run(false, r); },
                         {.trials = 1200, .confidence = 1 - 1e-7, .delta = 1e-5}, random)
        .lower_bound;
  };
  const double ours = audit(false), twin = audit(true);
  std::cout << "claim 1: audited " << ours << ", without clipping " << twin << "\n";
  EXPECT_LE(ours, 1);
  EXPECT_GT(twin, 1);
}

}  // namespace
}  // namespace discreet::learn
