// Releases sums to which every unit adds one row of known range: no bound has to be found, nothing
// is clipped, and a unit touches one group only, so every group gets the whole epsilon (parallel
// composition).
//
// A lone count and lone sums get discrete Laplace noise. Counts, averages, variances and sums
// beside them share one K-norm draw (JointMoments) instead of splitting epsilon; a covariance or
// correlation gets cells (mechanisms/bivariate.h). What is left (columns too wide for an exact
// grid, epsilons beyond the K-norm's) gets independent noise on every sum.
//
// Guarantee: epsilon-DP for all groups together, under add/remove of a unit.
// Assumes:   sql::UnitBounds::one_row_per_unit holds; values are clamped to their ranges by the
//            engine statement.
// Proof:     docs/proofs/direct_sums.md
#pragma once

#include <memory>
#include <vector>

#include "curator/joint_moments.h"
#include "privacy/loss_event.h"

namespace discreet {

class NoiseAhead;

class DirectSums {
 public:
  /// InvalidParameter: epsilon zero or too small for the ranges.
  static Result<DirectSums> make(const sql::Release& release, const SumPlan& plan, Epsilon epsilon);

  /// Has the independent noise of so many groups drawn ahead.
  void prepare_noise(std::size_t groups, NoiseAhead& ahead) const;

  /// What release() reads of a group's totals.
  TotalsRead reads() const;

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
