// How sure an estimate is: intervals around the count of one value, or of all values together.
//
// An interval holds every count c that the estimate x does not rule out: |x - c| <= z sqrt(Var(c)),
// where the variance is a line in c for every oracle (a score interval, Wilson 1927). Normal
// approximation: estimates are sums of many independent reports.
// Proof: docs/proofs/local_estimates.md
#pragma once

#include <cstdint>

#include "local/oracle.h"

namespace discreet::local {

struct Interval {
  double low, high;
};

/// The z for `items` intervals that all hold together with this confidence (Bonferroni).
/// InvalidParameter: confidence not within (0, 1), or no items.
Result<double> critical_value(double confidence, std::uint64_t items = 1);

/// Counts lie between 0 and `reports`; pass 0 for a mean, which is not cut off.
Interval interval(const Estimate& estimate, std::uint64_t reports, double z);

}  // namespace discreet::local
