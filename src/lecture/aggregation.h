// Private sums over two servers in one process: honest clients, a client that cheats, a server that
// lies, and what the exact total gives away all the same.
//
// The messages are Prio3's (prio/prio3.h); over the network the same is `discreet prio`.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "lecture/shown.h"
#include "random/random_source.h"

namespace discreet::lecture {

struct AggregationOptions {
  std::uint64_t people = 100;
  std::uint64_t max = 10;  ///< every value lies in {0..max}
  std::uint64_t seed = 1;
};

/// InvalidParameter: fewer than 2 people, more than 10,000, or max not within [1, 2^20].
Result<Shown> aggregation(const AggregationOptions& options, RandomSource& random);

}  // namespace discreet::lecture
