#include "mechanisms/partition_selection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "mechanisms/partition_threshold.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

ApproxDp dp(double epsilon, double delta) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}

// The recursion of Desfontaines, Voss and Gipson, step by step.
double by_recursion(double e, double d, int n) {
  double pi = 0;
  for (int i = 0; i < n; ++i)
    pi = std::fmin(std::fmin(std::exp(e) * pi + d, 1 - std::exp(-e) * (1 - pi - d)), 1);
  return pi;
}

TEST(PartitionSelectionTest, ChancesFollowTheRecursionOfTheOptimalRule) {
  for (const auto& [e, d] : {std::pair{1.0, 1e-5}, {0.1, 1e-6}, {3.0, 0.01}, {0.5, 0.3}}) {
    const auto rule = PartitionSelection::make(dp(e, d), {}).value();
    for (int n = 0; n < 300; ++n) {
      const double expected = by_recursion(e, d, n);
      EXPECT_NEAR(rule.keep_probability(n), expected, 1e-10) << e << " " << n;
      const auto bounds = rule.keep_bounds(n, 64);
      EXPECT_LE(bounds.low, bounds.high);
      EXPECT_NEAR(to_double_down(bounds.low), expected, 1e-10) << e << " " << n;
      EXPECT_LT(to_double_up(bounds.high - bounds.low), 1e-15);
    }
  }
}

// Theorem: with the delta that the truncated geometric spends, its threshold is the optimal coin.
TEST(PartitionSelectionTest, NoiseAndThresholdKeepWithTheOptimalChance) {
  for (const double e : {0.3, 1.0, 2.0}) {
    const auto noisy = NoisyPartitionSelection::make(dp(e, 1e-4), {}).value();
    const auto spent = std::get<loss::TruncatedGeometric>(noisy.loss().kind);
    EXPECT_LE(spent.delta.value(), 1e-4);
    const auto coin = PartitionSelection::make({spent.epsilon, spent.delta}, {}).value();
    for (std::uint64_t n = 0; n < 100; ++n)
      EXPECT_NEAR(noisy.keep_probability(n), coin.keep_probability(n), 1e-10) << n;
  }
}

// Six standard errors: a false alarm is rarer than 1e-8.
TEST(PartitionSelectionTest, KeysAreKeptAsOftenAsStated) {
  const auto coin = PartitionSelection::make(dp(0.5, 0.01), {}).value();
  const auto noisy = NoisyPartitionSelection::make(dp(0.5, 0.01), {}).value();
  const auto laplace = PartitionThreshold::laplace(dp(0.5, 0.01), {}).value();
  const auto gaussian = PartitionThreshold::gaussian(dp(0.5, 0.01), {}).value();
  SeededRandom random(5);
  constexpr int kDraws = 50'000;
  for (const std::uint64_t n : {1, 4, 8, 12, 20}) {
    int hits[4] = {};
    for (int i = 0; i < kDraws; ++i) {
      hits[0] += coin.keep(n, random);
      hits[1] += noisy.release(n, random).has_value();
      hits[2] += laplace.release(n, random).has_value();
      hits[3] += gaussian.release(n, random).has_value();
    }
    const double chances[4] = {coin.keep_probability(n), noisy.keep_probability(n),
                               laplace.keep_probability(n), gaussian.keep_probability(n)};
    for (int j = 0; j < 4; ++j) {
      const double p = chances[j];
      EXPECT_NEAR(1.0 * hits[j] / kDraws, p, 6 * std::sqrt((p * (1 - p) + 1e-4) / kDraws))
          << "rule " << j << " n " << n;
    }
    EXPECT_GE(chances[0] + 1e-12, chances[1]);
    EXPECT_GE(chances[1] + 0.01, chances[2]);
  }
}

