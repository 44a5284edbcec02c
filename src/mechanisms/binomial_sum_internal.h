// Tails of the sum of two independent binomial variables: how many of two groups of people said
// yes, when each group says yes with its own chance.
#pragma once

#include <cstdint>

namespace discreet {

struct GroupSizes {
  std::uint64_t first, second;
};
struct GroupChances {
  double first, second;
};

/// P[B1 + B2 >= at], to about nine digits. Costs about fifty standard deviations of each group.
double binomial_sum_at_least(GroupSizes sizes, GroupChances chances, std::uint64_t at);
/// P[B1 + B2 <= at].
double binomial_sum_at_most(GroupSizes sizes, GroupChances chances, std::uint64_t at);

}  // namespace discreet
