// Tries to refute the guarantee of RandomizedResponse, and shows that the same attempt refutes a
// broken twin.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/randomized_response.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

AuditedRun report_of(const RandomizedResponse& mechanism, std::uint64_t value) {
  return [=](RandomSource& random) {
    return static_cast<std::int64_t>(mechanism.release(value, random));
  };
}

// False-alarm rate 1e-9 (the audit's confidence) in every test here.
TEST(RandomizedResponsePrivacyTest, ReplacingAValueStaysWithinEpsilon) {
  SeededRandom random(20261120);
  for (const std::uint64_t k : {2ULL, 5ULL})
    for (const double epsilon : {0.3, 1.0, 3.0}) {
      const auto mechanism = RandomizedResponse::make(Epsilon::make(epsilon).value(), k).value();
      const AuditResult found =
          audit_epsilon(report_of(mechanism, 0), report_of(mechanism, 1), {}, random);
      std::cout << k << " values: claimed " << epsilon << ", at least " << found.lower_bound
                << "\n";
      EXPECT_LE(found.lower_bound, epsilon);
      if (k == 2) {
        EXPECT_GE(found.lower_bound, 0.75 * epsilon);
      }
    }
}

TEST(RandomizedResponsePrivacyTest, TheCoinFlipFormStaysWithinLnThree) {
  SeededRandom random(20261121);
  const auto mechanism = RandomizedResponse::with_keep(0.5).value();
  const AuditResult found =
      audit_epsilon(report_of(mechanism, 0), report_of(mechanism, 1), {}, random);
  EXPECT_LE(found.lower_bound, mechanism.epsilon().value());
}

// The broken twin: the chance q of keeping taken for the chance of a truth, so that the claim
// forgets the coin that happens to land on the truth: it claims ln(q / (1 - q)) and delivers more.
TEST(RandomizedResponsePrivacyTest, TakingKeepForTruthIsCaught) {
  SeededRandom random(20261122);
  const auto mechanism = RandomizedResponse::with_keep(0.6).value();
  const double claimed = std::log(0.6 / 0.4);
  const AuditResult found =
      audit_epsilon(report_of(mechanism, 0), report_of(mechanism, 1), {}, random);
  std::cout << "claimed " << claimed << ", at least " << found.lower_bound << "\n";
  EXPECT_GT(found.lower_bound, claimed);
}

}  // namespace
}  // namespace discreet
