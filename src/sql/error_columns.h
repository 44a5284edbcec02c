// Errors of released values, carried through the final statement beside the values.
//
// Every aggregate of a release has, group by group, half the width of a 95 % interval. The final
// statement computes with aggregates; where what it computes is linear in them, the error of the
// result follows, and it is added to the plan as one more column.
//
//   a + b, a - b          the errors' sum: right whatever the correlation of the two, since one
//                         draw of noise may serve both
//   c a, a / c            |c| times, where c comes from constants, keys and public columns
//   sum(a), avg(a)        over rows of one release, whose groups have independent noise: the root
//                         of the sum of squares (over n)
//   round(a), casts       as before; the rounding itself is not in it
//
// Everything else that reads a noisy value has an error that is not known: NULL.
// Post-processing only: errors are functions of public parameters and released values.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "sql/plan.h"

namespace discreet::sql {

struct PlanWithErrors {
  PlanPtr plan;
  /// Columns that depend on noise, each with the column of its error, or nothing where it is not
  /// known. Columns that are not here are exact.
  std::map<ColumnId, std::optional<ColumnId>> errors;
};

/// `new_column` gives numbers that are not used yet. A released table's errors are its columns
/// after the aggregates, in their order.
PlanWithErrors add_errors(const PlanPtr& plan, const std::function<ColumnId()>& new_column);

}  // namespace discreet::sql
