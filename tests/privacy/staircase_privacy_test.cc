// Tries to refute the guarantee of Staircase, and shows that the same attempt refutes a broken
// twin.
#include <gtest/gtest.h>

#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/staircase.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

AuditedRun release_of(const Staircase& mechanism, std::int64_t exact) {
  return [=](RandomSource& random) { return mechanism.release(exact, random); };
}

// False-alarm rate 1e-9 in both tests (the audit's confidence).
TEST(StaircasePrivacyTest, NeighboursStayWithinEpsilon) {
  SeededRandom random(20261150);
  for (const double epsilon : {0.5, 1.0, 3.0}) {
    const auto mechanism =
        Staircase::make(Epsilon::make(epsilon).value(), L1Sensitivity{5}).value();
    for (const std::int64_t move : {1, 3, 5}) {
      const AuditResult found = audit_epsilon(release_of(mechanism, 0), release_of(mechanism, move),
                                              {.trials = 60'000}, random);
      std::cout << "claimed " << epsilon << ", moved by " << move << ": at least "
                << found.lower_bound << "\n";
      EXPECT_LE(found.lower_bound, epsilon);
      if (move == 5 && epsilon < 2) {
        EXPECT_GE(found.lower_bound, 0.7 * epsilon);
      }
    }
  }
}

// The broken twin: stairs as wide as 4 for answers that move by 5, which crosses two stairs at
// once.
TEST(StaircasePrivacyTest, StairsNarrowerThanTheSensitivityAreCaught) {
  SeededRandom random(20261151);
  const auto mechanism = Staircase::make(Epsilon::make(1).value(), L1Sensitivity{4}).value();
  const AuditResult found =
      audit_epsilon(release_of(mechanism, 0), release_of(mechanism, 5), {}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_GT(found.lower_bound, 1.0);
}

}  // namespace
}  // namespace discreet
