#include "mechanisms/randomized_response.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <vector>

#include "mechanisms/binomial_sum_internal.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

TEST(RandomizedResponseTest, RefusesParametersThatCarryOrHideNothing) {
  EXPECT_FALSE(RandomizedResponse::make(Epsilon::zero()));
  EXPECT_FALSE(RandomizedResponse::make(eps(5e-324)));
  EXPECT_FALSE(RandomizedResponse::make(eps(1e308) + eps(1e308)));  // infinite
  EXPECT_FALSE(RandomizedResponse::make(eps(1), 1));
  EXPECT_FALSE(RandomizedResponse::make(eps(1), 0));
  EXPECT_FALSE(RandomizedResponse::make(eps(1), std::numeric_limits<std::uint64_t>::max()));
  for (const double p : {-0.1, 0.0, 5e-324, 0.5, 1.0, 1.5, std::nan(""), HUGE_VAL})
    EXPECT_FALSE(RandomizedResponse::with_truth(p)) << p;
  for (const double q : {-0.1, 0.0, 5e-324, 1.0, 2.0, std::nan(""), -HUGE_VAL})
    EXPECT_FALSE(RandomizedResponse::with_keep(q)) << q;
  EXPECT_FALSE(RandomizedResponse::with_truth(0.25, 4));
  EXPECT_TRUE(RandomizedResponse::with_truth(0.2500001, 4));
}

TEST(RandomizedResponseTest, TheCoinFlipFormOfTheTextbookIsLnThree) {
  // Warner's survey in the textbook: heads, tell the truth; tails, answer by a second coin.
  const auto coin = RandomizedResponse::with_keep(0.5).value();
  EXPECT_NEAR(coin.epsilon().value(), std::log(3.0), 1e-15);
  EXPECT_GE(coin.epsilon().value(), std::log(3.0));
  EXPECT_DOUBLE_EQ(coin.truth_chance(), 0.75);
  const auto direct = RandomizedResponse::with_truth(Rational(3, 4)).value();
  EXPECT_EQ(direct.epsilon().value(), coin.epsilon().value());
}

TEST(RandomizedResponseTest, EpsilonOfAGivenChanceNeverUnderstates) {
  // p (k-1)/(1-p) <= e^epsilon, checked as p (k-1) e^-epsilon <= 1 - p with e^-epsilon rounded up.
  for (const std::uint64_t k : {2ULL, 3ULL, 1000ULL})
    for (const double p : {0.5000001, 0.6, 0.75, 0.999, 1 - 0x1p-53}) {
      const auto mechanism = RandomizedResponse::with_truth(p, k).value();
      const Rational exact = exact_rational(p).value();
      const ScaledInterval e =
          exp_minus_scaled(exact_rational(mechanism.epsilon().value()).value(), 256);
      EXPECT_LE(exact * Rational(BigInt(k - 1)) * Rational(e.low),
                (1 - exact) * Rational(BigInt(1) << 256));
    }
}

// Exact: the first word below floor(P[lie] 2^64) is a lie, and P[lie] is compared with 200 bits.
TEST(RandomizedResponseTest, TheCoinIsExactlyTheStatedOne) {
  for (const std::uint64_t k : {2ULL, 5ULL, 1000ULL}) {
    const Rational x = exact_rational(1.25).value();
    const BigInt digits = Probability::logistic(x, Rational(BigInt(k - 1))).digits(64);
    const auto mechanism = RandomizedResponse::make(eps(1.25), k).value();
    const auto threshold = static_cast<std::uint64_t>(digits);
    for (const std::uint64_t first : {threshold - 1, threshold + 1}) {
      const std::vector<std::uint64_t> script{first, 1234567};
      ScriptedRandom random(script);
      EXPECT_EQ(mechanism.release(std::uint64_t{1}, random) != 1, first < threshold);
    }
  }
}

TEST(RandomizedResponseTest, EveryLieIsEquallyLikely) {
  // k = 4: 200,000 reports; chi-square with 3 degrees of freedom exceeds 35 with chance 1.2e-7.
  const auto mechanism = RandomizedResponse::make(eps(1), 4).value();
  SeededRandom random(11);
  std::vector<double> seen(4);
  constexpr int kReports = 200'000;
  for (int i = 0; i < kReports; ++i) ++seen[mechanism.release(std::uint64_t{2}, random)];
  double statistic = 0;
  for (std::size_t v = 0; v < 4; ++v) {
    const double expected = kReports * (v == 2 ? mechanism.truth_chance() : mechanism.lie_chance());
    statistic += (seen[v] - expected) * (seen[v] - expected) / expected;
  }
  std::cout << "chi-square " << statistic << " of 35\n";
  EXPECT_LT(statistic, 35);
}

TEST(RandomizedResponseTest, BinaryReportsAgreeWithTheTwoValuedForm) {
  const auto mechanism = RandomizedResponse::make(eps(0.7)).value();
  const std::vector<std::uint64_t> lie{0, 99}, truth{~0ULL, 99};
  for (const bool value : {false, true}) {
    ScriptedRandom a(lie), b(truth);
    EXPECT_EQ(mechanism.release(value, a), !value);
    EXPECT_EQ(mechanism.release(value, b), value);
  }
}

