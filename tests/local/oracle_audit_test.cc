// The audit tries every oracle as a black box, and catches those that are broken.
#include <gtest/gtest.h>

#include <iostream>

#include "local/audits/oracle_audits.h"
#include "support/seeded_random.h"

namespace discreet::local {
namespace {

AuditReport audited(const AuditSubject& subject, std::uint64_t seed) {
  SeededRandom random(seed);
  const AuditReport found = audit(subject, random);
  std::cout << subject.name << ": claimed " << found.claimed << ", at least " << found.lower_bound
            << " by " << found.event << " (false alarm 1e-9)\n";
  return found;
}

TEST(LocalAudit, NoOracleIsRefutedAndEveryOneIsPressedHard) {
  std::uint64_t seed = 20261116;
  for (const AuditSubject& subject : audited_oracles()) {
    const AuditReport found = audited(subject, ++seed);
    EXPECT_FALSE(found.refuted) << subject.name;
    EXPECT_GT(found.lower_bound, 0.5) << subject.name << ": an audit this weak would miss a bug";
  }
}

TEST(LocalAudit, EveryPlantedOracleIsCaught) {
  std::uint64_t seed = 4;
  for (const AuditSubject& subject : planted_oracles())
    EXPECT_TRUE(audited(subject, ++seed).refuted) << subject.name << ": " << subject.about;
}

}  // namespace
}  // namespace discreet::local
