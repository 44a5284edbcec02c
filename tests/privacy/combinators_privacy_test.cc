// Tries to refute the combinators where they are used as they should be: disjoint parts, secret
// samples, disjoint blocks. Each has a twin that is not, in planted_privacy_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/combinators.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/sample_and_aggregate.h"
#include "mechanisms/subsample.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

const Epsilon kOne = Epsilon::make(1).value();

AuditResult audit(const AuditedRun& without, const AuditedRun& with, const char* what,
                  std::uint64_t trials) {
  SeededRandom random(20261115);
  AuditOptions options;  // false-alarm rate 1e-9
  options.trials = trials;
  const AuditResult found = audit_epsilon(without, with, options, random);
  std::cout << what << ": at least " << found.lower_bound << " (" << found.event << ")\n";
  return found;
}

TEST(CombinatorsPrivacyTest, DisjointPartsCostTheWorstOfThem) {
  const auto noise = DiscreteLaplace::make(kOne, L1Sensitivity{1}).value();
  const auto run = [&](std::vector<int> rows) -> AuditedRun {
    return [&noise, rows](RandomSource& random) {
      const auto parts = split_disjoint<int>(rows, 3, [](int row) { return std::size_t(row % 3); });
      std::int64_t code = 0;
      for (const auto& part : parts)
        code = 2 * code + (noise.release(static_cast<std::int64_t>(part.size()), random) > 0);
      return code;
    };
  };
  const auto found = audit(run({0, 1, 2}), run({0, 1, 2, 5}), "parallel", 100'000);
  EXPECT_LE(found.lower_bound, 1.0);
}

TEST(CombinatorsPrivacyTest, SecretSamplesAmplify) {
  const auto noise = DiscreteLaplace::make(kOne, L1Sensitivity{1}).value();
  const double claimed = amplified({kOne, Delta::zero()}, 0.3).epsilon.value();
  const auto poisson = PoissonSample::make(0.3).value();
  const auto counted = [&](std::size_t units) -> AuditedRun {
    return [&, units](RandomSource& random) {
      return noise.release(static_cast<std::int64_t>(poisson.draw(units, random).size()), random);
    };
  };
  const auto found = audit(counted(0), counted(1), "Poisson sample", 200'000);
  EXPECT_LE(found.lower_bound, claimed);
  EXPECT_GE(found.lower_bound, 0.5 * claimed);

  const auto fixed = FixedSample::make(3, 10).value();
  const auto flagged = [&](std::int64_t bit) -> AuditedRun {
    return [&, bit](RandomSource& random) {
      std::int64_t sum = 0;
      for (const auto place : fixed.draw(random)) sum += place == 0 ? bit : 0;
      return noise.release(sum, random);
    };
  };
  EXPECT_LE(audit(flagged(0), flagged(1), "fixed sample", 200'000).lower_bound, claimed);
}

TEST(CombinatorsPrivacyTest, DisjointBlocksHideARow) {
  // The worst estimator: one row throws its block's answer from end to end.
  const BlockEstimator extreme = [](std::span<const std::size_t> rows) -> std::int64_t {
    for (const auto row : rows)
      if (row == 5) return 4;
    return 0;
  };
  for (const auto kind : {BlockAggregate::Median, BlockAggregate::Mean}) {
    const auto mechanism = SampleAndAggregate::make(kOne, 3, {0, 4}, kind).value();
    const auto run = [&](std::size_t rows) -> AuditedRun {
      return [&, rows](RandomSource& random) {
        return static_cast<std::int64_t>(
            std::llround(3 * mechanism.release(rows, extreme, random)));
      };
    };
    EXPECT_LE(audit(run(5), run(6), "sample and aggregate", 60'000).lower_bound, 1.0);
  }
}

}  // namespace
}  // namespace discreet