// The exact tails against full convolution.
TEST(RandomizedResponseTest, BinomialSumTailsAreExact) {
  const auto pmf = [](std::uint64_t n, double p) {
    std::vector<double> chance{1.0};
    for (std::uint64_t i = 0; i < n; ++i) {
      std::vector<double> next(chance.size() + 1);
      for (std::size_t j = 0; j < chance.size(); ++j) {
        next[j] += chance[j] * (1 - p);
        next[j + 1] += chance[j] * p;
      }
      chance = next;
    }
    return chance;
  };
  for (const auto& [a, b] : {std::pair{0, 7}, {5, 9}, {30, 10}, {12, 0}}) {
    const auto first = pmf(a, 0.8), second = pmf(b, 0.1);
    for (std::uint64_t at = 0; at <= static_cast<std::uint64_t>(a + b); ++at) {
      double at_least = 0, at_most = 0;
      for (std::size_t i = 0; i < first.size(); ++i)
        for (std::size_t j = 0; j < second.size(); ++j)
          (i + j >= at ? at_least : at_most) += first[i] * second[j];
      const GroupSizes sizes{static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)};
      EXPECT_NEAR(binomial_sum_at_least(sizes, {0.8, 0.1}, at), at_least, 1e-12);
      if (at > 0) {
        EXPECT_NEAR(binomial_sum_at_most(sizes, {0.8, 0.1}, at - 1), at_most, 1e-12);
      }
    }
  }
}

// Coverage of 95 % intervals over 2,000 surveys; below 92.2 % (six standard errors) with chance
// 1e-9.
TEST(RandomizedResponseTest, IntervalsCoverTheTruthAsOftenAsTheySay) {
  SeededRandom random(12);
  for (const std::uint64_t k : {2ULL, 8ULL}) {
    const auto mechanism = RandomizedResponse::make(eps(1.5), k).value();
    constexpr std::uint64_t kPeople = 300, kHolders = 90;
    int covered = 0, within_bound = 0, share_covered = 0;
    double sum = 0, squares = 0;
    constexpr int kSurveys = 2000;
    for (int survey = 0; survey < kSurveys; ++survey) {
      std::uint64_t observed = 0;
      for (std::uint64_t person = 0; person < kPeople; ++person)
        observed += mechanism.release(std::uint64_t{person < kHolders ? 0U : 1U}, random) == 0;
      const auto found = mechanism.estimate_count(observed, kPeople, 0.95).value();
      covered += found.low <= kHolders && kHolders <= found.high;
      within_bound += std::fabs(found.count - kHolders) <= mechanism.error_bound(0.95, kPeople);
      const auto share = mechanism.estimate_share(observed, kPeople, 0.95).value();
      share_covered += share.low <= 0.3 && 0.3 <= share.high;
      sum += found.count - kHolders;
      squares += (found.count - kHolders) * (found.count - kHolders);
    }
    const double variance = mechanism.variance(kHolders, kPeople);
    std::cout << k << " values: covered " << covered << ", within bound " << within_bound
              << ", bias " << sum / kSurveys << ", variance ratio " << squares / kSurveys / variance
              << "\n";
    EXPECT_GE(covered, kSurveys * 0.922);
    EXPECT_LT(covered, kSurveys);  // an interval that always covers is too wide
    EXPECT_GE(share_covered, kSurveys * 0.922);
    EXPECT_GE(within_bound, kSurveys * 0.922);
    EXPECT_LT(std::fabs(sum / kSurveys), 6 * std::sqrt(variance / kSurveys));
    EXPECT_NEAR(squares / kSurveys / variance, 1, 6 * std::sqrt(2.0 / kSurveys));
  }
}

TEST(RandomizedResponseTest, EstimatesRefuseImpossibleCounts) {
  const auto mechanism = RandomizedResponse::make(eps(1)).value();
  EXPECT_FALSE(mechanism.estimate_count(1, 0, 0.95));
  EXPECT_FALSE(mechanism.estimate_count(11, 10, 0.95));
  EXPECT_FALSE(mechanism.estimate_count(1, 10, 1));
  EXPECT_FALSE(mechanism.estimate_count(1, 10, std::nan("")));
  EXPECT_FALSE(mechanism.estimate_share(1, 10, 0));
  const auto none = mechanism.estimate_count(0, 10, 0.95).value();
  EXPECT_EQ(none.low, 0);
  const auto all = mechanism.estimate_count(10, 10, 0.95).value();
  EXPECT_EQ(all.high, 10);
}

TEST(RandomizedResponseTest, ForErrorIsTheInverseOfErrorBound) {
  const auto mechanism = RandomizedResponse::for_error(500, 0.95, 100'000).value();
  EXPECT_LE(mechanism.error_bound(0.95, 100'000), 500);
  const auto less = RandomizedResponse::make(eps(mechanism.epsilon().value() * 0.999)).value();
  EXPECT_GT(less.error_bound(0.95, 100'000), 500);
  EXPECT_FALSE(RandomizedResponse::for_error(0, 0.95, 100));
  EXPECT_FALSE(RandomizedResponse::for_error(std::nan(""), 0.95, 100));
  EXPECT_FALSE(RandomizedResponse::for_error(5, 0.95, 0));
}

TEST(RandomizedResponseTest, LossNamesEpsilonAndTheNumberOfValues) {
  const auto event =
      std::get<loss::RandomizedResponse>(RandomizedResponse::make(eps(0.5), 7).value().loss().kind);
  EXPECT_EQ(event.epsilon.value(), 0.5);
  EXPECT_EQ(event.values, 7u);
}

}  // namespace
}  // namespace discreet
