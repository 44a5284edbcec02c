// Planted bugs in selection and sparse vector: mechanisms that claim a privacy they do not have.
//
// Each is a mistake that was made in print or in a library. An audit that cannot refute every one
// of them is not worth running; `tests/privacy` demands it. Nothing outside audits and tests may
// call these.
#pragma once

#include <string>
#include <vector>

#include "audit/epsilon_lower_bound.h"

namespace discreet::planted {

/// One broken mechanism and a pair of neighbours that gives it away.
struct SelectionTwin {
  std::string name;         ///< for the command line: letters and hyphens
  std::string description;  ///< what is wrong, in one line
  std::string claim;        ///< what it says of itself, in one line
  double claimed_epsilon;
  AuditedRun first, second;  ///< runs on neighbouring data sets
};

/// Exponential mechanism, permute-and-flip, noisy max and top-k.
std::vector<SelectionTwin> selection_twins();
/// The non-private variants 3 to 6 of Lyu, Su and Li 2017, and a threshold without noise.
std::vector<SelectionTwin> sparse_vector_twins();

}  // namespace discreet::planted
