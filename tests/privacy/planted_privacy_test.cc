// Every planted bug is refuted, every correct mechanism passes, by one and the same audit.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "audit/subject.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

TEST(PlantedPrivacyTest, EveryPlantedMechanismIsCaught) {
  SeededRandom random(20261120);
  for (const AuditSubject& subject : planted_mechanisms()) {
    const AuditReport found = audit(subject, random);
    std::cout << subject.name << " claims " << found.claimed << ", at least " << found.lower_bound
              << " (" << found.event << ")\n";
    EXPECT_TRUE(found.refuted) << subject.name << ": " << subject.about;
  }
}

// False-alarm rate 1e-9 for each mechanism (the audit's confidence).
TEST(PlantedPrivacyTest, NoCorrectMechanismIsAccused) {
  SeededRandom random(20261121);
  for (const AuditSubject& subject : audited_mechanisms()) {
    const AuditReport found = audit(subject, random);
    std::cout << subject.name << " claims " << found.claimed << ", at least " << found.lower_bound
              << " (" << found.event << ")\n";
    EXPECT_FALSE(found.refuted) << subject.name << ": " << subject.about;
  }
}

TEST(PlantedPrivacyTest, SubjectsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const auto& subjects : {audited_mechanisms(), planted_mechanisms()})
    for (const AuditSubject& subject : subjects) {
      EXPECT_TRUE(names.insert(subject.name).second) << subject.name;
      EXPECT_FALSE(subject.about.empty()) << subject.name;
    }
  EXPECT_GE(planted_mechanisms().size(), 33U);
}

}  // namespace
}  // namespace discreet
