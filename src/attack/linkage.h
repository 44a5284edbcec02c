// Linkage by side information: Sweeney's join of a hospital's discharges with the voter list, and
// the intersection of two k-anonymous releases (Ganta, Kasiviswanathan, Smith 2008).
#pragma once

#include <cstdint>

#include "attack/report.h"
#include "base/result.h"
#include "random/random_source.h"

namespace discreet::attack {

struct LinkageOptions {
  std::size_t people = 20'000;
  std::uint64_t seed = 1;
  std::size_t k = 5;
  double epsilon = 1;
};

struct LinkageReport {
  Report report;
  double predicted = 0;  ///< share of the patients on the list who are alone in zip, birth and sex
};

/// Attempts are patients who are also voters; a success is the right diagnosis against the name.
/// Targets: discharges without names; the same k-anonymous by zip, birth date and sex; counts by
/// zip, birth date, sex and diagnosis with noise that hides nobody; a table of diagnoses by zip
/// with noise that does.
Result<LinkageReport> linkage(const LinkageOptions& options, RandomSource& random);

/// Two hospitals publish k-anonymous tables that share some patients; the attacker intersects the
/// diagnoses of the target's two classes. A success is one diagnosis left, and the right one.
/// Targets: one such table, both, two tables of counts with noise that hides nobody, two with noise
/// that does; there nothing is certain, so the commonest is counted as the attacker's choice.
Result<Report> intersection(const LinkageOptions& options, RandomSource& random);

}  // namespace discreet::attack
