// Tries to refute the guarantee of permute-and-flip; its broken twin is in
// planted_privacy_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/permute_and_flip.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Scores = std::vector<std::int64_t>;

AuditedRun choice(double epsilon, bool monotone, const Scores& scores) {
  const auto mechanism =
      PermuteAndFlip::make(Epsilon::make(epsilon).value(), {LInfSensitivity{1}, monotone}).value();
  return [=](RandomSource& random) {
    return static_cast<std::int64_t>(mechanism.release(scores, random).value());
  };
}

// False-alarm rate 1e-9 (the audit's confidence); the seed makes any alarm repeatable.
TEST(PermuteAndFlipPrivacyTest, NeighboursStayWithinEpsilon) {
  SeededRandom random(20261203);
  for (const double epsilon : {0.5, 1.0, 3.0}) {
    const AuditResult any =
        audit_epsilon(choice(epsilon, false, {0, 2}), choice(epsilon, false, {1, 1}), {}, random);
    const AuditResult monotone = audit_epsilon(choice(epsilon, true, {0, 2, 2}),
                                               choice(epsilon, true, {1, 2, 2}), {}, random);
    std::cout << "claimed " << epsilon << ", at least " << any.lower_bound << " (" << any.event
              << "), monotone " << monotone.lower_bound << " (" << monotone.event << ")\n";
    EXPECT_LE(any.lower_bound, epsilon);
    EXPECT_LE(monotone.lower_bound, epsilon);
  }
}

// P[0] = exp(-unit gap) / 2 for two candidates: moving the gap by two moves it by exactly
// e^epsilon.
TEST(PermuteAndFlipPrivacyTest, TheAuditReachesFourFifthsOfTheClaim) {
  SeededRandom random(20261204);
  const AuditResult found =
      audit_epsilon(choice(1, false, {0, 2}), choice(1, false, {1, 1}), {}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_GE(found.lower_bound, 0.8);
}

// Why loss() is not bounded range: on these neighbours the two log-likelihood ratios are -1 and
// about +0.49, a span of about 1.49 at epsilon 1. Each half is measured with chance of a wrong
// limit 1e-9.
TEST(PermuteAndFlipPrivacyTest, LogLikelihoodRatiosSpanMoreThanEpsilon) {
  SeededRandom random(20261205);
  constexpr std::uint64_t kTrials = 200'000;
  const AuditedRun equal = choice(1, false, {1, 1}), apart = choice(1, false, {0, 2});
  std::uint64_t second_equal = 0, second_apart = 0;
  for (std::uint64_t i = 0; i < kTrials; ++i) {
    second_equal += equal(random) == 1;
    second_apart += apart(random) == 1;
  }
  const double up = std::log(probability_at_least(second_apart, kTrials, 1e-9) /
                             probability_at_most(second_equal, kTrials, 1e-9));
  const double down = std::log(probability_at_least(kTrials - second_equal, kTrials, 1e-9) /
                               probability_at_most(kTrials - second_apart, kTrials, 1e-9));
  std::cout << "spans at least " << up + down << " at epsilon 1\n";
  EXPECT_GT(up + down, 1.3);
}

}  // namespace
}  // namespace discreet
