#include "audit/power.h"

#include <gtest/gtest.h>

#include <iostream>

#include "support/seeded_random.h"

namespace discreet {
namespace {

// The innocent are accused with a chance of 1e-9 each; twice the epsilon is seen in 20,000 runs.
TEST(AuditPowerTest, TwiceTheClaimIsSeenAndTheInnocentAreNotAccused) {
  SeededRandom random(1);
  const double truths[] = {1, 2};
  const std::uint64_t trials[] = {20'000};
  for (const PowerPoint& point : audit_power(truths, trials, 4, random)) {
    std::cout << point.subject << ", really " << point.truth << ": " << point.refuted << " of "
              << point.audits << "\n";
    EXPECT_EQ(point.refuted, point.truth > 1 ? 4U : 0U) << point.subject;
  }
}

}  // namespace
}  // namespace discreet
