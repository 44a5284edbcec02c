#include "learn/thresholdout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "learn/forking_paths.h"
#include "learn/holdout_question.h"
#include "support/seeded_random.h"

namespace discreet::learn {
namespace {

TEST(ThresholdoutTest, ForkingPathsFoolAPlainHoldoutAndNotThisOne) {
  SeededRandom random(1);
  const ForkingPathsOptions options{
      .rows = 6000, .attributes = 1000, .picks = {50, 150}, .answers_max = 4, .threshold = 0.05};
  const auto paths = walk_forking_paths(options, random).value();
  for (const auto& step : paths.plain) {
    std::cout << "plain: holdout " << step.holdout << ", fresh " << step.fresh << "\n";
    EXPECT_GT(step.holdout, 0.55);  // overfit
    EXPECT_NEAR(step.fresh, 0.5, 6 * 0.5 / std::sqrt(6000.0));
  }
  for (const auto& step : paths.reusable) {
    std::cout << "reusable: training " << step.training << ", holdout " << step.holdout
              << ", fresh " << step.fresh << "\n";
    EXPECT_GT(step.training, 0.57);
    EXPECT_NEAR(step.holdout, 0.5, 0.04);
  }
  EXPECT_LE(paths.paid, options.answers_max);
}

TEST(ThresholdoutTest, AgreementIsFreeAndDisagreementRunsOut) {
  SeededRandom random(2);
  const std::vector<double> ones(5000, 1), zeros(5000, 0);
  auto guard = Thresholdout::make({.epsilon = Epsilon::make(1).value(),
                                   .answers_max = 3,
                                   .threshold = 0.1,
                                   .holdout_rows = 5000},
                                  random)
                   .value();
  for (int i = 0; i < 200; ++i) {
    const auto answer = guard.ask(ones, ones, random).value();
    EXPECT_FALSE(answer.from_holdout);
    EXPECT_EQ(answer.mean, 1);
  }
  EXPECT_EQ(guard.answers_left(), 3u);
  for (int i = 0; i < 3; ++i) {
    const auto answer = guard.ask(ones, zeros, random).value();
    EXPECT_TRUE(answer.from_holdout);
    EXPECT_NEAR(answer.mean, 0, 0.05);
  }
  EXPECT_EQ(guard.ask(ones, ones, random).error().code, ErrorCode::BudgetExhausted);
  EXPECT_FALSE(guard.ask(ones, std::vector<double>(3, 0), random).has_value());
}

TEST(ThresholdoutTest, TheBoundShrinksWithRowsAndGrowsWithQuestions) {
  const Epsilon small = Epsilon::make(0.01).value();
  EXPECT_LT(generalisation_error(1'000'000, small, 1000, 0.05),
            generalisation_error(10'000, small, 1000, 0.05));
  EXPECT_LT(generalisation_error(10'000, small, 10, 0.05),
            generalisation_error(10'000, small, 10'000, 0.05));
  EXPECT_LT(generalisation_error(100'000, small, 1000, 0.05), 0.02);
  EXPECT_FALSE(
      Thresholdout::make({.epsilon = small, .holdout_rows = 0}, *std::make_unique<SeededRandom>(3))
          .has_value());
}

TEST(HoldoutQuestionTest, TextsBecomeAnswersForEachRow) {
  const auto specs = synth::parse_specs(R"({"age": 101, "sex": 2})").value();
  const auto table = synth::parse_csv("age,sex\n50,1\n100,0\n0,1\n").value();
  const auto no_files = [](const std::string&) -> Result<std::string> {
    return Error{ErrorCode::NotFound, "no file"};
  };
  const auto ask = [&](const std::string& line) {
    return HoldoutQuestion::parse(line, specs, no_files).value().answers(table).value();
  };
  EXPECT_EQ(ask("mean age"), (std::vector<double>{0.5, 1, 0}));
  EXPECT_EQ(ask("share sex=1"), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(ask("share sex=1 age=50"), (std::vector<double>{1, 0, 0}));
  for (const char* bad :
       {"", "mean", "mean height", "share sex", "share", "model none.json", "sum age"})
    EXPECT_FALSE(HoldoutQuestion::parse(bad, specs, no_files).has_value()) << bad;
}

}  // namespace
}  // namespace discreet::learn
