// COUNT, SUM, AVG, VAR and STDDEV of one statement from one draw of noise, where every unit has one
// row.
//
// Aggregates over the same rows (no FILTER, or the same; the same column, whose NULLs do not count)
// are a family. A row adds one point to all families at once, and one K-norm draw hides it: epsilon
// is not divided by families or columns. Beside count(*), a single family needs no joint point at
// all: a row is in the family or it is not, so the family and the count of the others each get the
// whole epsilon.
//
// Guarantee: epsilon-DP for all its aggregates of one group together, under add/remove of a unit.
// Assumes:   one row per unit, within the ranges; the K-norm's grid is exact.
// Proof:     docs/proofs/direct_sums.md
#pragma once

#include <functional>
#include <optional>

#include "curator/estimates.h"
#include "curator/group_totals.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/moments.h"

namespace discreet {

class JointMoments {
 public:
  /// A use that a joint draw can serve: counts, centred sums, averages, variances.
  static bool serves(const sql::Release& release, const SumUse& use);

  /// `uses` are indexes into the plan. InvalidParameter or Refused: the K-norm does not take this
  /// epsilon, these ranges or so many columns; independent noise does.
  static Result<JointMoments> make(const sql::Release& release, const SumPlan& plan,
                                   std::vector<std::size_t> uses, Epsilon epsilon);

  using Put = std::function<void(const SumUse& use, double value, double error95)>;
  /// One value per use.
  void release(const SumPlan& plan, const GroupTotals& totals, RandomSource& random,
               const Put& put) const;

  /// By use, in the order given to make(): for `rows` rows in the middle of the range where it
  /// depends on the data.
  std::vector<double> error95_before(const SumPlan& plan, double rows) const;

  const std::vector<std::size_t>& uses() const { return uses_; }

 private:
  struct Column {
    std::optional<std::size_t> family_count;  // feature; absent: every row has it
    std::size_t sum = 0, square = 0;          // features
    bool is_indicator = false;                // of a family: its sum is the family's count
  };
  struct Served {
    std::optional<std::size_t> column;  // absent: the count of a family
    std::optional<Presence> family;     // absent: of the rows that the draw counts
    bool everybody = false;             // count(*) beside a single family: with the others
  };
  JointMoments(const sql::Release& release, KNorm knorm)
      : release_(&release), knorm_(std::move(knorm)) {}
  Int128 count_of(const std::optional<std::size_t>& feature, const GroupTotals& totals) const;

  const sql::Release* release_;
  KNorm knorm_;
  std::vector<std::size_t> uses_;
  std::optional<std::size_t> base_;  // the feature that the K-norm's own count is; absent: units
  std::vector<Column> columns_;      // by K-norm column
  std::vector<std::optional<Presence>> presence_;  // by K-norm column
  std::vector<Served> served_;                     // by use
  std::optional<DiscreteLaplace> others_;          // of rows outside the single family
};

}  // namespace discreet
