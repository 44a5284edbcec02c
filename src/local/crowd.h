// Made-up crowds, for simulations and comparisons.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "local/oracle.h"

namespace discreet::local {

/// How many of `people` hold each value when shares fall as 1 / rank^skew; they sum to `people`.
std::vector<std::uint64_t> zipf_counts(std::uint64_t people, std::uint64_t values, double skew);

/// truth[v] people report value v.
Tally collect_from_crowd(const Oracle& oracle, std::span<const std::uint64_t> truth,
                         RandomSource& random);

}  // namespace discreet::local
