// Which marginals the twin should get right, and how much each matters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synth/domain.h"

namespace discreet::synth {

struct WeightedClique {
  Clique attributes;  ///< ascending
  double weight = 1;
};

/// Without repeats; never empty.
struct Workload {
  std::vector<WeightedClique> marginals;

  /// Every set of `ways` attributes with at most `cells_max` cells. Where none qualifies the next
  /// smaller number of ways is taken, down to one. Looks at the domain only.
  static Result<Workload> all(const Domain& domain, std::uint32_t ways, std::uint64_t cells_max);
  /// {"marginals": [["age", "sex"], ...], "weights": [...]}; weights may be absent. A marginal may
  /// also be {"columns": [...], "weight": 2}. InvalidInput: not that form, an unknown column, or a
  /// marginal of more than kCellsMax cells.
  static Result<Workload> parse(const std::string& json, const Domain& domain);

  std::uint64_t cells(const Domain& domain) const;
};

/// Every non-empty subset of the workload's sets, each with the sum over the workload of weight
/// times overlap (the candidates of AIM). Sorted by size, then by position.
std::vector<WeightedClique> downward_closure(const Workload& workload);

}  // namespace discreet::synth
