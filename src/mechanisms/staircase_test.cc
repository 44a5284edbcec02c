#include "mechanisms/staircase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <map>

#include "mechanisms/discrete_laplace.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

// The probabilities of the proof page, in long double, apart from the code under test.
long double chance(std::int64_t z, long double epsilon, std::int64_t d, std::int64_t r) {
  const long double b = std::exp(-epsilon);
  const long double top = (1 - b) / (2 * (r + b * (d - r)) - (1 - b));
  const std::int64_t i = std::abs(z);
  return top * std::pow(b, static_cast<long double>(i / d)) * (i % d < r ? 1 : b);
}

TEST(StaircaseTest, RefusesBadParameters) {
  EXPECT_FALSE(Staircase::make(Epsilon::zero(), L1Sensitivity{1}));
  EXPECT_FALSE(Staircase::make(eps(5e-324), L1Sensitivity{1}));
  EXPECT_FALSE(Staircase::make(eps(1e308) + eps(1e308), L1Sensitivity{1}));
  EXPECT_FALSE(Staircase::make(eps(1), L1Sensitivity::make(1e13).value()));
  EXPECT_FALSE(Staircase::for_error(-1, 0.95, L1Sensitivity{1}));
  EXPECT_FALSE(Staircase::for_error(std::nan(""), 0.95, L1Sensitivity{1}));
  EXPECT_FALSE(Staircase::for_error(1, 1, L1Sensitivity{1}));
}

TEST(StaircaseTest, ProbabilitiesSumToOneAndStayWithinEpsilon) {
  for (const double epsilon : {0.3, 2.0, 5.0})
    for (const std::int64_t d : {1, 5, 12}) {
      const auto mechanism =
          Staircase::make(eps(epsilon), L1Sensitivity{static_cast<std::uint32_t>(d)}).value();
      long double total = 0, error = 0;
      const auto reach = static_cast<std::int64_t>(60 * static_cast<double>(d) / epsilon) + d;
      for (std::int64_t z = -reach; z <= reach; ++z) {
        const long double p = chance(z, epsilon, d, mechanism.step());
        total += p;
        error += p * std::abs(z);
        for (std::int64_t move = 1; move <= d; ++move)
          EXPECT_LE(p, std::exp(epsilon + 1e-12L) * chance(z + move, epsilon, d, mechanism.step()));
      }
      EXPECT_NEAR(static_cast<double>(total), 1, 1e-12);
      EXPECT_NEAR(mechanism.expected_error() / static_cast<double>(error), 1, 1e-9);
    }
}

TEST(StaircaseTest, TheStepChosenHasTheLeastExpectedError) {
  for (const double epsilon : {0.1, 1.0, 4.0, 8.0}) {
    constexpr std::int64_t kD = 20;
    const auto mechanism = Staircase::make(eps(epsilon), L1Sensitivity{kD}).value();
    for (std::int64_t r = 1; r <= kD; ++r) {
      long double error = 0;
      const auto reach = static_cast<std::int64_t>(40 * kD / epsilon) + kD;
      for (std::int64_t z = 1; z <= reach; ++z) error += 2 * chance(z, epsilon, kD, r) * z;
      EXPECT_GE(static_cast<double>(error), mechanism.expected_error() * (1 - 1e-9));
    }
  }
}

TEST(StaircaseTest, ErrorIsFarBelowLaplaceAtLargeEpsilon) {
  for (const double epsilon : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    constexpr int kD = 100;
    const auto staircase = Staircase::make(eps(epsilon), L1Sensitivity{kD}).value();
    const double r = std::exp(-epsilon / kD);
    const double laplace = 2 * r / (1 - r * r);  // E|Z| of the discrete Laplace
    std::cout << "epsilon " << epsilon << ": step " << staircase.step() << ", E|Z| "
              << staircase.expected_error() << ", Laplace " << laplace << ", ratio "
              << laplace / staircase.expected_error() << "\n";
    EXPECT_LE(staircase.expected_error(), laplace * (1 + 1e-9));
    if (epsilon >= 4) {
      EXPECT_LT(staircase.expected_error(), laplace * 0.6);
    }
  }
}

TEST(StaircaseTest, ForSensitivityOneItIsTheDiscreteLaplace) {
  const auto staircase = Staircase::make(eps(0.8), L1Sensitivity{1}).value();
  const auto laplace = DiscreteLaplace::make(eps(0.8), L1Sensitivity{1}).value();
  EXPECT_EQ(staircase.step(), 1);
  for (const double confidence : {0.5, 0.9, 0.999})
    EXPECT_EQ(staircase.error_bound(confidence), laplace.error_bound(confidence));
}

// 200,000 draws against the probabilities; 41 cells, chi-square with 40 degrees of freedom exceeds
// 118 with chance 1e-9.
TEST(StaircaseTest, DrawsFollowTheStaircase) {
  constexpr int kDraws = 200'000, kD = 6;
  const auto mechanism = Staircase::make(eps(1.5), L1Sensitivity{kD}).value();
  SeededRandom random(41);
  std::map<std::int64_t, int> seen;
  for (int i = 0; i < kDraws; ++i)
    ++seen[std::clamp<std::int64_t>(mechanism.draw(random), -20, 20)];
  double statistic = 0;
  for (std::int64_t z = -20; z <= 20; ++z) {
    long double p = 0;
    if (std::abs(z) < 20)
      p = chance(z, 1.5L, kD, mechanism.step());
    else
      for (std::int64_t far = 20; far < 2000; ++far) p += chance(far, 1.5L, kD, mechanism.step());
    const double expected = static_cast<double>(p) * kDraws;
    statistic += (seen[z] - expected) * (seen[z] - expected) / expected;
  }
  std::cout << "chi-square " << statistic << " of 118\n";
  EXPECT_LT(statistic, 118);
}

TEST(StaircaseTest, ErrorBoundIsTheSmallestThatHoldsAndForErrorItsInverse) {
  const auto mechanism = Staircase::make(eps(1.2), L1Sensitivity{9}).value();
  const double bound = mechanism.error_bound(0.9);
  long double beyond = 0;
  for (auto z = static_cast<std::int64_t>(bound) + 1; z < 5000; ++z)
    beyond += 2 * chance(z, 1.2L, 9, mechanism.step());
  EXPECT_LE(static_cast<double>(beyond), 0.1);
  beyond += 2 * chance(static_cast<std::int64_t>(bound), 1.2L, 9, mechanism.step());
  EXPECT_GT(static_cast<double>(beyond), 0.1);
  const auto made = Staircase::for_error(bound, 0.9, L1Sensitivity{9}).value();
  EXPECT_LE(made.error_bound(0.9), bound);
  EXPECT_LE(made.epsilon().value(), 1.2);
}

TEST(StaircaseTest, SaturatesAtTheIntegerLimits) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  const auto mechanism = Staircase::make(eps(1e-9), L1Sensitivity::make(0x1p40).value()).value();
  SeededRandom random(42);
  for (int i = 0; i < 64; ++i) EXPECT_GE(mechanism.release(kMax, random), 0);
}

}  // namespace
}  // namespace discreet
