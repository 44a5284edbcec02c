// The plan: relational nodes over numbered columns. Immutable; the kinds are closed, so a pass that
// forgets one does not compile.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sql/ast.h"
#include "sql/scalar.h"

namespace discreet::sql {

/// One row, no columns: SELECT 1.
struct OneRow {};

/// A table of the policy. Hidden columns are not among `columns` unless they are the unit.
struct Scan {
  struct Column {
    std::string name;
    ColumnId id;
  };
  std::string table;
  std::vector<Column> columns;
  /// Where every row is a unit of its own: the row's number, made only if somebody uses it.
  std::optional<ColumnId> row_number;
};

/// What release `index` gave out: its keys, then its aggregates (then their errors, where
/// error_columns.h added them).
struct ReleasedTable {
  std::size_t index;
  std::vector<ColumnId> keys;
  std::vector<ColumnId> aggregates;
  bool joint = false;  ///< several grouping sets: rows' noises are not independent
};

struct Filter {
  PlanPtr input;
  ScalarPtr predicate;
};

struct Project {
  PlanPtr input;
  std::vector<std::pair<ColumnId, ScalarPtr>> outputs;
};

struct Join {
  JoinKind kind;
  PlanPtr left, right;
  ScalarPtr condition;  // absent: every pair
};

enum class ExactFunction {
  CountRows,
  Count,
  CountDistinct,
  Sum,
  Avg,
  Min,
  Max,
  Median,
  QuantileCont,
  QuantileDisc,
  VarPop,
  VarSamp,
  StddevPop,
  StddevSamp,
  CovarPop,
  CovarSamp,
  Corr,
  BoolAnd,
  BoolOr,
  Mode,
};

/// An aggregate computed exactly: over public or released rows, or within one privacy unit.
struct ExactAggregate {
  ExactFunction function;
  std::vector<ScalarPtr> args;
  ScalarPtr filter;
  double fraction = 0;  // of quantiles
};

struct Aggregate {
  PlanPtr input;
  std::vector<std::pair<ColumnId, ScalarPtr>> keys;
  std::vector<std::pair<ColumnId, ExactAggregate>> aggregates;
};

/// Rows of the inputs one below the other (or the set operation); column i of the result is
/// `outputs[i]` and comes from `inputs[n].second[i]`.
struct Combine {
  std::optional<SetOperator> set;  // absent: UNION ALL
  bool all = true;
  std::vector<std::pair<PlanPtr, std::vector<ColumnId>>> inputs;
  std::vector<ColumnId> outputs;
};

/// Without repeats, over these columns.
struct Distinct {
  PlanPtr input;
  std::vector<ColumnId> columns;
};

struct SortKey {
  ColumnId column;
  bool descending = false;
  std::optional<bool> nulls_first;
};
struct SortLimit {
  PlanPtr input;
  std::vector<SortKey> keys;
  std::optional<std::uint64_t> limit, offset;
};

struct Plan {
  std::variant<OneRow, Scan, ReleasedTable, Filter, Project, Join, Aggregate, Combine, Distinct,
               SortLimit>
      node;
};

template <class Node>
PlanPtr make_plan(Node node) {
  return std::make_shared<const Plan>(Plan{std::move(node)});
}

}  // namespace discreet::sql
