// The contract of single functions: agreement with the textbook where noise is negligible, one
// answer a release, nothing claimed where nothing is known.
#include <gtest/gtest.h>

#include <cmath>

#include "inference/count_tests.h"
#include "inference/mean_tests.h"
#include "inference/quantile_interval.h"
#include "inference/regression.h"
#include "support/seeded_random.h"

namespace discreet::inference {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

TEST(MeanTestsTest, AgreeWithTheTextbookWhereNoiseIsNegligible) {
  SeededRandom random(1);
  const auto mechanism = MomentsMechanism::make(eps(1e5), {0, 10}).value();
  const std::vector<std::int64_t> a = {3, 4, 5, 6, 7, 5, 4, 6, 5, 5},
                                  b = {4, 6, 7, 7, 8, 6, 5, 9, 6, 7};
  const auto one = t_test(mechanism.release(a, random), 4.2);
  // mean 5, s = 1.1547, t = (5 - 4.2) / (s / sqrt 10) = 2.1909 on 9 degrees: p = .0562
  EXPECT_NEAR(one.estimate, 5, 0.001);
  EXPECT_NEAR(one.statistic, 2.1909, 0.01);
  EXPECT_NEAR(one.p_value, 0.0562, 0.02);
  EXPECT_NEAR(one.interval.low, 5 - 2.262 * 0.36515, 0.06);
  EXPECT_NEAR(one.interval.high, 5 + 2.262 * 0.36515, 0.06);
  const auto two = t_test(mechanism.release(a, random), mechanism.release(b, random));
  // means 5 and 6.5, variances 4/3 and 37/18: t = -1.5 / sqrt(.13333 + .20556) = -2.5767, 17.2 df
  EXPECT_NEAR(two.statistic, -2.5767, 0.01);
  EXPECT_NEAR(two.degrees, 17.2, 0.9);
  EXPECT_NEAR(two.p_value, 0.0195, 0.012);
}

TEST(MeanTestsTest, OneReleaseHasOneAnswer) {
  SeededRandom random(2);
  const auto mechanism = MomentsMechanism::make(eps(1), {0, 10}).value();
  const auto released = mechanism.release(std::vector<std::int64_t>(50, 4), random);
  const auto first = t_test(released, 5), again = t_test(released, 5);
  EXPECT_EQ(first.p_value, again.p_value);
  EXPECT_EQ(first.interval.low, again.interval.low);
}

TEST(MeanTestsTest, NoRowsClaimNothing) {
  SeededRandom random(3);
  const auto mechanism = MomentsMechanism::make(eps(0.1), {0, 10}).value();
  const auto outcome = t_test(mechanism.release(std::vector<std::int64_t>(), random), 5);
  EXPECT_GT(outcome.p_value, 0.01);
  EXPECT_GE(outcome.interval.low, 0);
  EXPECT_LE(outcome.interval.high, 10);
}

TEST(MeanTestsTest, ComparingGroupsThatTheNoiseHidesGivesNoPValue) {
  SeededRandom random(7);
  const auto mechanism = MomentsMechanism::make(eps(0.1), {0, 1000}).value();
  const auto none = mechanism.release(std::vector<std::int64_t>(), random);
  const auto many = mechanism.release(std::vector<std::int64_t>(5000, 300), random);
  EXPECT_TRUE(std::isnan(t_test(none, none).p_value));
  const NoisyMoments groups[] = {none, none, none};
  EXPECT_TRUE(std::isnan(anova(groups).test.p_value));
  EXPECT_FALSE(std::isnan(t_test(many, many).p_value));
}

TEST(CountTestsTest, TooFewExpectedRowsGiveNoPValueWhereCountsAreAsGoodAsExact) {
  const auto given = [](std::vector<double> cells, double epsilon) {
    const NoisyCounts counts{std::move(cells), epsilon};
    EXPECT_EQ(std::isnan(two_proportion_test(counts).p_value),
              std::isnan(independence_test(counts, 2).p_value));
    return !std::isnan(two_proportion_test(counts).p_value);
  };
  EXPECT_FALSE(given({2, 48, 3, 47}, 5));
  EXPECT_TRUE(given({2, 48, 3, 47}, 1));  // the noise fills the gaps between outcomes
  EXPECT_TRUE(given({20, 480, 30, 470}, 5));
}

TEST(MeanTestsTest, RefusesARangeOfOneValue) {
  EXPECT_FALSE(MomentsMechanism::make(eps(1), {5, 5}).has_value());
  EXPECT_FALSE(MomentsMechanism::make(eps(1), {0, std::int64_t{1} << 41}).has_value());
}

TEST(CountTestsTest, AgreeWithTheTextbookWhereNoiseIsNegligible) {
  // 30 of 100 against a chance of .2: z = 2.5; exact two-sided p about .0165.
  const auto one = proportion_test({{30, 70}, 50}, 0.2);
  EXPECT_NEAR(one.statistic, 2.5, 0.01);
  EXPECT_NEAR(one.p_value, 0.0165, 0.012);
  EXPECT_NEAR(one.interval.low, 0.219, 0.02);
  EXPECT_NEAR(one.interval.high, 0.396, 0.02);
  // Pearson's chi-square of a 2 x 2 table: 100 (20*40 - 10*30)^2 / (30 70 50 50) = 4.76
  Options many;
  many.draws = 19999;
  const auto table = independence_test({{20, 10, 30, 40}, 50}, 2, many);
  EXPECT_NEAR(table.statistic, 4.76, 0.02);
  EXPECT_NEAR(table.p_value, 0.029, 0.01);
  const double even[] = {0.25, 0.25, 0.25, 0.25};
  const auto fit = goodness_of_fit({{30, 20, 25, 25}, 50}, even);
  EXPECT_NEAR(fit.statistic, 2, 0.01);
  EXPECT_NEAR(fit.p_value, 0.572, 0.05);
}

TEST(CountTestsTest, SimultaneousReachCoversAllCellsAtOnce) {
  // One cell at 95 %: the least c with 1 - 2 r^(c+1) / (1 + r) >= .95.
  const double r = std::exp(-1.0);
  const double one = simultaneous_reach(1, 1, 0.95), many = simultaneous_reach(1000, 1, 0.95);
  EXPECT_GE(1 - 2 * std::pow(r, one + 1) / (1 + r), 0.95);
  EXPECT_LT(1 - 2 * std::pow(r, one) / (1 + r), 0.95);
  EXPECT_GE(std::pow(1 - 2 * std::pow(r, many + 1) / (1 + r), 1000), 0.95);
  EXPECT_LT(std::pow(1 - 2 * std::pow(r, many) / (1 + r), 1000), 0.95);
}

TEST(CountTestsTest, SharesHaveIntervalsOfTheirOwnAndWiderOnesForAll) {
  const auto found = shares({{100, 200, 300, 400}, 1});
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(found[i].value, 0.1 * static_cast<double>(i + 1), 1e-9);
    EXPECT_LT(found[i].interval.low, found[i].value);
    EXPECT_GT(found[i].interval.high, found[i].value);
    EXPECT_LT(found[i].simultaneous.low, found[i].interval.low);
    EXPECT_GT(found[i].simultaneous.high, found[i].interval.high);
  }
  // Half the width of .1 over 1,000 rows without noise is .0186.
  EXPECT_NEAR(found[0].interval.high - found[0].value, 0.0186, 0.003);
}

