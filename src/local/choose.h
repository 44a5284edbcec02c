// Which oracle, and how much epsilon: both follow from the variance, before anyone reports.
#pragma once

#include <cstdint>
#include <vector>

#include "local/spec.h"

namespace discreet::local {

struct Choice {
  Spec spec;
  double variance = 0;  ///< of a count estimate per report, averaged over the values
  std::size_t report_bytes = 0;
};

/// Every oracle for numbered values (or, with values = 0, for means), least variance first. The
/// average over the values does not depend on who holds what.
Result<std::vector<Choice>> compare_oracles(double epsilon, std::uint64_t values);

/// The oracle of least variance; among those within two per cent of it, the one with the shortest
/// reports.
Result<Spec> choose_oracle(double epsilon, std::uint64_t values);

struct ErrorGoal {
  double error = 0;           ///< of a count, not a share
  std::uint64_t reports = 0;  ///< the population
  double confidence = 0.95;
  bool simultaneous = false;  ///< for all values together
};
/// The least epsilon (to one part in 10^6, rounded up) at which this oracle reaches the goal for
/// counts of no more than half the population; `spec.epsilon` is ignored.
/// Refused: no epsilon up to kEpsilonMax reaches it.
Result<double> epsilon_for_error(Spec spec, const ErrorGoal& goal);

}  // namespace discreet::local
