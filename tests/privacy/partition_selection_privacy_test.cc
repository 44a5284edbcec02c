// Tries to refute the guarantees of partition selection on neighbouring numbers of units. Its
// broken twin is in planted_privacy_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/partition_threshold.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

const ApproxDp kBudget{Epsilon::make(1).value(), Delta::make(0.01).value()};

template <class Mechanism>
AuditedRun release_of(const Mechanism& mechanism, std::uint64_t units) {
  return [=](RandomSource& random) -> std::int64_t {
    return mechanism.release(units, random).value_or(-1000);
  };
}

void expect_private(const AuditedRun& without, const AuditedRun& with, const char* what) {
  SeededRandom random(20261115);
  AuditOptions options;  // false-alarm rate 1e-9
  options.delta = kBudget.delta.value();
  options.trials = 100'000;
  const AuditResult found = audit_epsilon(without, with, options, random);
  std::cout << what << ": at least " << found.lower_bound << " (" << found.event << ")\n";
  EXPECT_LE(found.lower_bound, kBudget.epsilon.value()) << what;
}

TEST(PartitionSelectionPrivacyTest, NeighbouringNumbersOfUnitsStayWithinEpsilonAndDelta) {
  const auto coin = PartitionSelection::make(kBudget, {}).value();
  const auto noisy = NoisyPartitionSelection::make(kBudget, {}).value();
  const auto laplace = PartitionThreshold::laplace(kBudget, {}).value();
  const auto gaussian = PartitionThreshold::gaussian(kBudget, {}).value();
  for (const std::uint64_t n : {0, 1, 4, 5, 8}) {
    const auto toss = [&](std::uint64_t units) -> AuditedRun {
      return
          [&coin, units](RandomSource& random) -> std::int64_t { return coin.keep(units, random); };
    };
    expect_private(toss(n), toss(n + 1), "optimal coin");
    expect_private(release_of(noisy, n), release_of(noisy, n + 1), "truncated geometric");
    expect_private(release_of(laplace, n), release_of(laplace, n + 1), "Laplace threshold");
    expect_private(release_of(gaussian, n), release_of(gaussian, n + 1), "Gaussian threshold");
  }
}

// The claim in numbers, not samples: both conditions of (epsilon, delta)-DP for a yes/no answer.
TEST(PartitionSelectionPrivacyTest, ExactChancesMeetTheDefinition) {
  const auto coin = PartitionSelection::make(kBudget, {}).value();
  const double e = std::exp(1.0), d = 0.01, tiny = 1e-12;
  bool tight = false;
  for (std::uint64_t n = 0; n < 40; ++n) {
    const double p = coin.keep_probability(n), q = coin.keep_probability(n + 1);
    EXPECT_LE(q, e * p + d + tiny);
    EXPECT_LE(p, e * q + d + tiny);
    EXPECT_LE(1 - p, e * (1 - q) + d + tiny);
    EXPECT_LE(1 - q, e * (1 - p) + d + tiny);
    tight |= std::abs(q - (e * p + d)) < tiny;
  }
  EXPECT_TRUE(tight);
}

}  // namespace
}  // namespace discreet
