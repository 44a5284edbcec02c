// Tries to refute the guarantees of noisy max; its broken twins are in
// planted_privacy_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/noisy_max.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Scores = std::vector<std::int64_t>;

NoisyMax mechanism(double epsilon, bool monotone, MaxNoise noise) {
  return NoisyMax::make(Epsilon::make(epsilon).value(), {LInfSensitivity{1}, monotone}, noise)
      .value();
}

AuditedRun choice(double epsilon, bool monotone, MaxNoise noise, const Scores& scores) {
  return [=, max = mechanism(epsilon, monotone, noise)](RandomSource& random) {
    return static_cast<std::int64_t>(max.release(scores, random).value());
  };
}

AuditedRun choice_with_gap(const Scores& scores) {
  return [=, max = mechanism(1, false, MaxNoise::DiscreteLaplace)](RandomSource& random) {
    const auto found = max.release_with_gap(scores, random).value();
    const std::int64_t gap = std::min<std::int64_t>(found.gap, 999);
    return found.index == 0 ? -1 - gap
                            : gap;  // half-lines then mean "candidate 0 by at least this much"
  };
}

// False-alarm rate 1e-9 (the audit's confidence) an audit; the seed makes any alarm repeatable.
// Tied scores are among the neighbours, since ties are where whole-number noise could go wrong.
TEST(NoisyMaxPrivacyTest, NeighboursStayWithinEpsilon) {
  SeededRandom random(20261206);
  for (const MaxNoise noise : {MaxNoise::Geometric, MaxNoise::DiscreteLaplace})
    for (const double epsilon : {0.5, 1.0, 3.0}) {
      const AuditResult any = audit_epsilon(choice(epsilon, false, noise, {0, 2}),
                                            choice(epsilon, false, noise, {1, 1}), {}, random);
      const AuditResult monotone =
          audit_epsilon(choice(epsilon, true, noise, {0, 1, 1}),
                        choice(epsilon, true, noise, {1, 1, 1}), {}, random);
      std::cout << "claimed " << epsilon << ", at least " << any.lower_bound << " (" << any.event
                << "), monotone " << monotone.lower_bound << "\n";
      EXPECT_LE(any.lower_bound, epsilon);
      EXPECT_LE(monotone.lower_bound, epsilon);
    }
}

TEST(NoisyMaxPrivacyTest, TheAuditReachesFourFifthsOfTheClaim) {
  SeededRandom random(20261207);
  const AuditResult found =
      audit_epsilon(choice(1, false, MaxNoise::Geometric, {0, 2}),
                    choice(1, false, MaxNoise::Geometric, {1, 1}), {}, random);
  EXPECT_GE(found.lower_bound, 0.8);
}

// The gap costs nothing beyond the index, for many candidates moving at once.
TEST(NoisyMaxPrivacyTest, TheGapUnderLaplaceNoiseStaysWithinEpsilon) {
  SeededRandom random(20261208);
  const AuditResult found = audit_epsilon(choice_with_gap({1, 0, 0, 0, 0, 0}),
                                          choice_with_gap({0, 1, 1, 1, 1, 1}), {}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << " (" << found.event << ")\n";
  EXPECT_LE(found.lower_bound, 1.0);
  EXPECT_GE(found.lower_bound, 0.5);
}

}  // namespace
}  // namespace discreet
