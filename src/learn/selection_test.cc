#include "learn/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/discrete_gaussian.h"
#include "support/seeded_random.h"

namespace discreet::learn {
namespace {

ApproxDp budget(double epsilon) {
  return {Epsilon::make(epsilon).value(), Delta::make(1e-5).value()};
}

TEST(RandomStoppingTest, ChoosingHasAPriceThatGrowsWithTheRuns) {
  const auto one = RandomStopping::make(budget(1), 1).value();
  const auto five = RandomStopping::make(budget(1), 5).value();
  const auto many = RandomStopping::make(budget(1), 100).value();
  EXPECT_GT(one.run_mu(), five.run_mu());
  EXPECT_GT(five.run_mu(), many.run_mu());
  std::cout << "mu of a run at epsilon 1: " << one.run_mu() << ", " << five.run_mu() << ", "
            << many.run_mu() << "\n";
  for (const double runs : {1.0, 5.0, 100.0}) {
    const double rho = RandomStopping::make(budget(1), runs).value().run_rho().value();
    EXPECT_LE(RandomStopping::epsilon(rho, runs, 1e-5), 1);
    EXPECT_GT(RandomStopping::epsilon(1.01 * rho, runs, 1e-5), 1);
  }
  EXPECT_FALSE(RandomStopping::make(budget(1), 0.5).has_value());
  EXPECT_FALSE(RandomStopping::make({Epsilon::make(1).value(), Delta::zero()}, 5).has_value());
}

TEST(RandomStoppingTest, TheNumberOfRunsIsGeometric) {
  SeededRandom random(1);
  const auto stopping = RandomStopping::make(budget(1), 4).value();
  double mean = 0, ones = 0;
  const int trials = 40'000;
  for (int i = 0; i < trials; ++i) {
    const auto runs = stopping.draw_runs(random);
    ASSERT_GE(runs, 1u);
    mean += static_cast<double>(runs) / trials;
    ones += runs == 1 ? 1.0 / trials : 0;
  }
  std::cout << "mean " << mean << ", share of ones " << ones << "\n";
  EXPECT_NEAR(mean, 4, 6 * std::sqrt(12.0 / trials));
  EXPECT_NEAR(ones, 0.25, 6 * std::sqrt(0.25 * 0.75 / trials));
}

// A run is a noisy score that one row moves; the best one is shown.
TEST(RandomStoppingTest, TheBestOfARandomNumberStaysBelowTheClaimAndTheBestOfSixtyDoesNot) {
  SeededRandom random(2);
  const auto stopping = RandomStopping::make(budget(2), 5).value();
  constexpr std::int64_t kStep = 1000;
  const auto scores_of = [&](double mu) {
    return DiscreteGaussian::make(Rho::make(mu * mu / 2).value(), L2Sensitivity{kStep}, 4096)
        .value();
  };
  const auto best_of = [&](const DiscreteGaussian& run, std::uint64_t runs, std::int64_t exact,
                           RandomSource& r) {
    std::vector<std::int64_t> scores(runs, exact);
    run.release(scores, r);
    return *std::max_element(scores.begin(), scores.end()) / 200;
  };
  const AuditOptions options{.trials = 20'000, .confidence = 1 - 1e-7, .delta = 1e-5};
  const auto ours = scores_of(stopping.run_mu());
  const double audited =
      audit_epsilon([&](RandomSource& r) { return best_of(ours, stopping.draw_runs(r), kStep, r); },
                    [&](RandomSource& r) { return best_of(ours, stopping.draw_runs(r), 0, r); },
                    options, random)
          .lower_bound;
  // The twin spends the whole budget on each of sixty runs, as a grid search does.
  const auto twin = scores_of(RandomStopping::make(budget(2), 1).value().run_mu());
  const double caught =
      audit_epsilon([&](RandomSource& r) { return best_of(twin, 60, kStep, r); },
                    [&](RandomSource& r) { return best_of(twin, 60, 0, r); }, options, random)
          .lower_bound;
  std::cout << "claim 2: audited " << audited << ", grid search " << caught << "\n";
  EXPECT_LE(audited, 2);
  EXPECT_GT(caught, 2);
}

}  // namespace
}  // namespace discreet::learn
