// Who was in the study? Given the averages of many attributes over a group, tell members from
// strangers (Homer et al. 2008; Dwork, Smith, Steinke, Ullman, Vadhan 2015).
//
// The score of a person y is <y - p, q - p>, q the released averages and p how common each
// attribute is in the population, which others publish. It is sum p (1 - p) / n on average for a
// member and zero for a stranger; the threshold is half way.
#pragma once

#include <cstdint>

#include "attack/report.h"
#include "base/result.h"
#include "random/random_source.h"

namespace discreet::attack {

struct TracingOptions {
  std::size_t people = 50;           ///< in the study
  std::size_t attributes = 2000;     ///< yes-or-no each
  std::size_t attempts = 1000;       ///< half of them members
  double epsilon = 1, delta = 1e-6;  ///< for all averages together
};

/// Success is the share of right verdicts on members and strangers, half and half.
Result<Report> tracing(const TracingOptions& options, RandomSource& random);

}  // namespace discreet::attack
