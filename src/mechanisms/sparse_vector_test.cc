#include "mechanisms/sparse_vector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <type_traits>

#include "mechanisms/query_grid.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}
SparseVectorPlan plan(double epsilon, std::uint64_t answers_max = 1, bool monotone = false,
                      double value_share = 0) {
  return {.epsilon = eps(epsilon),
          .sensitivity = LInfSensitivity{1},
          .answers_max = answers_max,
          .monotone = monotone,
          .value_share = value_share};
}

TEST(SparseVectorTest, RefusesBadPlans) {
  EXPECT_FALSE(SparseVector::make(plan(0)));
  EXPECT_FALSE(SparseVector::make(plan(5e-324)));
  EXPECT_FALSE(SparseVector::make(plan(1, 0)));
  EXPECT_FALSE(
      SparseVector::make(plan(1, std::numeric_limits<std::uint64_t>::max())));  // scale above 2^54
  for (const double share : {-0.1, 1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(SparseVector::make(plan(1, 1, false, share)));
  auto tiny = plan(1);
  tiny.sensitivity = LInfSensitivity::make(5e-324).value();
  EXPECT_FALSE(SparseVector::make(tiny));
  EXPECT_FALSE(SparseVector::for_error(-1, 0.9, 10, plan(1)));
  EXPECT_FALSE(SparseVector::for_error(1, 1, 10, plan(1)));
  EXPECT_FALSE(SparseVector::for_error(1, 0.9, 0, plan(1)));
}

TEST(SparseVectorTest, ARunStopsAtTheLastPaidYes) {
  const auto sparse = SparseVector::make(plan(1e6, 2)).value();
  SeededRandom random(1);
  auto run = sparse.start(100, random);
  EXPECT_FALSE(run.above(99, random).value());
  EXPECT_TRUE(run.above(100, random).value());
  EXPECT_FALSE(run.above(-5, random).value());
  EXPECT_EQ(run.answers_left(), 1u);
  EXPECT_TRUE(run.above(101, random).value());
  EXPECT_EQ(run.answers_left(), 0u);
  EXPECT_EQ(run.above(0, random).error().code, ErrorCode::BudgetExhausted);
  EXPECT_EQ(run.above(1000, random).error().code, ErrorCode::BudgetExhausted);
}

TEST(SparseVectorTest, ARunCannotBeCopiedAndAMovedOneGivesNothing) {
  static_assert(!std::is_copy_constructible_v<SparseVector::Run>);
  static_assert(!std::is_copy_assignable_v<SparseVector::Run>);
  const auto sparse = SparseVector::make(plan(1e6, 2)).value();
  SeededRandom random(2);
  auto run = sparse.start(0, random);
  auto moved = std::move(run);
  EXPECT_FALSE(run.above(5, random));  // NOLINT: the point of the test
  EXPECT_TRUE(moved.above(5, random).value());
}

TEST(SparseVectorTest, NumericSparseMeasuresTheYeses) {
  const auto sparse = SparseVector::make(plan(1e6, 2, false, 0.5)).value();
  SeededRandom random(3);
  auto run = sparse.start(100, random);
  EXPECT_EQ(run.value_above(99, random).value(), std::nullopt);
  EXPECT_EQ(run.value_above(123, random).value(), 123);
  EXPECT_EQ(sparse.value_error_bound(0.95), 0);
  auto plain = SparseVector::make(plan(1, 2))->start(100, random);
  EXPECT_EQ(plain.value_above(123, random).error().code, ErrorCode::InvalidParameter);
}

TEST(SparseVectorTest, ExtremeQuestionsSaturateAndNeverWrap) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max(),
                 kMin = std::numeric_limits<std::int64_t>::min();
  const auto sparse = SparseVector::make(plan(0.1, 3, false, 0.5)).value();
  SeededRandom random(4);
  auto high = sparse.start(kMax, random);
  EXPECT_FALSE(high.above(kMin, random).value());
  auto low = sparse.start(kMin, random);
  EXPECT_GT(low.value_above(kMax, random).value().value(), 0);
}

// The parts of epsilon add up exactly: threshold + 2 c questions + c values, in exact arithmetic.
TEST(SparseVectorTest, ThePartsOfEpsilonAddUpExactly) {
  for (const std::uint64_t c : {1u, 3u, 100u})
    for (const bool monotone : {false, true}) {
      const auto sparse = SparseVector::make(plan(0.3, c, monotone)).value();
      EXPECT_EQ(sparse.threshold_rate() + sparse.question_rate() * c * (monotone ? 1 : 2),
                exact_rational(0.3).value());
      EXPECT_EQ(std::get<loss::SparseVector>(sparse.loss().kind).epsilon, eps(0.3));
      EXPECT_EQ(std::get<loss::SparseVector>(sparse.loss().kind).answers_max, c);
    }
}

// Lyu, Su and Li 2017: the ratio 1 : (2c)^(2/3) gives the least variance; any other split is worse.
TEST(SparseVectorTest, TheSplitHasTheLeastVariance) {
  for (const std::uint64_t c : {1u, 10u, 200u}) {
    const auto sparse = SparseVector::make(plan(1, c)).value();
    const double shifts = 2.0 * static_cast<double>(c);
    const auto variance = [&](double part) {
      return 1 / (part * part) + shifts * shifts / ((1 - part) * (1 - part));
    };
    const double ours = to_double_down(sparse.threshold_rate());
    EXPECT_NEAR(ours, 1 / (1 + std::pow(shifts, 2.0 / 3)), 1e-12);
    EXPECT_LT(variance(ours), variance(ours * 1.01));
    EXPECT_LT(variance(ours), variance(ours * 0.99));
    EXPECT_LT(variance(ours), 0.95 * variance(0.5));
  }
}

TEST(SparseVectorTest, MonotoneQuestionsNeedLessNoise) {
  EXPECT_LT(SparseVector::make(plan(1, 10, true))->error_bound(0.95, 1000),
            0.7 * SparseVector::make(plan(1, 10, false))->error_bound(0.95, 1000));
}

TEST(SparseVectorTest, ErrorBoundIsBelowTheTextbooks) {
  for (const std::uint64_t c : {1u, 5u, 50u})
    for (const std::uint64_t k : {10u, 10'000u}) {
      const auto sparse = SparseVector::make(plan(0.5, c)).value();
      EXPECT_LE(sparse.error_bound(0.95, k), sparse.textbook_error_bound(0.05, k));
    }
  const auto sparse = SparseVector::above_threshold(eps(0.5), LInfSensitivity{2}).value();
  EXPECT_NEAR(sparse.textbook_error_bound(0.05, 100), 8 * (std::log(100) + std::log(40)) * 2 / 0.5,
              1e-9);
  const auto numeric = SparseVector::make(plan(0.5, 3, false, 0.2)).value();
  EXPECT_NEAR(numeric.textbook_error_bound(0.05, 100), 27 * (std::log(100) + std::log(240)) / 0.5,
              1e-9);
}

// 20,000 runs of 40 questions just beyond the bound on either side: wrong answers in at most 10 %
// of the runs, six standard errors, false alarm below 1e-8.
TEST(SparseVectorTest, ErrorBoundHolds) {
  const auto sparse = SparseVector::make(plan(1, 2)).value();
  const auto bound = static_cast<std::int64_t>(sparse.error_bound(0.9, 40));
  SeededRandom random(5);
  constexpr int kRuns = 20'000;
  int wrong = 0;
  for (int i = 0; i < kRuns; ++i) {
    auto run = sparse.start(0, random);
    bool fault = false;
    for (int question = 0; question < 38; ++question)
      fault |= run.above(-bound - 1, random).value_or(false);
    for (int question = 0; question < 2; ++question)
      fault |= !run.above(bound + 1, random).value_or(true);
    wrong += fault;
  }
  std::cout << "bound " << bound << " missed in " << 100.0 * wrong / kRuns
            << " % of runs, 10 % allowed\n";
  EXPECT_LE(1.0 * wrong / kRuns, 0.1 + 6 * std::sqrt(0.09 / kRuns));
  EXPECT_GE(1.0 * wrong / kRuns, 0.01);  // and the bound is not idle
}

TEST(SparseVectorTest, ForErrorIsTheInverseOfErrorBound) {
  for (const double error : {3.0, 50.0, 1e5}) {
    const auto sparse = SparseVector::for_error(error, 0.9, 100, plan(1, 5)).value();
    EXPECT_LE(sparse.error_bound(0.9, 100), error);
    const auto less = SparseVector::make(plan(sparse.plan().epsilon.value() * 0.999, 5)).value();
    EXPECT_GT(less.error_bound(0.9, 100), error);
  }
}

TEST(QueryGridTest, RoundsToTheNearestStepAndSaturates) {
  const auto grid = QueryGrid::make(0.25).value();
  EXPECT_EQ(grid.steps(1.0), 4);
  EXPECT_EQ(grid.steps(1.124), 4);
  EXPECT_EQ(grid.steps(1.125), 5);
  EXPECT_EQ(grid.steps(-1.125), -4);
  EXPECT_EQ(grid.steps(1e300), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(grid.steps(-std::numeric_limits<double>::infinity()),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(grid.steps(std::nan("")), 0);
  EXPECT_EQ(grid.value(-6), -1.5);
}

TEST(QueryGridTest, SensitivityCountsStepsRoundedUp) {
  const auto grid = QueryGrid::make(0.25).value();
  EXPECT_EQ(grid.sensitivity(LInfSensitivity{1})->value(), 4);
  EXPECT_EQ(grid.sensitivity(LInfSensitivity::make(1.01).value())->value(), 5);
  EXPECT_FALSE(grid.sensitivity(LInfSensitivity::make(1e300).value()));
  // Neighbours a whole sensitivity apart never differ by more steps than that.
  for (double value = -2; value < 2; value += 0.0137)
    EXPECT_LE(std::abs(grid.steps(value + 1.01) - grid.steps(value)), 5);
  for (const double bad :
       {0.0, -1.0, 5e-324, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(QueryGrid::make(bad));
}

}  // namespace
}  // namespace discreet
