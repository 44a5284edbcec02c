#include "mechanisms/quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>

#include "mechanisms/extreme.h"
#include "mechanisms/quantiles.h"
#include "random/interval_weights.h"
#include "random/uniform.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

// How far q n is from the ranks that v covers.
double rank_error(const std::vector<std::int64_t>& values, double q, std::int64_t v) {
  double below = 0, up_to = 0;
  for (const auto x : values) {
    below += x < v;
    up_to += x <= v;
  }
  const double target = q * static_cast<double>(values.size());
  return std::fmax(0, std::fmax(below - target, target - up_to));
}

// Skewed values with ties: the product of two uniforms.
std::vector<std::int64_t> skewed(std::size_t n, std::uint64_t top, std::uint64_t seed) {
  SeededRandom random(seed);
  std::vector<std::int64_t> values(n);
  for (auto& value : values)
    value = static_cast<std::int64_t>(uniform_below(1 + uniform_below(top, random), random));
  return values;
}

// Chi-square with 6 degrees of freedom above 60 has chance below 1e-10.
TEST(IntervalWeightsTest, DrawsInProportionToLengthAndWeight) {
  const std::vector<IntervalWeight> candidates = {{5, 3}, {1, 0}, {0, 0}, {1000, 9},
                                                  {7, 4}, {1, 1}, {2, 2}, {40, 5}};
  const ExpPowers unit(Rational(2, 3));
  double weights[8], total = 0;
  for (int i = 0; i < 8; ++i)
    total += weights[i] = static_cast<double>(candidates[i].length) *
                          std::exp(-2.0 / 3 * static_cast<double>(candidates[i].distance));
  SeededRandom random(1);
  int counts[8] = {};
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) ++counts[draw_interval(candidates, unit, random)];
  double chi2 = 0;
  for (int i = 0; i < 8; ++i) {
    if (weights[i] == 0) {
      EXPECT_EQ(counts[i], 0);
      continue;
    }
    const double expected = kDraws * weights[i] / total;
    chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  std::cout << "chi-square " << chi2 << " with 6 degrees of freedom\n";
  EXPECT_LT(chi2, 60);
}

// A word of zeros, then of ones, puts the draw on the edges, where only refinement can decide.
TEST(IntervalWeightsTest, DrawsOnAnEdgeAreRefined) {
  const std::vector<IntervalWeight> even = {{1, 0}, {1, 0}};
  const std::uint64_t half[] = {std::uint64_t{1} << 63, 0, 0, 5};
  ScriptedRandom exactly_half(half);
  EXPECT_EQ(draw_interval(even, ExpPowers(1), exactly_half), 1u);
  EXPECT_GT(exactly_half.used(), 2u);
  const std::uint64_t below[] = {(std::uint64_t{1} << 63) - 1, ~std::uint64_t{0}, 0, 5};
  ScriptedRandom just_below(below);
  EXPECT_EQ(draw_interval(even, ExpPowers(1), just_below), 0u);
}

TEST(QuantileTest, ChancesAreThoseOfTheExponentialMechanism) {
  const std::vector<std::int64_t> values = {2, 2, 2, 3, 7, 9};
  const double q = 0.25, epsilon = 1.5;
  const auto mechanism = Quantile::make(eps(epsilon), q, {0, 11}).value();
  double weights[12], total = 0;
  for (int v = 0; v < 12; ++v)
    total += weights[v] = std::exp(-epsilon * rank_error(values, q, v) / (2 * 0.75));
  SeededRandom random(2);
  constexpr int kDraws = 60'000;
  int counts[12] = {};
  for (int i = 0; i < kDraws; ++i) ++counts[mechanism.release(values, random)];
  double chi2 = 0;
  for (int v = 0; v < 12; ++v) {
    const double expected = kDraws * weights[v] / total;
    chi2 += (counts[v] - expected) * (counts[v] - expected) / expected;
  }
  std::cout << "chi-square " << chi2 << " with 11 degrees of freedom\n";
  EXPECT_LT(chi2, 75);  // chance below 1e-10
}

// The claim itself, on every pair of a small family: log ratios of exact weights within epsilon.
TEST(QuantileTest, LogRatiosOfNeighboursSpanAtMostEpsilon) {
  const double epsilon = 1;
  double worst = 0;
  for (const double q : {0.1, 0.25, 0.5, 0.9}) {
    for (int code = 0; code < 625; ++code) {
      std::vector<std::int64_t> x = {code % 5, code / 5 % 5, code / 25 % 5, code / 125};
      for (std::int64_t added = 0; added < 5; ++added) {
        std::vector<std::int64_t> y = x;
        y.push_back(added);
        double low = 1e9, high = -1e9;
        for (int v = 0; v < 5; ++v) {
          const double change =
              epsilon * (rank_error(y, q, v) - rank_error(x, q, v)) / (2 * std::fmax(q, 1 - q));
          low = std::fmin(low, change);
          high = std::fmax(high, change);
        }
        worst = std::fmax(worst, high - low);
      }
    }
  }
  std::cout << "widest range of log ratios " << worst << "\n";
  EXPECT_LE(worst, epsilon + 1e-12);
}

