// A statement as it was written: our own small tree, so that only parse.cc knows libpg_query's.
// Immutable once parsed. `position` is the byte in the statement's text where the piece starts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/dialect.h"

namespace discreet::sql {

struct Expr;
struct Query;
using ExprPtr = std::shared_ptr<const Expr>;
using QueryPtr = std::shared_ptr<const Query>;

struct NullValue {};
/// A constant; numbers keep their text, so that 0.05 stays exactly that.
struct LiteralExpr {
  struct Number {
    std::string text;
  };
  std::variant<NullValue, bool, Number, std::string> value;
};
/// a, t.a; or t.* and * where `star`.
struct NameExpr {
  std::vector<std::string> parts;
  bool star = false;
};
struct SortItem {
  ExprPtr expr;
  bool descending = false;
  std::optional<bool> nulls_first;
};
/// A function, an operator ("+", "=", "like") or a connective ("and", "not", "is null", "in").
struct CallExpr {
  std::string function;  // lower case
  std::vector<ExprPtr> args;
  bool star = false;          // count(*)
  bool distinct = false;      // count(distinct x)
  bool within_group = false;  // percentile_cont(p) within group (order by x)
  bool is_operator = false;
  std::vector<SortItem> order;
  ExprPtr filter;
  std::vector<std::pair<std::string, ExprPtr>> named;  // contribution_bounds_per_group => (0, 1)
};
struct CaseExpr {
  std::vector<std::pair<ExprPtr, ExprPtr>>
      branches;  // conditions are complete: CASE x WHEN is lowered
  ExprPtr otherwise;
};
struct CastExpr {
  ExprPtr arg;
  std::string type;  // lower case, without schema: "int4", "date", "interval"
  std::vector<int> modifiers;
};
enum class SubqueryForm { Scalar, Exists, In };
struct SubqueryExpr {
  SubqueryForm form;
  ExprPtr test;  // In only
  QueryPtr query;
};
/// (a, b) or ARRAY[a, b].
struct ListExpr {
  std::vector<ExprPtr> items;
};

struct Expr {
  int position = -1;
  std::variant<LiteralExpr, NameExpr, CallExpr, CaseExpr, CastExpr, SubqueryExpr, ListExpr> node;
};

struct TableRef {
  std::string name;
};
struct FromItem;
using FromPtr = std::shared_ptr<const FromItem>;
enum class JoinKind { Inner, Left, Right, Full };
struct JoinRef {
  JoinKind kind;
  FromPtr left, right;
  ExprPtr condition;  // absent: cross join
  std::vector<std::string> using_columns;
  bool natural = false;
};
struct SubqueryRef {
  QueryPtr query;
};
struct FromItem {
  int position = -1;
  std::string alias;
  std::vector<std::string> column_aliases;
  std::variant<TableRef, SubqueryRef, JoinRef> node;
};

struct Target {
  ExprPtr expr;
  std::string alias;
  int position = -1;
};

enum class SetOperator { Union, Intersect, Except };
struct CteRef {
  std::string name;
  std::vector<std::string> column_aliases;
  QueryPtr query;
  int position = -1;
};

struct Query {
  int position = -1;
  std::vector<CteRef> ctes;
  // A set operation has left and right, a SELECT the rest.
  std::optional<SetOperator> set_operator;
  bool set_all = false;
  QueryPtr left, right;

  bool distinct = false;
  std::vector<Target> targets;
  std::vector<FromPtr> from;
  ExprPtr where;
  std::vector<ExprPtr> group_by;
  /// CUBE, ROLLUP, GROUPING SETS: each set lists places in group_by. Absent: one set of all.
  std::optional<std::vector<std::vector<std::size_t>>> grouping_sets;
  ExprPtr having;
  std::vector<SortItem> order_by;
  ExprPtr limit, offset;
  /// SELECT WITH DIFFERENTIAL_PRIVACY: an index into the lifted clauses.
  std::optional<std::size_t> privacy_clause;
};

}  // namespace discreet::sql
