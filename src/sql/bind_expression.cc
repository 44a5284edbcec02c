// Expressions: names to columns, then types and functions (bind_call.cc), then subqueries.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "base/suggest.h"
#include "sql/binder_internal.h"
#include "sql/emit.h"
#include "sql/functions_internal.h"

namespace discreet::sql {

Result<ScalarPtr> Binder::bind_condition(const ExprPtr& expr, Scope& scope, const char* where) {
  DISCREET_TRY(auto condition, bind_expr(*expr, scope));
  DISCREET_TRY(condition, coerce(std::move(condition), boolean_type()));
  if (condition->type.kind != TypeKind::Boolean)
    return source_.invalid(expr->position,
                           fmt::format("{} needs a condition, not {}", where, spoken(*condition)));
  return condition;
}

Result<ScalarPtr> Binder::bind_expr(const Expr& expr, Scope& scope) {
  if (scope.aggregation != nullptr) return bind_grouped(expr, scope);
  return bind_node(expr, scope);
}

Result<ScalarPtr> Binder::bind_node(const Expr& expr, Scope& scope) {
  struct Bind {
    Binder& binder;
    const Expr& expr;
    Scope& scope;
    Result<ScalarPtr> operator()(const LiteralExpr& node) const {
      return binder.bind_literal(expr, node);
    }
    Result<ScalarPtr> operator()(const NameExpr& node) const {
      return binder.bind_name(expr, node, scope);
    }
    Result<ScalarPtr> operator()(const CallExpr& node) const {
      return binder.bind_call(expr, node, scope);
    }
    Result<ScalarPtr> operator()(const CaseExpr& node) const {
      return binder.bind_case(expr, node, scope);
    }
    Result<ScalarPtr> operator()(const CastExpr& node) const {
      return binder.bind_cast(expr, node, scope);
    }
    Result<ScalarPtr> operator()(const SubqueryExpr& node) const {
      return binder.bind_subquery(expr, node, scope);
    }
    Result<ScalarPtr> operator()(const ListExpr&) const {
      return binder.source_.invalid(
          expr.position, "a list of values has no place here",
          "Lists follow IN, or are an argument of histogram and percentile_cont");
    }
  };
  return std::visit(Bind{*this, expr, scope}, expr.node);
}

Result<ScalarPtr> Binder::bind_literal(const Expr& expr, const LiteralExpr& literal) {
  if (std::holds_alternative<NullValue>(literal.value)) return null_scalar(expr.position);
  if (const auto* truth = std::get_if<bool>(&literal.value))
    return make_scalar(boolean_type(), expr.position, Constant{*truth});
  if (const auto* text = std::get_if<std::string>(&literal.value))
    return make_scalar(Type{}, expr.position, Constant{*text});
  const std::string& digits = std::get<LiteralExpr::Number>(literal.value).text;
  std::int64_t whole = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  if (read.ec == std::errc{} && read.ptr == digits.data() + digits.size())
    return make_scalar(integer_type(), expr.position, Constant{whole});
  double real = 0;
  const auto read_real = std::from_chars(digits.data(), digits.data() + digits.size(), real);
  if (read_real.ptr != digits.data() + digits.size() || !std::isfinite(real))
    return source_.invalid(expr.position, fmt::format("{} is not a number that fits", digits));
  const auto point = digits.find('.');
  const bool plain = digits.find_first_of("eE") == std::string::npos &&
                     point != std::string::npos && digits.size() <= 18;
  const int scale = plain ? static_cast<int>(digits.size() - point - 1) : 0;
  if (plain && scale <= kDecimalScaleMax)
    return make_scalar(decimal_type(scale), expr.position, Constant{DecimalConstant{digits, real}});
  return make_scalar(double_type(), expr.position, Constant{real});
}

Result<const Field*> Binder::find_field(const Expr& expr, const NameExpr& wanted, Scope& scope,
                                        bool& is_outer) {
  is_outer = false;
  if (wanted.parts.empty() || wanted.parts.size() > 3)
    return source_.not_found(expr.position, "a column is written column or table.column");
  const std::string& column = wanted.parts.back();
  const std::string qualifier =
      wanted.parts.size() >= 2 ? wanted.parts[wanted.parts.size() - 2] : "";
  std::vector<std::string> known;
  for (Scope* at = &scope; at != nullptr; at = at->outer) {
    for (const bool fold_case : {false, true}) {
      const auto matches = [&](const std::string& a, const std::string& b) {
        return fold_case ? lower_case(a) == lower_case(b) : a == b;
      };
      const Field* found = nullptr;
      for (const Field& field : at->fields) {
        if (field.name.empty()) continue;
        known.push_back(field.name);
        if (!matches(field.name, column)) continue;
        if (qualifier.empty() ? field.merged : !matches(field.qualifier, qualifier)) continue;
        if (found != nullptr)
          return source_.invalid(expr.position, fmt::format("column '{}' is ambiguous", column),
                                 "Write table.column");
        found = &field;
      }
      if (found != nullptr) {
        if (found->unusable)
          return source_.refuse(
              expr.position,
              fmt::format("column '{}' has a type that cannot be used in a question", column),
              "The data owner can store it as text, a number, a date or a boolean");
        if (at != &scope) {
          is_outer = true;
          for (Scope* inner = &scope; inner != at; inner = inner->outer)
            inner->outer_uses.insert(found->id);
        }
        return found;
      }
    }
  }
  return source_.not_found(expr.position,
                           fmt::format("there is no column '{}' that may be asked about{}", column,
                                       did_you_mean(column, known)));
}

Result<ScalarPtr> Binder::bind_name(const Expr& expr, const NameExpr& wanted, Scope& scope) {
  if (wanted.star) return source_.invalid(expr.position, "* has no place here");
  bool is_outer = false;
  DISCREET_TRY(const Field* field, find_field(expr, wanted, scope, is_outer));
  return use_column(field->id, field->type, expr.position);
}

Result<ScalarPtr> Binder::bind_call(const Expr& expr, const CallExpr& call, Scope& scope) {
  if (call.is_operator && call.function == ".") return bind_result_part(expr, call, scope);
  if (!call.is_operator && is_aggregate(call.function)) {
    if (scope.aggregation == nullptr)
      return source_.invalid(expr.position,
                             fmt::format("the aggregate {} has no place here", call.function),
                             "Aggregates belong in SELECT, HAVING and ORDER BY; filter aggregated "
                             "values with HAVING or in an outer query");
    return bind_aggregate(expr, call, scope);
  }
  if (call.distinct || call.filter || call.within_group || call.star || !call.order.empty() ||
      !call.named.empty())
    return source_.refuse(expr.position,
                          fmt::format("'{}' is not an aggregate that is supported", call.function),
                          "docs/sql.md lists the aggregates");
  std::vector<ScalarPtr> args;
  for (const auto& arg : call.args) {
    DISCREET_TRY(auto bound, bind_expr(*arg, scope));
    args.push_back(std::move(bound));
  }
  return make_call(expr.position, call.function, std::move(args));
}

Result<ScalarPtr> Binder::bind_case(const Expr& expr, const CaseExpr& when, Scope& scope) {
  CaseWhen made;
  std::vector<ScalarPtr> results;
  for (const auto& [condition, result] : when.branches) {
    DISCREET_TRY(auto bound, bind_condition(condition, scope, "WHEN"));
    made.branches.emplace_back(std::move(bound), nullptr);
    DISCREET_TRY(auto value, bind_expr(*result, scope));
    results.push_back(std::move(value));
  }
  ScalarPtr otherwise = null_scalar(expr.position);
  if (when.otherwise) {
    DISCREET_TRY(otherwise, bind_expr(*when.otherwise, scope));
  }
  results.push_back(otherwise);
  DISCREET_TRY(const Type type, unify(results, 0, "CASE"));
  for (std::size_t i = 0; i < made.branches.size(); ++i) made.branches[i].second = results[i];
  made.otherwise = results.back();
  return make_scalar(type, expr.position, std::move(made));
}

Result<ScalarPtr> Binder::bind_cast(const Expr& expr, const CastExpr& cast, Scope& scope) {
  DISCREET_TRY(auto arg, bind_expr(*cast.arg, scope));
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* one) { return cast.type == one; });
  };
  Type type;
  if (is({"int2", "int4", "int8", "int", "integer", "bigint", "smallint"})) {
    type = integer_type();
  } else if (is({"float4", "float8", "double", "real"})) {
    type = double_type();
  } else if (is({"numeric", "decimal"})) {
    const int scale = cast.modifiers.size() > 1 ? cast.modifiers[1] : 0;
    if (scale < 0 || scale > kDecimalScaleMax)
      return source_.refuse(expr.position, "numeric with that many digits is not supported",
                            "Use at most 12 digits after the point");
    type = !cast.modifiers.empty()               ? decimal_type(scale)
           : arg->type.kind == TypeKind::Decimal ? arg->type
           : arg->type.kind == TypeKind::Integer ? decimal_type(0)
                                                 : double_type();
  } else if (is({"text", "varchar", "bpchar", "string"})) {
    type = text_type();
  } else if (is({"bool", "boolean"})) {
    type = boolean_type();
  } else if (is({"date"})) {
    type = Type{TypeKind::Date, 0};
  } else if (is({"timestamp", "datetime"})) {
    type = Type{TypeKind::Timestamp, 0};
  } else if (is({"interval"})) {
    const auto* constant = as_constant(*arg);
    const auto* text = constant == nullptr ? nullptr : std::get_if<std::string>(&constant->value);
    const auto span = text == nullptr
                          ? std::nullopt
                          : parse_interval(*text, cast.modifiers.empty() ? 0 : cast.modifiers[0]);
    if (!span)
      return source_.invalid(expr.position, "this is not an interval",
                             "Write INTERVAL '3 months' or INTERVAL '90' DAY");
    return make_scalar(Type{TypeKind::Interval, 0}, expr.position, Constant{*span});
  } else {
    return source_.refuse(
        expr.position, fmt::format("casts to {} are not supported", cast.type),
        "Use integer, bigint, numeric(p, s), double precision, text, boolean, date or timestamp");
  }
  DISCREET_TRY(arg, coerce(std::move(arg), type));
  if (arg->type == type) return arg;
  const Type from = arg->type;
  const bool sensible = from.kind == TypeKind::Null || from.kind == TypeKind::Text ||
                        type.kind == TypeKind::Text || (from.is_number() && type.is_number()) ||
                        (from.is_time() && type.is_time()) ||
                        (from.kind == TypeKind::Boolean && type.kind == TypeKind::Integer) ||
                        (from.kind == TypeKind::Integer && type.kind == TypeKind::Boolean);
  if (!sensible)
    return source_.invalid(expr.position,
                           fmt::format("{} cannot be cast to {}", name(from), name(type)));
  return make_scalar(type, expr.position, CastTo{std::move(arg)});
}