TEST(QuantileTest, RankErrorStaysWithinItsBound) {
  const auto values = skewed(2000, 1 << 20, 3);
  for (const double q : {0.1, 0.5, 0.99}) {
    const auto mechanism = Quantile::make(eps(1), q, {0, 1 << 20}).value();
    const double bound = mechanism.rank_error_bound(0.95);
    SeededRandom random(4);
    int beyond = 0;
    double squares = 0;
    constexpr int kRuns = 200;
    for (int i = 0; i < kRuns; ++i) {
      const double error = rank_error(values, q, mechanism.release(values, random));
      beyond += error > bound;
      squares += error * error;
    }
    std::cout << "q " << q << ": rank RMSE " << std::sqrt(squares / kRuns) << ", bound " << bound
              << "\n";
    EXPECT_LE(beyond, 10 + 6 * 3.1);  // at most 5 %, six standard errors of slack
    const auto inverse = Quantile::for_rank_error(bound, 0.95, q, {0, 1 << 20}).value();
    EXPECT_NEAR(inverse.epsilon().value(), 1, 1e-9);
  }
}

TEST(QuantileTest, EmptyDataAndWideRangesAreAnswered) {
  SeededRandom random(5);
  const auto wide = Quantile::make(eps(1), 0.5, {-(std::int64_t{1} << 60), std::int64_t{1} << 60});
  for (int i = 0; i < 50; ++i) {
    (void)wide->release({}, random);
    const std::int64_t extremes[] = {std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max(), 7, 7, 7};
    EXPECT_LE(std::abs(wide->release(extremes, random)), std::int64_t{1} << 60);
  }
  EXPECT_EQ(Quantile::make(eps(1), 0.5, {4, 4})->release({}, random), 4);
}

TEST(QuantileTest, BadParametersAreRefused) {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(Quantile::make(eps(0), 0.5, {0, 1}));
  EXPECT_FALSE(Quantile::make(eps(5e-324), 0.5, {0, 1}));
  EXPECT_FALSE(Quantile::make(eps(1e300), 0.5, {0, 1}));
  for (const double q : {0.0, 1.0, -0.1, 1.5, std::nan(""), 5e-324})
    EXPECT_FALSE(Quantile::make(eps(1), q, {0, 1})) << q;
  EXPECT_FALSE(Quantile::make(eps(1), 0.5, {1, 0}));
  EXPECT_FALSE(Quantile::make(eps(1), 0.5, {kMin, kMax}));
  EXPECT_FALSE(Quantile::for_rank_error(-1, 0.95, 0.5, {0, 1}));
  EXPECT_FALSE(Quantile::for_rank_error(1, 1, 0.5, {0, 1}));
  EXPECT_FALSE(Extreme::make(eps(1), ExtremeSide::Maximum, {0, 10}, std::nan("")));
  EXPECT_FALSE(Extreme::make(eps(0), ExtremeSide::Maximum, {0, 10}));
  EXPECT_FALSE(Extreme::make(eps(1), ExtremeSide::Maximum, {10, 0}));
  EXPECT_FALSE(Quantiles::make(eps(1), {}, {0, 10}));
  EXPECT_FALSE(Quantiles::make(eps(1), {0.5, 0.5}, {0, 10}));
  EXPECT_FALSE(Quantiles::make(eps(1), {0.5, 0.2}, {0, 10}));
  EXPECT_FALSE(Quantiles::make(eps(0), {0.5}, {0, 10}));
  EXPECT_FALSE(Quantiles::make(eps(0), {0.5}, {0, 1000}));
}

