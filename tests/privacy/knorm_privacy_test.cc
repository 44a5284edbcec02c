// Tries to refute the guarantees of the joint moments and of the bivariate cells; the twin that
// spends epsilon on every feature is in planted_privacy_test.cc.
#include <gtest/gtest.h>

#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/bivariate.h"
#include "mechanisms/knorm.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

AuditResult audit(const AuditedRun& without, const AuditedRun& with, const char* what) {
  SeededRandom random(20261115);
  AuditOptions options;  // false-alarm rate 1e-9
  options.trials = 200'000;
  const AuditResult found = audit_epsilon(without, with, options, random);
  std::cout << what << ": at least " << found.lower_bound << " (" << found.event << ")\n";
  return found;
}

// The signs of all features, and a coarse size of the count.
AuditedRun key_of(const KNorm& mechanism, std::vector<std::int64_t> rows) {
  std::vector<Int128> sums(mechanism.features());
  for (const auto row : rows) {
    const std::vector<std::int64_t> values(mechanism.columns().size(), row);
    mechanism.add_row(values, sums);
  }
  return [&mechanism, sums](RandomSource& random) {
    std::int64_t code = 0;
    for (const Int128 feature : mechanism.release(sums, random)) code = 2 * code + (feature > 0);
    return code;
  };
}

TEST(KNormPrivacyTest, NeighboursStayWithinEpsilon) {
  const auto epsilon = Epsilon::make(1).value();
  const std::vector<MomentColumn> shapes[] = {{{{0, 4}, false}},
                                              {{{0, 4}, true}},
                                              {{{0, 4}, true}, {{0, 4}, false}},
                                              {{{0, 1'000'003}, true}}};
  double best = 0;
  for (const auto& columns : shapes) {
    const auto mechanism = KNorm::make(epsilon, columns).value();
    for (const std::int64_t row : {0, 2, 4, 1'000'003}) {
      const auto found = audit(key_of(mechanism, {}), key_of(mechanism, {row}), "moments");
      EXPECT_LE(found.lower_bound, 1.0);
      best = std::max(best, found.lower_bound);
    }
  }
  EXPECT_GE(best, 0.5);  // the audit is not blind
}

TEST(BivariatePrivacyTest, NeighboursStayWithinEpsilon) {
  for (const auto degree : {BivariateDegree::Covariance, BivariateDegree::Correlation}) {
    const auto mechanism =
        Bivariate::make(Epsilon::make(1).value(), {0, 4}, {0, 3}, degree).value();
    const auto key = [&](bool with, std::int64_t x, std::int64_t y) -> AuditedRun {
      std::vector<std::int64_t> sums(mechanism.cells());
      if (with) mechanism.add_row(x, y, sums);
      return [&mechanism, sums](RandomSource& random) {
        std::int64_t code = 0;
        const auto release = mechanism.release(sums, random);
        for (const auto cell : release.noisy()) code = 2 * code + (cell > 0);
        return code;
      };
    };
    for (const auto& [x, y] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {2, 1}, {4, 3}})
      EXPECT_LE(audit(key(false, 0, 0), key(true, x, y), "cells").lower_bound, 1.0);
  }
}

}  // namespace
}  // namespace discreet
