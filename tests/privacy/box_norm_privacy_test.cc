// Tries to refute the joint release of sums of different sizes, and its twin of half the radius.
#include <gtest/gtest.h>

#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/box_norm.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

AuditedRun signs(const BoxNorm& mechanism, std::vector<Int128> sums) {
  return [&mechanism, sums](RandomSource& random) {
    std::int64_t code = 0;
    for (const double sum : mechanism.release(sums, random)) code = 2 * code + (sum > 0);
    return code;
  };
}

double found(const BoxNorm& mechanism, const char* what) {
  SeededRandom random(20261115);
  AuditOptions options;  // false-alarm rate 1e-9
  options.trials = 60'000;
  double best = 0;
  // A row at a corner of the box, and one at the middle of its range.
  for (const std::vector<Int128>& row :
       {std::vector<Int128>{1, 100, 10'000}, std::vector<Int128>{1, 0, -10'000}}) {
    const AuditResult result =
        audit_epsilon(signs(mechanism, {0, 0, 0}), signs(mechanism, row), options, random);
    std::cout << what << ": at least " << result.lower_bound << " (" << result.event << ")\n";
    best = std::max(best, result.lower_bound);
  }
  return best;
}

TEST(BoxNormPrivacyTest, NeighboursStayWithinEpsilon) {
  const auto mechanism = BoxNorm::make(Epsilon::make(1).value(), {1, 100, 10'000}).value();
  const double bound = found(mechanism, "box");
  EXPECT_LE(bound, 1.0);
  EXPECT_GE(bound, 0.5);  // the audit is not blind
}

TEST(BoxNormPrivacyTest, TheStatedLawIsRefutedForAHalvedRadius) {
  // Noise of half the size, sold as epsilon 1.
  const auto mechanism = BoxNorm::make(Epsilon::make(2).value(), {1, 100, 10'000}).value();
  EXPECT_GT(found(mechanism, "half the radius"), 1.0);
}

}  // namespace
}  // namespace discreet
