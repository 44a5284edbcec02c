// One direction of one plan, answered by whichever method is exact or tightest for it.
#pragma once

#include "accounting/bracket.h"
#include "accounting/dominating_pairs.h"
#include "accounting/pld.h"

namespace discreet {

/// A question to a plan: epsilon at a delta, or delta at an epsilon. Answers below `floor` need not
/// be narrow, since another plan is known to be worse.
struct PlanQuestion {
  bool wants_epsilon;
  double at;
  double floor = 0;
};

Result<Bracket> solve(const LossPlan& plan, PlanQuestion question, const PldAccuracy& accuracy);

/// The same by composition on a grid, for laws of any kind.
Result<Bracket> solve_on_grid(const LossPlan& plan, PlanQuestion question,
                              const PldAccuracy& accuracy);

/// All parts of a plan as laws for the grid: closed families become one law each. Where a part is
/// known by a bound only (zCDP), `lower` is a mechanism that meets the bound.
struct GridInput {
  LossLawPtr upper;
  LossLawPtr lower;  ///< null: the same law
  std::uint64_t count;
};
std::vector<GridInput> grid_inputs(const LossPlan& plan);

}  // namespace discreet