TEST(RegressionTest, FindsTheLineAndItsErrors) {
  SeededRandom random(4);
  const auto mechanism =
      JointSumsMechanism::make(eps(1e5), {{{0, 9}}, {{0, 9}}, {{0, 99}}}).value();
  std::vector<std::vector<std::int64_t>> rows;
  for (std::int64_t a = 0; a < 10; ++a)
    for (std::int64_t b = 0; b < 10; ++b)
      rows.push_back({a, b, 10 + 3 * a + 2 * b + ((a + b) % 2 == 0 ? 1 : -1)});
  const auto fit = linear_regression(mechanism.release(rows, random));
  ASSERT_TRUE(fit.identified);
  EXPECT_NEAR(fit.coefficients[0].value, 10, 0.1);
  EXPECT_NEAR(fit.coefficients[1].value, 3, 0.01);
  EXPECT_NEAR(fit.coefficients[2].value, 2, 0.01);
  // Residuals are +-1: their spread over 97 degrees, and the slope's error by Sxx = 825.
  EXPECT_NEAR(fit.residual_sd, std::sqrt(100.0 / 97), 0.02);
  EXPECT_NEAR(fit.coefficients[1].standard_error, std::sqrt(100.0 / 97 / 825), 0.001);
  EXPECT_LT(fit.coefficients[1].p_value, 0.001);
  EXPECT_LT(fit.coefficients[1].simultaneous.low, fit.coefficients[1].interval.low);
  EXPECT_GT(fit.r_squared, 0.98);
}

TEST(RegressionTest, ClaimsNothingWhereTheNoiseHidesTheRegressors) {
  SeededRandom random(5);
  const auto mechanism = JointSumsMechanism::make(eps(0.1), {{{0, 100}}, {{0, 100}}}).value();
  const std::vector<std::vector<std::int64_t>> rows(50, {50, 20});
  const auto fit = linear_regression(mechanism.release(rows, random));
  EXPECT_FALSE(fit.identified);
  EXPECT_TRUE(std::isnan(fit.coefficients[1].p_value));
  EXPECT_TRUE(std::isinf(fit.coefficients[1].interval.high));
}

TEST(RegressionTest, CorrelationAgreesWithTheTextbookWhereNoiseIsNegligible) {
  SeededRandom random(6);
  const auto mechanism = JointSumsMechanism::make(eps(1e5), {{{0, 10}}, {{0, 10}}}).value();
  const std::vector<std::vector<std::int64_t>> rows = {{1, 2}, {2, 1}, {3, 5}, {4, 3}, {5, 6},
                                                       {6, 4}, {7, 8}, {8, 5}, {9, 9}, {10, 6}};
  // Sxx 82.5, Syy 56.9, Sxy 52.5: r = .7663
  const auto found = correlation_test(mechanism.release(rows, random));
  EXPECT_NEAR(found.estimate, 0.7663, 0.002);
  EXPECT_LT(found.p_value, 0.02);
  EXPECT_GT(found.interval.low, 0.1);
  EXPECT_LT(found.interval.high, 0.97);
}

TEST(QuantileIntervalTest, RefusesBadParameters) {
  EXPECT_FALSE(QuantileInterval::make(eps(1), 1.5, {0, 10}).has_value());
  EXPECT_FALSE(QuantileInterval::make(eps(1), 0.5, {10, 0}).has_value());
  EXPECT_FALSE(QuantileInterval::make(eps(1), 0.5, {0, 10}, 1.0).has_value());
}

}  // namespace
}  // namespace discreet::inference
