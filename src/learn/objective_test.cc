#include "learn/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "support/seeded_random.h"

namespace discreet::learn {
namespace {

constexpr std::uint32_t kColumns = 9;

ApproxDp budget(double epsilon) {
  return {Epsilon::make(epsilon).value(), Delta::make(1e-5).value()};
}

Coding coding_of(std::uint32_t classes) {
  std::vector<synth::ColumnSpec> specs;
  for (std::uint32_t c = 0; c < kColumns; ++c)
    specs.push_back({"c" + std::to_string(c), synth::CodeColumn{2}, false});
  specs.push_back({"y", synth::CodeColumn{classes}, false});
  return Coding::make(specs, "y").value();
}

// The label follows the first column, but for every tenth row.
CodedRows rows_of(std::size_t count) {
  CodedRows rows;
  rows.rows = count;
  for (std::uint32_t c = 0; c < kColumns; ++c) {
    auto& column = rows.columns.emplace_back();
    for (std::size_t i = 0; i < count; ++i)
      column.push_back(static_cast<std::uint16_t>((i >> (c % 5)) & 1));
  }
  for (std::size_t i = 0; i < count; ++i)
    rows.labels.push_back(static_cast<std::uint16_t>((i & 1) ^ (i % 10 == 0)));
  return rows;
}

TEST(ObjectiveTest, ThePlanMeetsItsTargetAndALargerMuWouldNot) {
  for (const double epsilon : {0.1, 1.0, 10.0}) {
    ObjectivePlan plan = plan_objective(budget(epsilon), 0.1).value();
    std::cout << "epsilon " << epsilon << ": mu " << plan.mu << "\n";
    EXPECT_LE(objective_delta(plan, epsilon), 1e-5);
    plan.mu *= 1.01;
    EXPECT_GT(objective_delta(plan, epsilon), 1e-5);
  }
  EXPECT_FALSE(plan_objective(budget(0), 0.1));
}

TEST(ObjectiveTest, ItLearnsWhatThereIsToLearnAndRefusesThreeClasses) {
  SeededRandom random(1);
  const Coding coding = coding_of(2);
  const auto rows = rows_of(4000);
  const auto trained = train_objective(rows, coding, budget(1), random).value();
  std::vector<double> score(1);
  std::size_t right = 0;
  for (std::size_t row = 0; row < rows.rows; ++row) {
    trained.model.score(rows, row, score);
    right += class_of(score) == rows.labels[row];
  }
  for (const auto& note : trained.notes.notes) std::cout << note << "\n";
  EXPECT_GT(right, 3500U);
  EXPECT_FALSE(trained.notes.majority);
  EXPECT_EQ(train_objective(rows, coding_of(3), budget(1), random).error().code,
            ErrorCode::Refused);
}

TEST(ObjectiveTest, TooFewRowsMakeItGiveUp) {
  SeededRandom random(2);
  const auto trained = train_objective(rows_of(40), coding_of(2), budget(0.1), random).value();
  EXPECT_TRUE(trained.notes.majority);
}

// A canary in a table of many columns and nothing else: its slope is half a unit in each.
TEST(ObjectiveTest, ACanaryStaysBelowTheClaimAndNoiseForOneColumnIsCaught) {
  constexpr std::size_t kMany = 144;
  std::vector<synth::ColumnSpec> specs;
  for (std::size_t c = 0; c < kMany; ++c)
    specs.push_back({"c" + std::to_string(c), synth::CodeColumn{1}, false});
  specs.push_back({"y", synth::CodeColumn{2}, false});
  const Coding coding = Coding::make(specs, "y").value();
  const auto audit = [&](bool broken) {
    SeededRandom random(3);
    // Little else is spent, so that the objective's own noise is what is audited.
    const ObjectiveSettings settings{.table_share = 0.01,
                                     .check_share = 0,
                                     .start = 0,
                                     .rows_min = 0,
                                     .one_column_noise = broken};
    const auto run = [&](bool canary, RandomSource& r) {
      CodedRows rows;
      rows.rows = canary ? 1 : 0;
      rows.columns.assign(kMany, std::vector<std::uint16_t>(rows.rows, 0));
      rows.labels.assign(rows.rows, 1);
      const auto trained = train_objective(rows, coding, budget(2), r, settings).value();
      double sum = 0;
      for (const auto& weights : trained.model.weights) sum += weights[0];
      return static_cast<std::int64_t>(std::floor(50 * sum));
    };
    return audit_epsilon([&](RandomSource& r) { return run(true, r); },
                         [&](RandomSource& r) { return run(false, r); },
                         {.trials = 1500, .confidence = 1 - 1e-7, .delta = 1e-5}, random)
        .lower_bound;
  };
  const double ours = audit(false), twin = audit(true);
  std::cout << "claim 2: audited " << ours << ", noise for one column " << twin << "\n";
  EXPECT_LE(ours, 2);
  EXPECT_GT(twin, 2);
}

}  // namespace
}  // namespace discreet::learn
