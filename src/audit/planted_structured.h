// Mechanisms that are broken on purpose: twins of the structured mechanisms and of the combinators,
// each with the claim it does not keep. The audit must refute every one; a twin that survives means
// that the audit is blind, not that the twin is private.
#pragma once

#include <string>
#include <vector>

#include "audit/epsilon_lower_bound.h"
#include "privacy/parameters.h"

namespace discreet::planted {

struct StructuredTwin {
  std::string name;    ///< as one would type it
  std::string what;    ///< what is wrong, in one line
  ApproxDp claim;      ///< what it says it keeps
  AuditedRun without;  ///< a run on one data set ...
  AuditedRun with;     ///< ... and on a neighbour
};

/// All of them, in a fixed order.
std::vector<StructuredTwin> structured_twins();

}  // namespace discreet::planted
