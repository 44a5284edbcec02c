// The demonstrations say what the theorems say, and notice when they do not.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "lecture/aggregation.h"
#include "lecture/choice.h"
#include "lecture/loss.h"
#include "lecture/queries.h"
#include "lecture/study.h"
#include "lecture/worlds.h"
#include "support/seeded_random.h"

namespace discreet::lecture {
namespace {

TEST(LectureTest, NoOutputOfTwoWorldsPassesEpsilonAndTheWorstAttainsIt) {
  for (const double epsilon : {0.01, 0.5, 3.0}) {
    const auto shown = two_worlds({.epsilon = epsilon}).value();
    EXPECT_TRUE(shown.holds);
    double most = 0;
    for (const auto& row : shown.rows) most = std::max(most, std::abs(std::log(row[3].number)));
    EXPECT_NEAR(most, epsilon, 1e-9);
  }
}

TEST(LectureTest, GroupsLoseInProportion) {
  const auto shown = two_worlds({.epsilon = 0.25, .distance = 4}).value();
  double most = 0;
  for (const auto& row : shown.rows) most = std::max(most, std::log(row[3].number));
  EXPECT_NEAR(most, 1.0, 1e-9);
}

TEST(LectureTest, TheExactSumIsToldToBeNotPrivate) {
  const auto shown = two_worlds({.mechanism = WorldsMechanism::Exact}).value();
  EXPECT_TRUE(shown.holds);
  EXPECT_EQ(shown.rows[1][3].text, "infinite");
}

TEST(LectureTest, ParametersOutOfRangeAreRefusedWithASentence) {
  EXPECT_FALSE(two_worlds({.epsilon = 0}));
  EXPECT_FALSE(two_worlds({.epsilon = 1, .distance = 0}));
  EXPECT_FALSE(side_information(1, 13, 1));
  EXPECT_FALSE(privacy_loss({.epsilon = 1, .times = 0}));
  EXPECT_FALSE(utility_theorem({}, {}));
  SeededRandom random(1);
  EXPECT_FALSE(linear_queries({.error = 0}, random));
  EXPECT_FALSE(aggregation({.people = 1}, random));
  EXPECT_FALSE(laplace_theorem({.queries = 0}, random));
}

// The attacker who knows everybody else attains the posterior that the band promises at a prior of
// a half; nobody passes the tight bound.
TEST(LectureTest, SideInformationNeverHelpsBeyondTheBound) {
  for (const double epsilon : {0.1, 1.0, 2.0}) {
    const auto shown = side_information(epsilon, 6, 7).value();
    EXPECT_TRUE(shown.holds);
    const double known = shown.rows[1][1].number;
    EXPECT_NEAR(known, 1 / (1 + std::exp(-epsilon)) - 0.5, 1e-6);
    // What everybody's bits tell may move belief further than Alice's row can.
    EXPECT_GT(shown.rows[2][1].number, shown.rows[2][2].number);
  }
}

TEST(LectureTest, PosteriorOddsMoveByEToTheEpsilonExactly) {
  const auto shown = posterior_band(0.7).value();
  for (const auto& row : shown.rows) {
    const auto odds = [](double p) { return p / (1 - p); };
    EXPECT_NEAR(odds(row[2].number) / odds(row[0].number), std::exp(0.7), 1e-9);
    EXPECT_NEAR(odds(row[1].number) / odds(row[0].number), std::exp(-0.7), 1e-9);
  }
}

TEST(LectureTest, TheErrorTheoremHoldsInSimulation) {
  SeededRandom random(20261115);
  for (const std::uint64_t k : {1U, 10U, 300U}) {
    const auto shown =
        laplace_theorem({.epsilon = 0.5, .queries = k, .runs = 3000}, random).value();
    EXPECT_TRUE(shown.holds) << as_text(shown);
  }
}

// The simulation is worth something only if it can fail: noise of twice the scale is not what the
// theorem is about. A run with half the epsilon must look different from the stated one.
TEST(LectureTest, TheSimulationTellsTheScaleOfItsNoise) {
  SeededRandom random(20261116);
  const auto one = laplace_theorem({.epsilon = 1, .queries = 50, .runs = 3000}, random).value();
  const auto half = laplace_theorem({.epsilon = 0.5, .queries = 50, .runs = 3000}, random).value();
  EXPECT_GT(half.rows[0][1].number, 1.5 * one.rows[0][1].number);
}

TEST(LectureTest, RandomizedResponseEstimatesWithTheVarianceOfTheory) {
  SeededRandom random(20261117);
  for (const double truth : {0.55, 0.75, 0.95}) {
    const auto shown = response({.truth = truth, .people = 2000, .runs = 500}, random).value();
    std::cout << "truth " << truth << ": variance " << shown.rows[1][2].number << " of "
              << shown.rows[1][1].number << "\n";
    EXPECT_TRUE(shown.holds);
  }
}

TEST(LectureTest, SampleSizesAnswerTheErrorAsked) {
  SeededRandom random(20261118);
  const LinearOptions asked{.queries = 20, .people = 5000, .error = 0.02};
  const auto shown = linear_queries(asked, random).value();
  EXPECT_TRUE(shown.holds) << as_text(shown);
  // With the people that are asked for, the bound is the error that was asked for.
  for (std::size_t i = 0; i < 3; ++i) {
    LinearOptions enough = asked;
    enough.people = static_cast<std::uint64_t>(shown.rows[i][4].number);
    enough.runs = 1;
    const auto then = linear_queries(enough, random).value();
    EXPECT_NEAR(then.rows[i][2].number, 0.02, 1e-4) << shown.rows[i][0].text;
  }
}

TEST(LectureTest, FewQueriesFavourLaplaceAndManyRandomizedResponse) {
  SeededRandom random(20261119);
  const auto few = linear_queries({.queries = 1, .people = 10'000, .runs = 1}, random).value();
  const auto many = linear_queries({.queries = 2000, .people = 10'000, .runs = 1}, random).value();
  EXPECT_LT(few.rows[0][2].number, few.rows[2][2].number);
  EXPECT_GT(many.rows[0][2].number, many.rows[2][2].number);
}

TEST(LectureTest, EveryCellOfTheTableIsAttackedOrAnswered) {
  SeededRandom random(20261120);
  const auto shown = accuracy_table(3, random).value();
  EXPECT_TRUE(shown.holds) << as_text(shown);
  EXPECT_EQ(shown.rows.size(), 3U);
}

TEST(LectureTest, TightCompositionIsBelowAdvancedIsBelowBasic) {
  const auto shown = privacy_loss({.epsilon = 0.1, .times = 100, .delta = 1e-6}).value();
  EXPECT_TRUE(shown.holds);
  EXPECT_GT(shown.rows[0][1].number, shown.rows[1][1].number);
  EXPECT_GT(shown.rows[1][1].number, shown.rows[3][1].number);
  EXPECT_NEAR(shown.rows[3][1].number, 4.774568, 1e-5);  // Kairouz, Oh and Viswanath's optimum
  // Few releases: advanced composition is worse than the plain sum, and still true.
  const auto few = privacy_loss({.epsilon = 0.5, .times = 3, .delta = 1e-6}).value();
  EXPECT_GT(few.rows[1][1].number, few.rows[0][1].number);
}

TEST(LectureTest, UtilityTheoremBoundsTheExactChance) {
  std::vector<Candidate> many(500, {"poor", 0});
  many.push_back({"best", 30});
  const auto shown = utility_theorem(many, {.epsilon = 1}).value();
  EXPECT_TRUE(shown.holds);
  // exp(15) against 500: the best wins with chance e^15 / (e^15 + 500).
  EXPECT_NEAR(shown.rows[0][2].number, std::exp(15.0) / (std::exp(15.0) + 500), 1e-9);
}

TEST(LectureTest, RevenueCountsBidsAtOrAboveThePrice) {
  const auto prices = revenues({1, 2, 2.5, 4}, 0.5, 4).value();
  ASSERT_EQ(prices.size(), 8U);
  EXPECT_EQ(prices[3].name, "2.00");
  EXPECT_DOUBLE_EQ(prices[3].score, 6);
  EXPECT_DOUBLE_EQ(prices[7].score, 4);
}

TEST(LectureTest, TheSmokerIsHarmedWithHerRowAndWithout) {
  SeededRandom random(20261121);
  const auto shown = smoker({.epsilon = 0.2, .people = 400, .runs = 3000}, random).value();
  EXPECT_TRUE(shown.holds) << as_text(shown);
  EXPECT_GT(shown.rows[1][2].number, 0.5);
}

TEST(LectureTest, PrivateChoicesOverfitLess) {
  SeededRandom random(20261122);
  const auto shown = generalise({.epsilon = 0.1, .people = 100, .features = 300}, random).value();
  EXPECT_TRUE(shown.holds) << as_text(shown);
  EXPECT_GT(shown.rows[0][1].number, 3 * shown.rows[1][1].number);
}

TEST(LectureTest, SparseVectorFindsTheFewThatMatter) {
  SeededRandom random(20261123);
  const auto shown = sparse({.questions = 2000, .above = 4}, random).value();
  EXPECT_TRUE(shown.holds);
  EXPECT_EQ(shown.rows[0][1].number, 4);
}

TEST(LectureTest, ACheatingClientIsDroppedAndALyingServerIsNot) {
  SeededRandom random(20261124);
  const auto shown = aggregation({.people = 20, .max = 10}, random).value();
  EXPECT_TRUE(shown.holds) << as_text(shown);
  EXPECT_EQ(shown.rows[0][2].text, shown.rows[2][2].text);
  EXPECT_EQ(shown.rows[4][2].text, "200");
}

TEST(LectureTest, JsonHasARowForEveryLine) {
  const std::string json = as_json(two_worlds({.epsilon = 1}).value());
  EXPECT_NE(json.find("\"holds\":true"), std::string::npos);
  EXPECT_NE(json.find("\"output\":50.0"), std::string::npos);
}

}  // namespace
}  // namespace discreet::lecture
