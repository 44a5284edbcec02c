#include <set>

#include <fmt/format.h>

#include "sql/parse_internal.h"

namespace discreet::sql {
namespace {

ExprPtr call(int position, std::string function, std::vector<ExprPtr> args) {
  CallExpr made;
  made.function = std::move(function);
  made.args = std::move(args);
  made.is_operator = true;
  return make_expr(position, std::move(made));
}

ExprPtr negated(int position, ExprPtr arg) {
  return call(position, "not", {std::move(arg)});
}
}  // namespace

Result<ExprPtr> TreeReader::constant(const pg_query::A_Const& node) {
  LiteralExpr literal{NullValue{}};
  if (node.isnull()) return make_expr(node.location(), literal);
  switch (node.val_case()) {
    case pg_query::A_Const::kIval: {
      std::string text = std::to_string(node.ival().ival());
      if (node.ival().ival() == 0) {
        const auto lost = negative_numbers_.find(node.location());
        if (lost != negative_numbers_.end()) text = "-" + lost->second;
      }
      literal.value = LiteralExpr::Number{text};
      break;
    }
    case pg_query::A_Const::kFval:
      literal.value = LiteralExpr::Number{node.fval().fval()};
      break;
    case pg_query::A_Const::kBoolval:
      literal.value = node.boolval().boolval();
      break;
    case pg_query::A_Const::kSval:
      literal.value = node.sval().sval();
      break;
    default:
      return unsupported(node.location(), "bit strings have no place in a question",
                         "Write a number or text");
  }
  return make_expr(node.location(), literal);
}

Result<ExprPtr> TreeReader::parameter(const pg_query::ParamRef& node) {
  const int at = node.location();
  const auto index = static_cast<std::size_t>(node.number());
  if (node.number() < 1 || index > parameters_.size())
    return source_.invalid(at, fmt::format("parameter ${} has no value", node.number()),
                           "Bind one, or write the value into the statement");
  const Parameter& given = parameters_[index - 1];
  if (!given.text) return make_expr(at, LiteralExpr{NullValue{}});
  if (given.type == "bool")
    return make_expr(at, LiteralExpr{*given.text == "t" || *given.text == "true"});
  if (given.type == "int8" || given.type == "numeric" || given.type == "float8") {
    // Only what PostgreSQL's own scanner calls a number may become one.
    const std::string& text = *given.text;
    const bool negative = text.starts_with('-');
    DISCREET_TRY(const auto tokens, scan(text.substr(negative ? 1 : 0)));
    if (tokens.size() != 1 || tokens[0].kind != TokenKind::Number)
      return source_.invalid(at, fmt::format("parameter ${} is not a number", node.number()));
    auto number =
        make_expr(at, LiteralExpr{LiteralExpr::Number{(negative ? "-" : "") + tokens[0].text}});
    if (given.type != "float8") return number;
    return make_expr(at, CastExpr{std::move(number), "float8", {}});
  }
  auto text = make_expr(at, LiteralExpr{*given.text});
  if (given.type == "date" || given.type == "timestamp")
    return make_expr(at, CastExpr{std::move(text), given.type, {}});
  return text;
}

Result<ExprPtr> TreeReader::operation(const pg_query::A_Expr& node) {
  const int at = node.location();
  const std::string op =
      node.name_size() > 0 ? node.name(node.name_size() - 1).string().sval() : "";
  const auto list_items = [&]() -> Result<Exprs> { return exprs(node.rexpr().list().items()); };
  switch (node.kind()) {
    case pg_query::AEXPR_OP: {
      DISCREET_TRY(auto right, expr(node.rexpr()));
      if (!node.has_lexpr()) return call(at, op == "-" ? "negate" : "plus", {right});
      DISCREET_TRY(auto left, expr(node.lexpr()));
      return call(at, op, {left, right});
    }
    case pg_query::AEXPR_DISTINCT:
    case pg_query::AEXPR_NOT_DISTINCT: {
      DISCREET_TRY(auto left, expr(node.lexpr()));
      DISCREET_TRY(auto right, expr(node.rexpr()));
      auto made = call(at, "is distinct from", {left, right});
      return node.kind() == pg_query::AEXPR_DISTINCT ? made : negated(at, made);
    }
    case pg_query::AEXPR_NULLIF: {
      DISCREET_TRY(auto left, expr(node.lexpr()));
      DISCREET_TRY(auto right, expr(node.rexpr()));
      return call(at, "nullif", {left, right});
    }
    case pg_query::AEXPR_IN: {
      DISCREET_TRY(auto left, expr(node.lexpr()));
      DISCREET_TRY(auto items, list_items());
      items.insert(items.begin(), left);
      auto made = call(at, "in", std::move(items));
      return op == "<>" ? negated(at, made) : made;
    }
    case pg_query::AEXPR_LIKE:
    case pg_query::AEXPR_ILIKE: {
      DISCREET_TRY(auto left, expr(node.lexpr()));
      DISCREET_TRY(auto right, expr(node.rexpr()));
      auto made = call(at, node.kind() == pg_query::AEXPR_LIKE ? "like" : "ilike", {left, right});
      return op.starts_with("!") ? negated(at, made) : made;
    }
    case pg_query::AEXPR_BETWEEN:
    case pg_query::AEXPR_NOT_BETWEEN: {
      DISCREET_TRY(auto left, expr(node.lexpr()));
      DISCREET_TRY(auto items, list_items());
      if (items.size() != 2) return source_.invalid(at, "BETWEEN needs two bounds");
      auto made =
          call(at, "and", {call(at, ">=", {left, items[0]}), call(at, "<=", {left, items[1]})});
      return node.kind() == pg_query::AEXPR_BETWEEN ? made : negated(at, made);
    }
    default:
      return unsupported(at, "this operator is not supported",
                         "Use comparisons, IN, LIKE, BETWEEN and the functions of docs/sql.md");
  }
}

Result<ExprPtr> TreeReader::function(const pg_query::FuncCall& node) {
  const int at = node.location();
  if (node.has_over())
    return unsupported(
        at, "window functions are not supported: a row's value would depend on other people's rows",
        "Aggregate by the privacy unit in a subquery, or rank the released rows with ORDER BY and "
        "LIMIT");
  CallExpr made;
  made.function =
      node.funcname_size() > 0 ? node.funcname(node.funcname_size() - 1).string().sval() : "";
  made.star = node.agg_star();
  made.distinct = node.agg_distinct();
  made.within_group = node.agg_within_group();
  for (const Node& arg : node.args()) {
    if (arg.has_named_arg_expr()) {
      DISCREET_TRY(auto value, expr(arg.named_arg_expr().arg()));
      made.named.emplace_back(arg.named_arg_expr().name(), std::move(value));
    } else {
      DISCREET_TRY(auto value, expr(arg));
      made.args.push_back(std::move(value));
    }
  }
  for (const Node& item : node.agg_order()) {
    DISCREET_TRY(auto sorted, sort_item(item));
    made.order.push_back(std::move(sorted));
  }
  DISCREET_TRY(made.filter, expr_or_none(node.has_agg_filter(), node.agg_filter()));
  return make_expr(at, std::move(made));
}

Result<ExprPtr> TreeReader::case_when(const pg_query::CaseExpr& node) {
  CaseExpr made;
  DISCREET_TRY(const auto arg, expr_or_none(node.has_arg(), node.arg()));
  for (const Node& branch : node.args()) {
    DISCREET_TRY(auto condition, expr(branch.case_when().expr()));
    DISCREET_TRY(auto result, expr(branch.case_when().result()));
    if (arg) condition = call(branch.case_when().location(), "=", {arg, condition});
    made.branches.emplace_back(std::move(condition), std::move(result));
  }
  DISCREET_TRY(made.otherwise, expr_or_none(node.has_defresult(), node.defresult()));
  return make_expr(node.location(), std::move(made));
}

Result<ExprPtr> TreeReader::cast(const pg_query::TypeCast& node) {
  CastExpr made;
  DISCREET_TRY(made.arg, expr(node.arg()));
  const auto& type = node.type_name();
  if (type.names_size() > 0) made.type = type.names(type.names_size() - 1).string().sval();
  if (type.array_bounds_size() > 0)
    return unsupported(type.location(), "casts to arrays are not supported", "Cast single values");
  for (const Node& modifier : type.typmods())
    if (modifier.has_a_const()) made.modifiers.push_back(modifier.a_const().ival().ival());
  return make_expr(type.location(), std::move(made));
}

Result<ExprPtr> TreeReader::subquery(const pg_query::SubLink& node) {
  const int at = node.location();
  SubqueryExpr made{SubqueryForm::Scalar, nullptr, nullptr};
  switch (node.sub_link_type()) {
    case pg_query::EXISTS_SUBLINK:
      made.form = SubqueryForm::Exists;
      break;
    case pg_query::EXPR_SUBLINK:
      break;
    case pg_query::ANY_SUBLINK: {
      if (node.oper_name_size() > 0 && node.oper_name(0).string().sval() != "=")
        return unsupported(at, "comparisons with ANY (subquery) are not supported",
                           "Use IN or EXISTS");
      made.form = SubqueryForm::In;
      DISCREET_TRY(made.test, expr(node.testexpr()));
      break;
    }
    default:
      return unsupported(at, "this kind of subquery is not supported",
                         "Use IN, EXISTS or a scalar subquery");
  }
  DISCREET_TRY(made.query, query(node.subselect().select_stmt(), at));
  return make_expr(at, std::move(made));
}

Result<ExprPtr> TreeReader::name(const pg_query::ColumnRef& node) {
  NameExpr made;
  for (const Node& field : node.fields()) {
    if (field.has_a_star())
      made.star = true;
    else
      made.parts.push_back(field.string().sval());
  }
  return make_expr(node.location(), std::move(made));
}

Result<ExprPtr> TreeReader::expr(const Node& node) {
  if (++depth_ > kDepthMax) return source_.invalid(-1, "the statement is nested too deeply");
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  switch (node.node_case()) {
    case Node::kAConst:
      return constant(node.a_const());
    case Node::kColumnRef:
      return name(node.column_ref());
    case Node::kAExpr:
      return operation(node.a_expr());
    case Node::kFuncCall:
      return function(node.func_call());
    case Node::kCaseExpr:
      return case_when(node.case_expr());
    case Node::kTypeCast:
      return cast(node.type_cast());
    case Node::kSubLink:
      return subquery(node.sub_link());
    case Node::kBoolExpr: {
      const auto& boolean = node.bool_expr();
      DISCREET_TRY(auto args, exprs(boolean.args()));
      if (boolean.boolop() == pg_query::NOT_EXPR) return negated(boolean.location(), args.at(0));
      return call(boolean.location(), boolean.boolop() == pg_query::AND_EXPR ? "and" : "or",
                  std::move(args));
    }
    case Node::kNullTest: {
      DISCREET_TRY(auto arg, expr(node.null_test().arg()));
      auto made = call(node.null_test().location(), "is null", {arg});
      return node.null_test().nulltesttype() == pg_query::IS_NULL
                 ? made
                 : negated(node.null_test().location(), made);
    }
    case Node::kBooleanTest: {
      const auto& test = node.boolean_test();
      DISCREET_TRY(auto arg, expr(test.arg()));
      const auto is = [&](const char* what) { return call(test.location(), what, {arg}); };
      switch (test.booltesttype()) {
        case pg_query::IS_TRUE:
          return is("is true");
        case pg_query::IS_NOT_TRUE:
          return negated(test.location(), is("is true"));
        case pg_query::IS_FALSE:
          return is("is false");
        case pg_query::IS_NOT_FALSE:
          return negated(test.location(), is("is false"));
        case pg_query::IS_NOT_UNKNOWN:
          return negated(test.location(), is("is null"));
        default:
          return is("is null");
      }
    }
    case Node::kCoalesceExpr: {
      DISCREET_TRY(auto args, exprs(node.coalesce_expr().args()));
      return call(node.coalesce_expr().location(), "coalesce", std::move(args));
    }
    case Node::kMinMaxExpr: {
      DISCREET_TRY(auto args, exprs(node.min_max_expr().args()));
      return call(node.min_max_expr().location(),
                  node.min_max_expr().op() == pg_query::IS_GREATEST ? "greatest" : "least",
                  std::move(args));
    }
    case Node::kRowExpr: {
      DISCREET_TRY(auto items, exprs(node.row_expr().args()));
      return make_expr(node.row_expr().location(), ListExpr{std::move(items)});
    }
    case Node::kAArrayExpr: {
      DISCREET_TRY(auto items, exprs(node.a_array_expr().elements()));
      return make_expr(node.a_array_expr().location(), ListExpr{std::move(items)});
    }
    case Node::kAIndirection: {
      // (f(x)).part
      const auto& parts = node.a_indirection().indirection();
      DISCREET_TRY(auto inner, expr(node.a_indirection().arg()));
      if (parts.size() != 1 || parts[0].node_case() != Node::kString)
        return unsupported(inner->position, "array elements and parts of parts are not supported",
                           "Read one part off a test's result: (t_test(x, g)).p_value");
      const int position = inner->position;
      return call(position, ".",
                  {std::move(inner), make_expr(position, LiteralExpr{parts[0].string().sval()})});
    }
    case Node::kSqlvalueFunction:
      return unsupported(node.sqlvalue_function().location(),
                         "the answer would depend on the time or the session",
                         "Write the date or time as a constant, for example DATE '2026-01-31'");
    case Node::kGroupingFunc: {
      CallExpr call;
      call.function = "grouping";
      DISCREET_TRY(call.args, exprs(node.grouping_func().args()));
      return make_expr(node.grouping_func().location(), std::move(call));
    }
    case Node::kParamRef:
      return parameter(node.param_ref());
    case Node::kGroupingSet:
      return source_.invalid(node.grouping_set().location(),
                             "CUBE, ROLLUP and GROUPING SETS belong into GROUP BY");
    case Node::kSetToDefault:
      return source_.invalid(-1, "DEFAULT has no meaning here");
    default:
      return unsupported(-1, "the statement uses an expression that is not supported",
                         "docs/sql.md lists what is");
  }
}
}  // namespace discreet::sql
