// Tries to refute the (epsilon, delta) guarantee of DiscreteGaussian, and of Gaussian noise on a
// grid.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <vector>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/grid_gaussian.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

ApproxDp dp(double epsilon, double delta) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}

// False-alarm rate 1e-9 in every test here (the audit's confidence).
TEST(DiscreteGaussianPrivacyTest, NeighboursStayWithinEpsilonAndDelta) {
  SeededRandom random(20261130);
  for (const double epsilon : {0.5, 1.0, 2.0}) {
    constexpr double kDelta = 0.01;
    const auto mechanism = DiscreteGaussian::make(dp(epsilon, kDelta), L2Sensitivity{2}).value();
    const auto run = [&](std::int64_t exact) -> AuditedRun {
      return [=](RandomSource& source) { return mechanism.release(exact, source); };
    };
    const AuditResult found = audit_epsilon(run(0), run(2), {.delta = kDelta}, random);
    std::cout << "claimed " << epsilon << ", at least " << found.lower_bound << " (" << found.event
              << ")\n";
    EXPECT_LE(found.lower_bound, epsilon);
  }
}

TEST(DiscreteGaussianPrivacyTest, VectorsStayWithinEpsilonAndDelta) {
  SeededRandom random(20261131);
  constexpr double kDelta = 0.01;
  const auto mechanism =
      GridGaussian::make(dp(1, kDelta), L2Sensitivity{5}, Grid::make(1.0).value(), 2).value();
  // The neighbour differs by (3, 4); the projection on that direction is the whole of the loss.
  const auto run = [&](double a, double b) -> AuditedRun {
    return [=](RandomSource& source) {
      std::vector<double> answer{a, b};
      mechanism.release(answer, source);
      return static_cast<std::int64_t>(3 * answer[0] + 4 * answer[1]);
    };
  };
  const AuditResult found = audit_epsilon(run(0, 0), run(3, 4), {.delta = kDelta}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_LE(found.lower_bound, 1.0);
}

// The broken twin: the noise of half the sensitivity.
TEST(DiscreteGaussianPrivacyTest, NoiseForHalfTheSensitivityIsCaught) {
  SeededRandom random(20261132);
  constexpr double kDelta = 0.01;
  const auto mechanism = DiscreteGaussian::make(dp(1, kDelta), L2Sensitivity{1}).value();
  const auto run = [&](std::int64_t exact) -> AuditedRun {
    return [=](RandomSource& source) { return mechanism.release(exact, source); };
  };
  const AuditResult found = audit_epsilon(run(0), run(2), {.delta = kDelta}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_GT(found.lower_bound, 1.0);
}

}  // namespace
}  // namespace discreet
