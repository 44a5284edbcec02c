// Tries to refute the guarantees of the exponential mechanism; its broken twins are in
// planted_privacy_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/exponential.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Scores = std::vector<std::int64_t>;

ExponentialMechanism mechanism(double epsilon, bool monotone) {
  return ExponentialMechanism::make(Epsilon::make(epsilon).value(), {LInfSensitivity{1}, monotone})
      .value();
}

AuditedRun choice(double epsilon, bool monotone, const Scores& scores) {
  const auto weights = mechanism(epsilon, monotone).weights(scores).value();
  return [=](RandomSource& random) { return static_cast<std::int64_t>(weights.draw(random)); };
}

// False-alarm rate 1e-9 (the audit's confidence); the seed makes any alarm repeatable.
TEST(ExponentialPrivacyTest, NeighboursStayWithinEpsilon) {
  SeededRandom random(20261201);
  for (const double epsilon : {0.5, 1.0, 3.0}) {
    const AuditResult any = audit_epsilon(choice(epsilon, false, {0, 3, 1}),
                                          choice(epsilon, false, {1, 2, 1}), {}, random);
    const AuditResult monotone = audit_epsilon(choice(epsilon, true, {0, 3, 3}),
                                               choice(epsilon, true, {1, 3, 3}), {}, random);
    std::cout << "claimed " << epsilon << ", at least " << any.lower_bound << " (" << any.event
              << "), monotone " << monotone.lower_bound << " (" << monotone.event << ")\n";
    EXPECT_LE(any.lower_bound, epsilon);
    EXPECT_LE(monotone.lower_bound, epsilon);
  }
}

// The claim is not only safe but nearly reached: an unlikely candidate rises while the likely one
// falls.
TEST(ExponentialPrivacyTest, TheAuditReachesThreeQuartersOfTheClaim) {
  SeededRandom random(20261202);
  const AuditResult found =
      audit_epsilon(choice(1, false, {0, 6}), choice(1, false, {1, 5}), {}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_GE(found.lower_bound, 0.75);
}

// Bounded range in exact terms on a small domain: over all pairs of neighbours with scores in {0,
// 1, 2}^3 the log-likelihood ratios span at most epsilon, and for some pair they span all of it.
// Not statistical.
TEST(ExponentialPrivacyTest, LogLikelihoodRatiosSpanAtMostEpsilonOnEveryPairOfASmallDomain) {
  constexpr double kEpsilon = 1.3;
  for (const bool monotone : {false, true}) {
    const double unit = to_double_down(mechanism(kEpsilon, monotone).unit());
    double widest = 0;
    for (int x = 0; x < 27; ++x)
      for (int y = 0; y < 27; ++y) {
        const int a[3] = {x % 3, x / 3 % 3, x / 9}, b[3] = {y % 3, y / 3 % 3, y / 9};
        int least = 9, most = -9;
        for (int i = 0; i < 3; ++i) {
          least = std::min(least, b[i] - a[i]);
          most = std::max(most, b[i] - a[i]);
        }
        if (least < -1 || most > 1 || (monotone && least < 0 && most > 0))
          continue;  // not neighbours
        double total_a = 0, total_b = 0, low = 9, high = -9;
        for (int i = 0; i < 3; ++i) {
          total_a += std::exp(unit * a[i]);
          total_b += std::exp(unit * b[i]);
        }
        for (int i = 0; i < 3; ++i) {
          const double ratio = unit * (b[i] - a[i]) - std::log(total_b / total_a);
          EXPECT_LE(std::fabs(ratio), kEpsilon + 1e-12);
          low = std::fmin(low, ratio);
          high = std::fmax(high, ratio);
        }
        widest = std::fmax(widest, high - low);
      }
    EXPECT_NEAR(widest, kEpsilon, 1e-12);
  }
}

}  // namespace
}  // namespace discreet
