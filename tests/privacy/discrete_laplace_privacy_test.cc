// Tries to refute the guarantee of DiscreteLaplace, and shows that the same attempt refutes its
// broken twin.
#include <gtest/gtest.h>

#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/discrete_laplace.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

AuditedRun release_of(std::int64_t exact, double epsilon) {
  const auto mechanism =
      DiscreteLaplace::make(Epsilon::make(epsilon).value(), L1Sensitivity{1}).value();
  return [=](RandomSource& random) { return mechanism.release(exact, random); };
}

// False-alarm rate 1e-9 (the audit's confidence); the seed makes any alarm repeatable.
TEST(DiscreteLaplacePrivacyTest, NeighboursStayWithinEpsilon) {
  SeededRandom random(20261115);
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    const AuditResult found =
        audit_epsilon(release_of(0, epsilon), release_of(1, epsilon), {}, random);
    std::cout << "claimed " << epsilon << ", at least " << found.lower_bound << " (" << found.event
              << ")\n";
    EXPECT_LE(found.lower_bound, epsilon);
  }
}

TEST(DiscreteLaplacePrivacyTest, TheAuditReachesFourFifthsOfTheClaim) {
  SeededRandom random(20261116);
  const AuditResult found = audit_epsilon(release_of(0, 1.0), release_of(1, 1.0), {}, random);
  EXPECT_GE(found.lower_bound, 0.8);
}

// The broken twin: noise scaled to half of what the claim needs.
TEST(DiscreteLaplacePrivacyTest, HalfTheNoiseIsCaught) {
  SeededRandom random(20261117);
  const AuditResult found = audit_epsilon(release_of(0, 2.0), release_of(1, 2.0), {}, random);
  EXPECT_GT(found.lower_bound, 1.0);
}

}  // namespace
}  // namespace discreet
