#include "mechanisms/top_k.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/seeded_random.h"

namespace discreet {
namespace {

using Scores = std::vector<std::int64_t>;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}
const QualityScore kScore{LInfSensitivity{1}};

TEST(TopKTest, RefusesBadParametersAndTooFewCandidates) {
  EXPECT_FALSE(TopK::make(eps(1), 0, kScore));
  EXPECT_FALSE(TopK::within(eps(1), 0, kScore));
  EXPECT_FALSE(TopK::make(Epsilon::zero(), 2, kScore));
  EXPECT_FALSE(TopK::for_error(1, 0.9, 10, 0, kScore));
  EXPECT_FALSE(TopK::for_error(1, std::nan(""), 10, 2, kScore));
  const auto mechanism = TopK::make(eps(1), 3, kScore).value();
  SeededRandom random(1);
  EXPECT_FALSE(mechanism.release(Scores{1, 2}, random));
  EXPECT_FALSE(mechanism.release(Scores{}, random));
  EXPECT_FALSE(mechanism.release(std::vector<double>{1, 2, std::nan("")}, random));
}

TEST(TopKTest, EnormousEpsilonGivesTheBestInOrder) {
  const auto mechanism = TopK::make(eps(1e6), 3, kScore).value();
  SeededRandom random(2);
  EXPECT_EQ(mechanism.release(Scores{3, 9, 4, 8, 1}, random).value(),
            (std::vector<std::size_t>{1, 3, 2}));
  EXPECT_EQ(mechanism.release(std::vector<double>{3, 9.5, 4, 9.25, 1}, random).value(),
            (std::vector<std::size_t>{1, 3, 2}));
}

// The chance of each ordered pair is that of two choices in a row: 8,000 draws, six standard
// errors, false alarm below 1e-8 a cell.
TEST(TopKTest, OrderedPairsHaveTheChancesOfPeeling) {
  const Scores scores{0, 2, 1};
  const auto mechanism = TopK::make(eps(2), 2, kScore).value();
  SeededRandom random(3);
  constexpr int kDraws = 8'000;
  int hits[3][3] = {};
  for (int i = 0; i < kDraws; ++i) {
    const auto chosen = mechanism.release(scores, random).value();
    ++hits[chosen[0]][chosen[1]];
  }
  const double w[3] = {1, std::exp(2.0), std::exp(1.0)};
  const double total = w[0] + w[1] + w[2];
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      const double p = a == b ? 0 : w[a] / total * w[b] / (total - w[a]);
      EXPECT_NEAR(1.0 * hits[a][b] / kDraws, p, 6 * std::sqrt(p * (1 - p) / kDraws)) << a << b;
    }
}

TEST(TopKTest, ChargesKChoicesWithinTheTotal) {
  const auto mechanism = TopK::within(eps(1), 3, kScore).value();
  const LossEvent event = mechanism.loss();
  const auto& repeated = std::get<loss::Repeated>(event.kind);
  EXPECT_EQ(repeated.count, 3u);
  const Epsilon each = std::get<loss::BoundedRange>(repeated.inner->kind).epsilon;
  EXPECT_LE(3 * exact_rational(each.value()).value(), 1);
  EXPECT_GT(each.value(), 0.333);
}

// The bound covers all k ranks at once: the three best stand alone, all others lie just beyond the
// bound.
TEST(TopKTest, ErrorBoundHoldsForEveryRankAtOnce) {
  const auto mechanism = TopK::make(eps(2), 3, kScore).value();
  const double bound = mechanism.whole_error_bound(0.9, 12);
  Scores scores(12, -static_cast<std::int64_t>(bound) - 1);
  scores[0] = scores[1] = scores[2] = 0;
  SeededRandom random(4);
  constexpr int kDraws = 4'000;
  int missed = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto chosen = mechanism.release(scores, random).value();
    missed += std::set<std::size_t>(chosen.begin(), chosen.end()) != std::set<std::size_t>{0, 1, 2};
  }
  EXPECT_LE(1.0 * missed / kDraws, 0.1 + 6 * std::sqrt(0.09 / kDraws));
  EXPECT_GE(mechanism.error_bound(0.9, 12),
            ExponentialMechanism::make(eps(2), kScore)->error_bound(0.9, 12));
}

TEST(TopKTest, ForErrorIsTheInverseOfErrorBound) {
  const auto mechanism = TopK::for_error(10, 0.9, 50, 4, kScore).value();
  EXPECT_LE(mechanism.error_bound(0.9, 50), 10);
  EXPECT_GT(
      TopK::make(eps(mechanism.epsilon_each().value() * 0.999), 4, kScore)->error_bound(0.9, 50),
      10);
}

}  // namespace
}  // namespace discreet