TEST(ExtremeTest, StaysNearTheTopAndMirrorsForTheMinimum) {
  const auto values = skewed(5000, 1000, 6);
  std::vector<std::int64_t> mirrored(values);
  for (auto& value : mirrored) value = -value;
  const auto most = Extreme::make(eps(1), ExtremeSide::Maximum, {0, 10'000}).value();
  const auto least = Extreme::make(eps(1), ExtremeSide::Minimum, {-10'000, 0}).value();
  SeededRandom random(7);
  const double bound = most.rows_beyond_bound(0.95);
  int beyond = 0, over = 0;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t top = most.release(values, random);
    const std::int64_t bottom = -least.release(mirrored, random);
    for (const auto v : {top, bottom}) {
      const auto above = std::count_if(values.begin(), values.end(), [&](auto x) { return x > v; });
      beyond += static_cast<double>(above) > bound;
      over += v > 1000;
    }
  }
  std::cout << "beyond the bound " << beyond << ", overshot " << over << " of 400\n";
  EXPECT_LE(beyond, 20 + 26);
  EXPECT_LE(over, 200);
}

// Exactness on a small domain: all weights by the formula of the header.
TEST(ExtremeTest, AnEpsilonThatIsLargeEnoughGivesTheExtremeItself) {
  const std::vector<std::int64_t> values = {3, 50, 1000, 9000};
  const auto most = Extreme::make(eps(300), ExtremeSide::Maximum, {0, 1'000'000}).value();
  const auto least = Extreme::make(eps(300), ExtremeSide::Minimum, {0, 1'000'000}).value();
  EXPECT_EQ(most.tau(), 0.5);
  SeededRandom random(8);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(most.release(values, random), 9000);
    EXPECT_EQ(least.release(values, random), 3);
  }
}

TEST(ExtremeTest, ChancesFollowTheScores) {
  const std::vector<std::int64_t> values = {1, 1, 3, 4, 4, 4, 6};
  const auto mechanism = Extreme::make(eps(1.2), ExtremeSide::Maximum, {0, 9}, 0.5).value();
  const double tau = static_cast<double>(mechanism.tau());
  double weights[10], total = 0;
  for (int v = 0; v < 10; ++v) {
    double above = 0, reach = 0;
    for (const auto x : values) above += x > v, reach += x >= v;
    total += weights[v] =
        std::exp(1.2 * (-0.25 * std::fmax(0, above - tau) - 0.75 * std::fmax(0, tau - reach)));
  }
  SeededRandom random(8);
  int counts[10] = {};
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) ++counts[mechanism.release(values, random)];
  double chi2 = 0;
  for (int v = 0; v < 10; ++v) {
    const double expected = kDraws * weights[v] / total;
    chi2 += (counts[v] - expected) * (counts[v] - expected) / expected;
  }
  std::cout << "chi-square " << chi2 << " with 9 degrees of freedom\n";
  EXPECT_LT(chi2, 70);
}

const std::vector<double> kDeciles = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

double deciles_rmse(const Quantiles& mechanism, const std::vector<std::int64_t>& values, int runs) {
  SeededRandom random(9);
  double squares = 0;
  for (int i = 0; i < runs; ++i) {
    const auto released = mechanism.release(values, random);
    EXPECT_TRUE(std::is_sorted(released.begin(), released.end()));
    for (std::size_t j = 0; j < kDeciles.size(); ++j)
      squares += std::pow(rank_error(values, kDeciles[j], released[j]), 2);
  }
  return std::sqrt(squares / (runs * static_cast<double>(kDeciles.size())));
}

TEST(QuantilesTest, DecilesOfManyRowsAreNear) {
  const auto small = skewed(1000, 99, 10);
  const auto large = skewed(5000, 1 << 20, 11);
  const auto tree = Quantiles::make(eps(1), kDeciles, {0, 98}).value();
  const auto recursive = Quantiles::make(eps(1), kDeciles, {0, 1 << 20}).value();
  EXPECT_EQ(tree.method(), QuantilesMethod::Tree);
  EXPECT_EQ(recursive.method(), QuantilesMethod::Recursive);
  EXPECT_EQ(recursive.levels(), 4u);
  const double a = deciles_rmse(tree, small, 50), b = deciles_rmse(recursive, large, 30);
  std::cout << "rank RMSE: tree " << a << ", recursive " << b << "\n";
  EXPECT_LT(a, 8);
  EXPECT_LT(b, 25);
  EXPECT_GT(tree.rank_error_bound(0.95), a);
  EXPECT_GT(recursive.rank_error_bound(0.95), b);
}

// Half of all rows share one value. Without secret digits the recursion sends the tie to one side
// and misses by hundreds of rows.
TEST(QuantilesTest, TiesDoNotSpoilTheRecursion) {
  std::vector<std::int64_t> values = skewed(1000, 3000, 12);
  for (std::size_t i = 0; i < values.size(); i += 2) values[i] = 700;
  const auto mechanism = Quantiles::make(eps(2), kDeciles, {0, 3000}).value();
  const double rmse = deciles_rmse(mechanism, values, 50);
  std::cout << "rank RMSE with ties " << rmse << "\n";
  EXPECT_LT(rmse, 15);
}

TEST(QuantilesTest, LossIsTightOnlyWhereEveryBranchIsEquallyLong) {
  const auto seven = Quantiles::make(eps(1), {.1, .2, .3, .4, .5, .6, .7}, {0, 1000}).value();
  EXPECT_TRUE(std::holds_alternative<loss::Repeated>(seven.loss().kind));
  const auto nine = Quantiles::make(eps(1), kDeciles, {0, 1000}).value();
  EXPECT_EQ(std::get<loss::Pure>(nine.loss().kind).epsilon, eps(1));
}

TEST(QuantilesTest, EmptyDataAndTinyRangesAreAnswered) {
  SeededRandom random(13);
  for (const auto method : {QuantilesMethod::Tree, QuantilesMethod::Recursive}) {
    const auto one = Quantiles::make(eps(1), {0.25, 0.75}, {5, 5}, method).value();
    EXPECT_EQ(one.release({}, random), (std::vector<std::int64_t>{5, 5}));
    const auto two = Quantiles::make(eps(1), kDeciles, {5, 6}, method).value();
    for (const auto value : two.release({}, random)) EXPECT_TRUE(value == 5 || value == 6);
  }
}

}  // namespace
}  // namespace discreet
