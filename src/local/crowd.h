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

/// The same for the rows of a record: every attribute's counts, one attribute after another.
std::vector<std::uint64_t> zipf_record_counts(std::uint64_t people, const Spec& record,
                                              double skew);
Tally collect_records_from_crowd(const Oracle& oracle, std::span<const std::uint64_t> rows,
                                 RandomSource& random);

}  // namespace discreet::local
