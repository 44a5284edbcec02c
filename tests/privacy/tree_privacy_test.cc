// Tries to refute the guarantee of the hierarchical histogram; its twin, in which every level
// spends the whole epsilon, falls to the same event (planted_privacy_test.cc).
#include <gtest/gtest.h>

#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/tree.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

TEST(TreePrivacyTest, ARowOnAPathOfNodesStaysWithinEpsilon) {
  const auto tree = Tree::laplace(Epsilon::make(1).value(), 16, 2).value();
  ASSERT_EQ(tree.levels(), 4u);
  const auto run = [&](std::int64_t rows) -> AuditedRun {
    return [&tree, rows](RandomSource& random) {
      std::vector<std::int64_t> counts(16);
      counts[0] = rows;
      const auto release = tree.release(counts, random);
      std::int64_t high = 0;  // how many nodes of the path came out above zero
      for (const auto& level : release.noisy()) high += level[0] > 0;
      return high;
    };
  };
  SeededRandom random(20261115);
  AuditOptions options;  // false-alarm rate 1e-9
  options.trials = 100'000;
  const AuditResult found = audit_epsilon(run(0), run(1), options, random);
  std::cout << "tree: at least " << found.lower_bound << " (" << found.event << ")\n";
  EXPECT_LE(found.lower_bound, 1.0);
  EXPECT_GE(found.lower_bound, 0.5);  // the audit sees most of what the four levels give away
}

}  // namespace
}  // namespace discreet
