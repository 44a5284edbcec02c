// Tries to refute the guarantee of top-k; its broken twin is in planted_privacy_test.cc.
#include <gtest/gtest.h>

#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/top_k.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Scores = std::vector<std::int64_t>;

// Weights are prepared once, as release would prepare them anew for every run; the test below ties
// the two.
AuditedRun best(double total, std::uint64_t k, const Scores& scores) {
  const auto top = TopK::within(Epsilon::make(total).value(), k, {LInfSensitivity{1}}).value();
  const auto each = ExponentialMechanism::make(top.epsilon_each(), {LInfSensitivity{1}}).value();
  return [=, weights = each.weights(scores).value()](RandomSource& random) {
    std::int64_t key = 0;
    for (const std::size_t index : weights.draw_distinct(k, random))
      key = key * static_cast<std::int64_t>(scores.size()) + static_cast<std::int64_t>(index);
    return key;
  };
}

// False-alarm rate 1e-9 (the audit's confidence); the seed makes any alarm repeatable.
TEST(TopKPrivacyTest, NeighboursStayWithinTheTotal) {
  SeededRandom random(20261209);
  for (const double total : {1.0, 3.0}) {
    const AuditResult found = audit_epsilon(best(total, 3, {0, 0, 0, 2, 2, 2}),
                                            best(total, 3, {1, 1, 1, 1, 1, 1}), {}, random);
    std::cout << "claimed " << total << ", at least " << found.lower_bound << " (" << found.event
              << ")\n";
    EXPECT_LE(found.lower_bound, total);
  }
}

TEST(TopKPrivacyTest, ReleaseDrawsWhatTheAuditDraws) {
  const Scores scores{3, 1, 4, 1, 5};
  const auto top = TopK::within(Epsilon::make(2.0).value(), 2, {LInfSensitivity{1}}).value();
  const AuditedRun audited = best(2.0, 2, scores);
  SeededRandom one(7), other(7);
  for (int i = 0; i < 50; ++i) {
    const auto chosen = top.release(scores, one).value();
    EXPECT_EQ(static_cast<std::int64_t>(chosen[0] * 5 + chosen[1]), audited(other));
  }
}

}  // namespace
}  // namespace discreet
