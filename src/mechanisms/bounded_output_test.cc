#include "mechanisms/bounded_output.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <vector>

#include "support/seeded_random.h"

namespace discreet {
namespace {

constexpr BoundedForm kForms[] = {BoundedForm::Clamped, BoundedForm::Folded,
                                  BoundedForm::Truncated};

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

BoundedLaplace bounded(double epsilon, OutputRange range, BoundedForm form,
                       std::uint32_t sensitivity = 1) {
  return BoundedLaplace::make(eps(epsilon), L1Sensitivity{sensitivity}, range, form).value();
}

TEST(BoundedLaplaceTest, RefusesEmptyAndEndlessRangesAndBadEpsilons) {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  for (const auto form : kForms) {
    EXPECT_FALSE(BoundedLaplace::make(eps(1), L1Sensitivity{1}, {3, 3}, form));
    EXPECT_FALSE(BoundedLaplace::make(eps(1), L1Sensitivity{1}, {4, 3}, form));
    EXPECT_FALSE(BoundedLaplace::make(eps(1), L1Sensitivity{1}, {kMin, kMax}, form));
    EXPECT_FALSE(BoundedLaplace::make(Epsilon::zero(), L1Sensitivity{1}, {0, 9}, form));
    EXPECT_FALSE(BoundedLaplace::make(eps(5e-324), L1Sensitivity{1}, {0, 9}, form));
    EXPECT_FALSE(BoundedLaplace::make(eps(1e308) + eps(1e308), L1Sensitivity{1}, {0, 9}, form));
    EXPECT_FALSE(BoundedLaplace::for_error(-1, 0.95, L1Sensitivity{1}, {0, 9}, form));
    EXPECT_FALSE(BoundedLaplace::for_error(std::nan(""), 0.95, L1Sensitivity{1}, {0, 9}, form));
    EXPECT_FALSE(BoundedLaplace::for_error(1, 0, L1Sensitivity{1}, {0, 9}, form));
  }
}

TEST(BoundedLaplaceTest, ReleasesStayInTheRangeAndReachAllOfIt) {
  SeededRandom random(51);
  for (const auto form : kForms) {
    const auto mechanism = bounded(0.7, {-3, 5}, form);
    for (const std::int64_t exact : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-3},
                                     std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
      std::vector<bool> seen(9);
      for (int i = 0; i < 5000; ++i) {
        const std::int64_t released = mechanism.release(exact, random);
        ASSERT_GE(released, -3);
        ASSERT_LE(released, 5);
        seen[static_cast<std::size_t>(released + 3)] = true;
      }
      for (const bool reached : seen) EXPECT_TRUE(reached);
    }
  }
}

// The ratio of truncated probabilities over every pair of neighbours and every output, against the
// claim.
TEST(BoundedLaplaceTest, TruncatedRateUsesAllOfEpsilonAndNoMore) {
  for (const double epsilon : {0.2, 1.0, 4.0})
    for (const std::uint32_t s : {1U, 3U, 50U})
      for (const std::int64_t w : {1, 2, 7, 30}) {
        const auto mechanism = bounded(epsilon, {0, w}, BoundedForm::Truncated, s);
        const long double rate = mechanism.rate();
        const auto chance = [&](std::int64_t x, std::int64_t y) {
          long double total = 0;
          for (std::int64_t i = 0; i <= w; ++i) total += std::exp(-rate * std::abs(i - x));
          return std::exp(-rate * std::abs(y - x)) / total;
        };
        long double worst = 0;
        for (std::int64_t x = 0; x <= w; ++x)
          for (std::int64_t other = 0; other <= w; ++other)
            for (std::int64_t y = 0; std::abs(x - other) <= s && y <= w; ++y)
              worst = std::fmax(worst, std::log(chance(x, y) / chance(other, y)));
        EXPECT_LE(static_cast<double>(worst), epsilon * (1 + 1e-12));
        if (s <= w / 2) {
          EXPECT_GE(static_cast<double>(worst), epsilon * (1 - 1e-9)) << s << " " << w;
        }
        EXPECT_LT(mechanism.rate(), epsilon / std::min<double>(s, static_cast<double>(w)));
      }
}

// 40,000 draws for each exact value, nine cells: chi-square with 8 degrees of freedom exceeds 58
// with chance 1e-9.
TEST(BoundedLaplaceTest, TruncatedDrawsFollowTheirDistribution) {
  const auto mechanism = bounded(1.5, {0, 8}, BoundedForm::Truncated);
  SeededRandom random(52);
  for (const std::int64_t exact : {0, 1, 4, 8}) {
    constexpr int kDraws = 40'000;
    std::vector<int> seen(9);
    for (int i = 0; i < kDraws; ++i)
      ++seen[static_cast<std::size_t>(mechanism.release(exact, random))];
    double total = 0, statistic = 0;
    for (int y = 0; y <= 8; ++y)
      total += std::exp(-mechanism.rate() * static_cast<double>(std::abs(y - exact)));
    for (int y = 0; y <= 8; ++y) {
      const double expected =
          kDraws * std::exp(-mechanism.rate() * static_cast<double>(std::abs(y - exact))) / total;
      const double off = seen[static_cast<std::size_t>(y)] - expected;
      statistic += off * off / expected;
    }
    std::cout << "exact " << exact << ": chi-square " << statistic << " of 58\n";
    EXPECT_LT(statistic, 58);
  }
}

// Counts the words drawn: the number of attempts must not show how near an end the exact value is.
class CountingRandom final : public RandomSource {
 public:
  explicit CountingRandom(std::uint64_t seed) : inner_(seed) {}
  std::uint64_t bits64() override {
    ++words;
    return inner_.bits64();
  }
  void fill(std::span<std::uint64_t> out) override {
    words += out.size();
    inner_.fill(out);
  }
  std::uint64_t words = 0;

 private:
  SeededRandom inner_;
};

TEST(BoundedLaplaceTest, TruncatedReleasesDrawTheSameAmountWhateverTheExactValue) {
  const auto mechanism = bounded(0.5, {0, 100}, BoundedForm::Truncated);
  CountingRandom random(53);
  std::uint64_t first = 0;
  for (const std::int64_t exact : {0, 50, 100, 7}) {
    for (int i = 0; i < 50; ++i) {
      random.words = 0;
      (void)mechanism.release(exact, random);
      if (first == 0) first = random.words;
      EXPECT_EQ(random.words, first);
    }
  }
}

TEST(BoundedLaplaceTest, ErrorBoundHoldsForEveryExactValueAndForErrorInverts) {
  SeededRandom random(54);
  for (const auto form : kForms) {
    const auto mechanism = bounded(0.4, {0, 40}, form);
    const double bound = mechanism.error_bound(0.9);
    for (const std::int64_t exact : {0, 5, 20, 40}) {
      constexpr int kDraws = 20'000;
      int beyond = 0;
      for (int i = 0; i < kDraws; ++i)
        beyond += std::fabs(static_cast<double>(mechanism.release(exact, random) - exact)) > bound;
      EXPECT_LE(1.0 * beyond / kDraws, 0.1 + 6 * std::sqrt(0.09 / kDraws));  // 1e-9
    }
    const auto made =
        BoundedLaplace::for_error(bound, 0.9, L1Sensitivity{1}, {0, 40}, form).value();
    EXPECT_LE(made.error_bound(0.9), bound);
    EXPECT_LE(made.epsilon().value(), 0.4 * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace discreet
