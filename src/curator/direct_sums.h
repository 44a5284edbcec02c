// Releases sums to which every unit adds one row of known range: no bound has to be found, nothing
// is clipped, and a unit touches one group only, so every group gets the whole epsilon (parallel
// composition).
//
// Counts and lone sums get discrete Laplace noise. Averages and variances that count the same rows
// share one K-norm draw with their count instead of splitting epsilon. What is left (covariances,
// epsilons beyond the K-norm's) gets independent noise on every sum. Guarantee: epsilon-DP for all
// groups together, under add/remove of a unit. Assumes:   sql::UnitBounds::one_row_per_unit holds;
// values are clamped to their ranges by the engine statement. Proof:     docs/proofs/direct_sums.md
#pragma once

#include <memory>
#include <vector>

#include "curator/estimates.h"
#include "mechanisms/knorm.h"
#include "privacy/loss_event.h"

namespace discreet {

/// Exact totals of one group: features in the order of the release, and the number of units.
struct GroupTotals {
  std::vector<Int128> features;
  Int128 units = 0;
};

class DirectSums {
 public:
  /// InvalidParameter: epsilon zero or too small for the ranges.
  static Result<DirectSums> make(const sql::Release& release, const SumPlan& plan, Epsilon epsilon);

  /// Adds one value per additive aggregate to `columns` (indexed by aggregate) for this group.
  void release(const GroupTotals& totals, RandomSource& random,
               std::vector<ReleasedColumn>& columns) const;

  /// Half the width of a 95 % interval, by aggregate, where it does not depend on the data; for
  /// averages and variances it does, and the value is for `rows` rows in the middle of the range.
  std::vector<std::optional<double>> error95_before(double rows) const;
  std::vector<std::string> mechanisms() const;  ///< by aggregate; empty where it is not additive

 private:
  struct Part;
  const sql::Release* release_ = nullptr;
  SumPlan plan_;
  std::vector<std::shared_ptr<const Part>> parts_;
};

}  // namespace discreet