Result<ScalarPtr> Binder::bind_subquery(const Expr& expr, const SubqueryExpr& subquery,
                                        Scope& scope) {
  ScalarPtr test;
  if (subquery.test) {
    if (std::holds_alternative<ListExpr>(subquery.test->node))
      return source_.refuse(expr.position, "IN over several columns is not supported",
                            "Use EXISTS");
    DISCREET_TRY(test, bind_expr(*subquery.test, scope));
  }
  // Subqueries in SELECT or HAVING of an aggregate see the grouped rows only through the
  // aggregates.
  Scope* around = scope.aggregation != nullptr ? scope.aggregation->below : &scope;
  const auto uses_before = around->outer_uses;
  Scope probe;
  probe.fields = around->fields;
  probe.outer = around->outer;
  probe.is_private = around->is_private;
  DISCREET_TRY(auto inner, bind_query(*subquery.query, &probe));
  const bool correlated =
      std::any_of(probe.fields.begin(), probe.fields.end(), [&](const Field& field) {
        bool used = false;
        for_each_plan_column(*inner.plan, [&](ColumnId id) { used |= id == field.id; });
        return used;
      });
  around->outer_uses.insert(probe.outer_uses.begin(), probe.outer_uses.end());
  if (scope.aggregation != nullptr && correlated)
    return source_.refuse(expr.position,
                          "a subquery beside aggregates must not depend on the rows around it",
                          "Move it into WHERE or into the FROM clause");

  std::vector<Field> visible;
  for (const Field& field : inner.fields)
    if (!field.name.empty()) visible.push_back(field);
  if (subquery.form != SubqueryForm::Exists && visible.size() != 1)
    return source_.invalid(expr.position, "this subquery must give exactly one column");

  if (inner.privacy == Privacy::Private) {
    bool within = inner.within_outer_unit;
    if (subquery.form == SubqueryForm::In && test != nullptr) {
      const auto* mine = anchor_of(*test, probe.fields);
      within |= mine != nullptr && !mine->empty() && *mine == visible[0].anchor;
    }
    if (!within)
      return source_.refuse(
          expr.position, "this subquery reads rows of other people than the row it is asked for",
          fmt::format("Tie it to the privacy unit with an equality in its WHERE (the unit column, "
                      "or a column linked to it), or aggregate it so that it is released first"));
    if (subquery.form == SubqueryForm::Scalar && !inner.single_row)
      return source_.refuse(expr.position,
                            "a scalar subquery over private rows must be an aggregate without "
                            "GROUP BY, or it could fail on some rows",
                            "Write min(x) or count(*)");
  } else {
    if (subquery.form == SubqueryForm::Scalar && correlated && !inner.single_row)
      return source_.refuse(expr.position,
                            "a scalar subquery that depends on the row must be an aggregate "
                            "without GROUP BY, or it could fail on some rows",
                            "Write min(x) or count(*)");
    scope.uses_released |= inner.privacy == Privacy::Released;
    around->uses_released |= inner.privacy == Privacy::Released;
  }
  SubqueryValue made{SubqueryKind::Exists, inner.plan, 0, nullptr};
  Type type = boolean_type();
  if (subquery.form != SubqueryForm::Exists) made.output = visible[0].id;
  if (subquery.form == SubqueryForm::Scalar) {
    made.kind = SubqueryKind::Scalar;
    type = visible[0].type;
  }
  if (subquery.form == SubqueryForm::In) {
    made.kind = SubqueryKind::In;
    std::vector<ScalarPtr> both{test, use_column(visible[0].id, visible[0].type, expr.position)};
    DISCREET_TRY_VOID(unify(both, 0, "IN"));
    made.test = both[0];
  }
  return make_scalar(type, expr.position, std::move(made));
}

}  // namespace discreet::sql