TEST(PartitionSelectionTest, AbsentKeysAndKeysBelowTheLeastNumberAreNeverKept) {
  const PartitionLimits limits{.partitions_per_unit_max = 3, .units_min = 10};
  const auto coin = PartitionSelection::make(dp(10, 0.5), limits).value();
  const auto noisy = NoisyPartitionSelection::make(dp(10, 0.5), limits).value();
  const auto threshold = PartitionThreshold::laplace(dp(10, 0.5), limits).value();
  SeededRandom random(6);
  for (const std::uint64_t n : {0, 1, 9}) {
    EXPECT_EQ(coin.keep_probability(n), 0);
    EXPECT_EQ(noisy.keep_probability(n), 0);
    for (int i = 0; i < 1000; ++i) {
      EXPECT_FALSE(coin.keep(n, random));
      EXPECT_FALSE(noisy.release(n, random));
      EXPECT_FALSE(threshold.release(n, random));
    }
  }
  EXPECT_GT(coin.keep_probability(10), 0);
}

TEST(PartitionSelectionTest, LeastUnitsIsTheInverseOfTheChance) {
  const auto coin = PartitionSelection::make(dp(1, 1e-6), {.partitions_per_unit_max = 2}).value();
  const auto gaussian =
      PartitionThreshold::gaussian(dp(1, 1e-6), {.partitions_per_unit_max = 20}).value();
  for (const double p : {0.01, 0.5, 0.99}) {
    const auto n = coin.least_units_kept(p).value();
    EXPECT_GE(coin.keep_probability(n), p);
    EXPECT_LT(coin.keep_probability(n - 1), p);
    const auto g = gaussian.least_units_kept(p).value();
    EXPECT_GE(gaussian.keep_probability(g), p);
    EXPECT_LT(gaussian.keep_probability(g - 1), p);
  }
  EXPECT_FALSE(coin.least_units_kept(0));
  EXPECT_FALSE(coin.least_units_kept(std::nan("")));
}

TEST(PartitionSelectionTest, ErrorOfAKeptCountStaysWithinItsBound) {
  const auto noisy = NoisyPartitionSelection::make(dp(1, 1e-6), {}).value();
  SeededRandom random(7);
  const double bound = noisy.error_bound(0.95);
  EXPECT_LE(bound, static_cast<double>(noisy.bound()));
  int beyond = 0, at_or_beyond = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double error = std::fabs(static_cast<double>(*noisy.release(1000, random) - 1000));
    beyond += error > bound;
    at_or_beyond += error >= bound;
  }
  const double slack = 6 * std::sqrt(0.05 * 0.95 / kDraws);
  EXPECT_LE(1.0 * beyond / kDraws, 0.05 + slack);
  EXPECT_GT(1.0 * at_or_beyond / kDraws, 0.05 - slack);
}

TEST(PartitionSelectionTest, GaussianThresholdsWinWhenAUnitHasManyKeys) {
  const PartitionLimits limits{.partitions_per_unit_max = 100};
  EXPECT_LT(PartitionThreshold::gaussian(dp(1, 1e-6), limits)->threshold(),
            PartitionThreshold::laplace(dp(1, 1e-6), limits)->threshold());
  EXPECT_GT(PartitionThreshold::gaussian(dp(1, 1e-6), {})->threshold(),
            PartitionThreshold::laplace(dp(1, 1e-6), {})->threshold());
}

TEST(PartitionSelectionTest, BadParametersAreRefused) {
  const std::pair<ApproxDp, PartitionLimits> bad[] = {
      {dp(0, 1e-6), {}},      {dp(1, 0), {}},        {dp(1, 1), {}},
      {dp(1e-300, 1e-6), {}}, {dp(5e-324, 0.1), {}}, {dp(1, 5e-324), {}},
      {dp(1e9, 0.1), {}},     {dp(1, 1e-6), {0, 1}}, {dp(1, 1e-6), {1, 0}}};
  for (const auto& [budget, limits] : bad) {
    EXPECT_FALSE(PartitionSelection::make(budget, limits));
    EXPECT_FALSE(NoisyPartitionSelection::make(budget, limits));
    EXPECT_FALSE(PartitionThreshold::laplace(budget, limits));
    EXPECT_FALSE(PartitionThreshold::gaussian(budget, limits));
  }
}

TEST(PartitionSelectionTest, ExtremeCountsSaturate) {
  const auto noisy = NoisyPartitionSelection::make(dp(1, 1e-6), {}).value();
  SeededRandom random(8);
  for (int i = 0; i < 100; ++i)
    EXPECT_GT(noisy.release(~std::uint64_t{0}, random).value(), std::int64_t{1} << 62);
}

}  // namespace
}  // namespace discreet
