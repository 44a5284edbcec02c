// Plans that go over one table row by row, and the same with the rows' places in its files where
// the column was that says whose they are.
#pragma once

#include <optional>
#include <string>

#include "sql/plan.h"

namespace discreet::sql {

/// Filters and expressions over one table: what holds of its rows holds of any part of them.
bool is_row_by_row(const Plan& plan);

/// Expressions alone over one table: there are as many rows as in the table, whatever they say.
bool is_whole_table(const Plan& plan);

/// The table below them.
const Scan& scan_below(const Plan& plan);

/// Whether a column of a plan that is row by row is one of the table's, as it lies there.
bool is_tables_own(const Plan& plan, ColumnId column);

/// A plan that is row by row, reading placed_table() with kPlaceColumn instead of this column,
/// whose own name is `column`.
struct Placed {
  PlanPtr plan;
  std::string column;
};
/// Nothing: the column is not the table's own, or something else in the plan reads it.
std::optional<Placed> with_places(const Plan& plan, ColumnId column);

}  // namespace discreet::sql
