// Every planted bug of audit/planted_selection is refuted by the audit, at its own claim.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "audit/planted_selection.h"
#include "support/seeded_random.h"

namespace discreet::planted {
namespace {

void expect_all_caught(const std::vector<SelectionTwin>& twins, std::uint64_t seed) {
  SeededRandom random(seed);
  for (const SelectionTwin& twin : twins) {
    const AuditResult found = audit_epsilon(twin.first, twin.second, {}, random);
    std::cout << twin.name << " claims " << twin.claimed_epsilon << ", at least "
              << found.lower_bound << " (" << found.event << ")\n";
    EXPECT_GT(found.lower_bound, twin.claimed_epsilon) << twin.name << ": " << twin.description;
  }
}

TEST(PlantedSelectionPrivacyTest, EveryBrokenSelectionIsCaught) {
  expect_all_caught(selection_twins(), 20261120);
}

TEST(PlantedSelectionPrivacyTest, EveryBrokenSparseVectorIsCaught) {
  expect_all_caught(sparse_vector_twins(), 20261121);
}

TEST(PlantedSelectionPrivacyTest, TwinsHaveNamesOfTheirOwnAndSayWhatTheyClaim) {
  std::set<std::string> names;
  for (const auto& twins : {selection_twins(), sparse_vector_twins()})
    for (const SelectionTwin& twin : twins) {
      EXPECT_TRUE(names.insert(twin.name).second) << twin.name;
      EXPECT_FALSE(twin.description.empty() || twin.claim.empty()) << twin.name;
    }
}

}  // namespace
}  // namespace discreet::planted
