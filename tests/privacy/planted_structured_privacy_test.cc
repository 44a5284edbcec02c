// Every broken twin of the structured mechanisms is refuted by the audit that their originals pass.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "audit/planted_structured.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

TEST(PlantedStructuredTest, EveryTwinIsCaught) {
  SeededRandom random(20261115);
  std::set<std::string> names;
  for (const auto& twin : planted::structured_twins()) {
    AuditOptions options;
    options.delta = twin.claim.delta.value();
    options.trials = 30'000;
    const AuditResult found = audit_epsilon(twin.without, twin.with, options, random);
    std::cout << twin.name << ": claimed " << twin.claim.epsilon.value() << ", at least "
              << found.lower_bound << " (" << found.event << ")\n";
    EXPECT_GT(found.lower_bound, twin.claim.epsilon.value()) << twin.what;
    EXPECT_TRUE(names.insert(twin.name).second);
    EXPECT_FALSE(twin.what.empty());
  }
  EXPECT_EQ(names.size(), 11u);
}

}  // namespace
}  // namespace discreet
