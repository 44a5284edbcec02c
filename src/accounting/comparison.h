// One composition under every theorem, side by side: for teaching, and for choosing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "accounting/bracket.h"
#include "base/result.h"
#include "privacy/loss_event.h"
#include "privacy/neighbours.h"

namespace discreet {

struct ComparisonLine {
  std::string method;   ///< "basic", "advanced", "optimal", "RDP", "zCDP", "PLD"
  std::string theorem;  ///< whose
  std::optional<double> epsilon;
  std::optional<double> lower;  ///< for PLD: the bracket's lower end
  std::string remark;           ///< why there is no value, or how it was got
};

/// The epsilon at this delta that each theorem gives for the event.
std::vector<ComparisonLine> compare_theorems(const LossEvent& event, double delta,
                                             Neighbours neighbours);

}  // namespace discreet
