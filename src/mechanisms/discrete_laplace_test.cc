#include "mechanisms/discrete_laplace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/seeded_random.h"

namespace discreet {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

TEST(DiscreteLaplaceTest, RefusesEpsilonZeroAndUnboundedScales) {
  EXPECT_FALSE(DiscreteLaplace::make(Epsilon::zero(), L1Sensitivity{1}));
  EXPECT_FALSE(DiscreteLaplace::make(eps(1e-300), L1Sensitivity{1}));
  EXPECT_FALSE(DiscreteLaplace::make(eps(5e-324), L1Sensitivity::make(1e300).value()));
}

TEST(DiscreteLaplaceTest, EnormousEpsilonReleasesTheExactValue) {
  const auto mechanism = DiscreteLaplace::make(eps(1e20), L1Sensitivity{1}).value();
  SeededRandom random(1);
  for (std::int64_t exact : {std::int64_t{0}, std::int64_t{-7}, std::int64_t{1} << 40})
    EXPECT_EQ(mechanism.release(exact, random), exact);
  EXPECT_EQ(mechanism.error_bound(0.95), 0);
}

TEST(DiscreteLaplaceTest, SaturatesAtTheIntegerLimits) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  const auto mechanism = DiscreteLaplace::make(eps(1e-6), L1Sensitivity{1}).value();
  SeededRandom random(2);
  bool at_max = false, at_min = false;
  for (int i = 0; i < 64; ++i) {
    const std::int64_t high = mechanism.release(kMax, random);
    const std::int64_t low = mechanism.release(kMin, random);
    EXPECT_GT(high, 0);  // a wrapped sum would be negative
    EXPECT_LT(low, 0);
    at_max |= high == kMax;
    at_min |= low == kMin;
  }
  EXPECT_TRUE(at_max);
  EXPECT_TRUE(at_min);
}

// P[|Z| > bound] is at most 5 % and at the next smaller bound above it. 200,000 draws; six standard
// errors of slack make a false alarm rarer than 1e-8.
TEST(DiscreteLaplaceTest, ErrorBoundIsTheSmallestThatHolds) {
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    const auto mechanism = DiscreteLaplace::make(eps(epsilon), L1Sensitivity{1}).value();
    const double bound = mechanism.error_bound(0.95);
    SeededRandom random(3);
    constexpr int kDraws = 200'000;
    int beyond = 0, at_or_beyond = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double distance = std::fabs(static_cast<double>(mechanism.release(0, random)));
      beyond += distance > bound;
      at_or_beyond += distance >= bound;
    }
    const double slack = 6 * std::sqrt(0.05 * 0.95 / kDraws);
    EXPECT_LE(1.0 * beyond / kDraws, 0.05 + slack);
    if (bound > 0) {
      EXPECT_GT(1.0 * at_or_beyond / kDraws, 0.05 - slack);
    }
  }
}

TEST(DiscreteLaplaceTest, ForErrorIsTheInverseOfErrorBound) {
  for (const double error : {0.0, 1.0, 10.0, 1234.5}) {
    const auto mechanism = DiscreteLaplace::for_error(error, 0.95, L1Sensitivity{1}).value();
    EXPECT_LE(mechanism.error_bound(0.95), error);
    const auto less =
        DiscreteLaplace::make(eps(mechanism.epsilon().value() * 0.999), L1Sensitivity{1}).value();
    EXPECT_GT(less.error_bound(0.95), error);
  }
  EXPECT_FALSE(DiscreteLaplace::for_error(-1, 0.95, L1Sensitivity{1}));
  EXPECT_FALSE(DiscreteLaplace::for_error(std::nan(""), 0.95, L1Sensitivity{1}));
  EXPECT_FALSE(DiscreteLaplace::for_error(1, 1.0, L1Sensitivity{1}));
}

TEST(DiscreteLaplaceTest, TextbookBoundIsNeverBelowTheExactOne) {
  const auto mechanism = DiscreteLaplace::make(eps(0.5), L1Sensitivity{2}).value();
  for (const std::uint64_t k : {1ULL, 10ULL, 1000ULL})
    EXPECT_GE(mechanism.textbook_error_bound(0.05, k) + 1, mechanism.error_bound_of_worst(0.95, k));
}

TEST(DiscreteLaplaceTest, LossNeverClaimsMoreNoiseThanWasAdded) {
  const auto mechanism = DiscreteLaplace::make(eps(0.3), L1Sensitivity{7}).value();
  const auto event = std::get<loss::DiscreteLaplace>(mechanism.loss().kind);
  EXPECT_EQ(event.sensitivity, 7);
  EXPECT_LE(exact_rational(event.scale).value() * exact_rational(0.3).value(), 7);
}

}  // namespace
}  // namespace discreet
