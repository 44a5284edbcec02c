// A bound expression: every name resolved to a column, every operation to a function on the
// allow-list, every piece with a type. Immutable.
//
// Guarantee: all functions are total and deterministic as emitted: NULL, overflow, division by zero
//            and failing casts give NULL, never an error, so no row can make a statement fail.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "catalog/literal.h"
#include "sql/type.h"

namespace discreet::sql {

/// Columns are numbered once per planned statement; two scans of one table have different numbers.
using ColumnId = std::uint32_t;

struct Scalar;
struct Plan;
using ScalarPtr = std::shared_ptr<const Scalar>;
using PlanPtr = std::shared_ptr<const Plan>;

enum class Function {
  And,
  Or,
  Not,
  IsNull,
  IsTrue,
  IsFalse,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  IsDistinctFrom,
  In,
  Like,
  ILike,
  Add,
  Subtract,
  Multiply,
  Divide,
  Modulo,
  Negate,
  Abs,
  Ceil,
  Floor,
  Round,
  Trunc,
  Sign,
  Sqrt,
  Ln,
  Log10,
  Exp,
  Power,
  Coalesce,
  NullIf,
  Greatest,
  Least,
  Length,
  Lower,
  Upper,
  Trim,
  TrimLeft,
  TrimRight,
  Substring,
  Left,
  Right,
  Replace,
  Position,
  Concat,
  StartsWith,
  SplitPart,
  DatePart,
  DateTrunc,
  AddDays,
  SubtractDays,
  DaysBetween,
  AddInterval,
  SubtractInterval,
  ResultPart,  ///< a number out of a test's result: the result, the part's name as a constant
};

/// A constant of decimal type keeps its digits.
struct DecimalConstant {
  std::string digits;
  double value;
};
struct IntervalConstant {
  std::int64_t months = 0, days = 0, micros = 0;
};
using ConstantValue =
    std::variant<std::monostate, bool, std::int64_t, DecimalConstant, double, std::string,
                 catalog::Date, catalog::Timestamp, IntervalConstant>;

struct Constant {
  ConstantValue value;
};
struct ColumnUse {
  ColumnId id;
};
struct Apply {
  Function function;
  std::vector<ScalarPtr> args;
};
struct CaseWhen {
  std::vector<std::pair<ScalarPtr, ScalarPtr>> branches;
  ScalarPtr otherwise;  // never absent: NULL is a constant
};
struct CastTo {
  ScalarPtr arg;  // the type is the Scalar's
};
enum class SubqueryKind { Scalar, Exists, In };
struct SubqueryValue {
  SubqueryKind kind;
  PlanPtr plan;
  ColumnId output;  // unused by Exists
  ScalarPtr test;   // In only
};

struct Scalar {
  Type type;
  int position = -1;
  std::variant<Constant, ColumnUse, Apply, CaseWhen, CastTo, SubqueryValue> node;
};

template <class Node>
ScalarPtr make_scalar(Type type, int position, Node node) {
  return std::make_shared<const Scalar>(Scalar{type, position, std::move(node)});
}
inline ScalarPtr use_column(ColumnId id, Type type, int position = -1) {
  return make_scalar(type, position, ColumnUse{id});
}
inline ScalarPtr apply(Type type, int position, Function function, std::vector<ScalarPtr> args) {
  return make_scalar(type, position, Apply{function, std::move(args)});
}
inline ScalarPtr null_scalar(int position = -1) {
  return make_scalar(Type{}, position, Constant{std::monostate{}});
}

/// The column a scalar is, if it is nothing but a column.
inline const ColumnId* as_column(const Scalar& scalar) {
  const auto* use = std::get_if<ColumnUse>(&scalar.node);
  return use == nullptr ? nullptr : &use->id;
}
inline const Constant* as_constant(const Scalar& scalar) {
  return std::get_if<Constant>(&scalar.node);
}
inline const Apply* as_apply(const Scalar& scalar, Function function) {
  const auto* applied = std::get_if<Apply>(&scalar.node);
  return applied != nullptr && applied->function == function ? applied : nullptr;
}

/// Numbers, dates (days) and timestamps (microseconds) on one axis; NaN for the rest.
double as_number(const ConstantValue& value);

/// The conditions that all must hold: AND taken apart.
void split_conjuncts(const ScalarPtr& condition, std::vector<ScalarPtr>& into);
/// The reverse; nothing for none.
ScalarPtr join_conjuncts(const std::vector<ScalarPtr>& conjuncts);

/// Calls `visit` for every column used, also those inside subqueries.
using ColumnVisitor = std::function<void(ColumnId)>;
void for_each_column(const Scalar& scalar, const ColumnVisitor& visit);
bool has_subquery(const Scalar& scalar);
/// Every column that some expression in the plan uses.
void for_each_plan_column(const Plan& plan, const ColumnVisitor& visit);

}  // namespace discreet::sql
