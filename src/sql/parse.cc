#include "sql/parse.h"

#include <map>
#include <set>

#include <fmt/format.h>
#include <pg_query.h>

#include "pg_query.pb.h"
#include "sql/scan.h"

namespace discreet::sql {
namespace {

constexpr int kDepthMax = 200;  // a deeper tree would only be an attack on the stack
constexpr std::size_t kCubeMax = 10, kGroupingSetsMax = 1024;

template <class Node>
ExprPtr make_expr(int position, Node node) {
  return std::make_shared<const Expr>(Expr{position, std::move(node)});
}

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

class Reader {
 public:
  Reader(const Source& source, const std::vector<Token>& tokens,
         const std::vector<Parameter>& parameters)
      : source_(source), parameters_(parameters) {
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
      if (tokens[i].is("-") && tokens[i + 1].kind == TokenKind::Number)
        negative_numbers_.emplace(tokens[i].start, tokens[i + 1].text);
  }

  Result<QueryPtr> query(const pg_query::SelectStmt& select, int position);

 private:
  using Node = pg_query::Node;
  using Exprs = std::vector<ExprPtr>;

  Result<ExprPtr> expr(const Node& node);
  Result<ExprPtr> expr_or_none(bool present, const Node& node) {
    if (!present) return ExprPtr{};
    return expr(node);
  }
  Result<Exprs> exprs(const google::protobuf::RepeatedPtrField<Node>& nodes) {
    Exprs made;
    for (const Node& node : nodes) {
      DISCREET_TRY(auto one, expr(node));
      made.push_back(std::move(one));
    }
    return made;
  }
  Result<ExprPtr> constant(const pg_query::A_Const& node);
  Result<ExprPtr> parameter(const pg_query::ParamRef& node);
  Result<ExprPtr> operation(const pg_query::A_Expr& node);
  Result<ExprPtr> function(const pg_query::FuncCall& node);
  Result<ExprPtr> case_when(const pg_query::CaseExpr& node);
  Result<ExprPtr> cast(const pg_query::TypeCast& node);
  Result<ExprPtr> subquery(const pg_query::SubLink& node);
  Result<ExprPtr> name(const pg_query::ColumnRef& node);
  Result<SortItem> sort_item(const Node& node);
  Result<FromPtr> from_item(const Node& node);
  Result<void> read_targets(const pg_query::SelectStmt& select, Query& query);
  Result<void> read_ctes(const pg_query::SelectStmt& select, Query& query);
  Result<void> refuse_unsupported(const pg_query::SelectStmt& select, int position);
  Result<void> read_group_by(const pg_query::SelectStmt& select, Query& made);
  Result<std::vector<std::vector<std::size_t>>> grouping_sets(const pg_query::Node& node,
                                                              Query& made);
  Error unsupported(int position, std::string_view what, std::string_view suggestion) const {
    return source_.refuse(position, what, suggestion);
  }

  const Source& source_;
  const std::vector<Parameter>& parameters_;
  // libpg_query 15-4.0 loses the value of a negative integer constant; the scanner still has it.
  std::map<int, std::string> negative_numbers_;
  int depth_ = 0;
};

Result<ExprPtr> Reader::constant(const pg_query::A_Const& node) {
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

Result<ExprPtr> Reader::parameter(const pg_query::ParamRef& node) {
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

Result<ExprPtr> Reader::operation(const pg_query::A_Expr& node) {
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

Result<ExprPtr> Reader::function(const pg_query::FuncCall& node) {
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

Result<ExprPtr> Reader::case_when(const pg_query::CaseExpr& node) {
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

Result<ExprPtr> Reader::cast(const pg_query::TypeCast& node) {
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

Result<ExprPtr> Reader::subquery(const pg_query::SubLink& node) {
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

Result<ExprPtr> Reader::name(const pg_query::ColumnRef& node) {
  NameExpr made;
  for (const Node& field : node.fields()) {
    if (field.has_a_star())
      made.star = true;
    else
      made.parts.push_back(field.string().sval());
  }
  return make_expr(node.location(), std::move(made));
}

Result<ExprPtr> Reader::expr(const Node& node) {
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

Result<SortItem> Reader::sort_item(const Node& node) {
  SortItem item;
  const auto& sort = node.sort_by();
  DISCREET_TRY(item.expr, expr(sort.node()));
  item.descending = sort.sortby_dir() == pg_query::SORTBY_DESC;
  if (sort.sortby_nulls() == pg_query::SORTBY_NULLS_FIRST) item.nulls_first = true;
  if (sort.sortby_nulls() == pg_query::SORTBY_NULLS_LAST) item.nulls_first = false;
  return item;
}

Result<FromPtr> Reader::from_item(const Node& node) {
  FromItem item;
  const auto read_alias = [&](const pg_query::Alias& alias) {
    item.alias = alias.aliasname();
    for (const Node& column : alias.colnames())
      item.column_aliases.push_back(column.string().sval());
  };
  switch (node.node_case()) {
    case Node::kRangeVar: {
      const auto& table = node.range_var();
      item.position = table.location();
      item.alias = table.relname();
      if (table.has_alias()) read_alias(table.alias());
      // discreet.budget and the like keep their schema; it is how they are told from data.
      item.node = TableRef{table.schemaname().empty() || table.schemaname() == "public"
                               ? table.relname()
                               : table.schemaname() + "." + table.relname()};
      return std::make_shared<const FromItem>(std::move(item));
    }
    case Node::kRangeSubselect: {
      const auto& sub = node.range_subselect();
      if (sub.lateral())
        return unsupported(-1, "LATERAL is not supported",
                           "Use a join, or a scalar subquery on the privacy unit");
      read_alias(sub.alias());
      DISCREET_TRY(auto inner, query(sub.subquery().select_stmt(), -1));
      item.node = SubqueryRef{std::move(inner)};
      return std::make_shared<const FromItem>(std::move(item));
    }
    case Node::kJoinExpr: {
      const auto& join = node.join_expr();
      JoinRef made{JoinKind::Inner, nullptr, nullptr, nullptr, {}, join.is_natural()};
      if (join.jointype() == pg_query::JOIN_LEFT) made.kind = JoinKind::Left;
      if (join.jointype() == pg_query::JOIN_RIGHT) made.kind = JoinKind::Right;
      if (join.jointype() == pg_query::JOIN_FULL) made.kind = JoinKind::Full;
      DISCREET_TRY(made.left, from_item(join.larg()));
      DISCREET_TRY(made.right, from_item(join.rarg()));
      DISCREET_TRY(made.condition, expr_or_none(join.has_quals(), join.quals()));
      for (const Node& column : join.using_clause())
        made.using_columns.push_back(column.string().sval());
      if (join.has_alias())
        return unsupported(-1, "an alias for a whole join is not supported",
                           "Name the joined tables instead");
      item.position = made.right->position;
      item.node = std::move(made);
      return std::make_shared<const FromItem>(std::move(item));
    }
    default:
      return unsupported(-1, "FROM takes tables, joins and subqueries only",
                         "Table functions, TABLESAMPLE and LATERAL have no private meaning here");
  }
}

Result<void> Reader::refuse_unsupported(const pg_query::SelectStmt& select, int position) {
  if (select.has_into_clause())
    return unsupported(position, "SELECT INTO would write; only questions are answered",
                       "Drop INTO");
  if (select.locking_clause_size() > 0)
    return unsupported(position, "FOR UPDATE and FOR SHARE have no meaning here",
                       "Drop the clause");
  if (select.window_clause_size() > 0)
    return unsupported(position, "window functions are not supported",
                       "Aggregate by the privacy unit in a subquery");
  if (select.values_lists_size() > 0)
    return unsupported(position, "VALUES lists are not supported",
                       "Put public rows into a public table");
  for (const Node& item : select.distinct_clause())
    if (item.node_case() != Node::NODE_NOT_SET)
      return unsupported(position, "DISTINCT ON picks rows of people", "Use GROUP BY");
  if (select.limit_option() == pg_query::LIMIT_OPTION_WITH_TIES)
    return unsupported(position, "WITH TIES is not supported", "Use LIMIT");
  return {};
}

Result<void> Reader::read_targets(const pg_query::SelectStmt& select, Query& made) {
  for (const Node& node : select.target_list()) {
    const auto& target = node.res_target();
    DISCREET_TRY(auto value, expr(target.val()));
    if (const auto* name = std::get_if<NameExpr>(&value->node);
        name != nullptr && name->parts.size() == 1 && name->parts[0].starts_with(kClauseMarker)) {
      const auto index = std::strtoul(name->parts[0].c_str() + kClauseMarker.size(), nullptr, 10);
      if (made.targets.empty() && !made.privacy_clause) {
        made.privacy_clause = index;
        continue;
      }
    }
    made.targets.push_back({std::move(value), target.name(), target.location()});
  }
  return {};
}

Result<void> Reader::read_ctes(const pg_query::SelectStmt& select, Query& made) {
  if (select.with_clause().recursive())
    return unsupported(select.with_clause().location(), "recursive queries are not supported",
                       "Write the steps out, or prepare a public table");
  for (const Node& node : select.with_clause().ctes()) {
    const auto& cte = node.common_table_expr();
    if (!cte.ctequery().has_select_stmt())
      return unsupported(cte.location(), "only questions are answered; nothing can be changed",
                         "Use SELECT");
    CteRef ref{cte.ctename(), {}, nullptr, cte.location()};
    for (const Node& column : cte.aliascolnames())
      ref.column_aliases.push_back(column.string().sval());
    DISCREET_TRY(ref.query, query(cte.ctequery().select_stmt(), cte.location()));
    made.ctes.push_back(std::move(ref));
  }
  return {};
}

// The sets an item of GROUP BY stands for, as places in `made.group_by`.
Result<std::vector<std::vector<std::size_t>>> Reader::grouping_sets(const Node& node, Query& made) {
  using Sets = std::vector<std::vector<std::size_t>>;
  if (node.has_row_expr()) {  // (a, b): one set, or one step of ROLLUP and CUBE
    std::vector<std::size_t> together;
    for (const Node& item : node.row_expr().args()) {
      DISCREET_TRY(auto one, expr(item));
      together.push_back(made.group_by.size());
      made.group_by.push_back(std::move(one));
    }
    return Sets{std::move(together)};
  }
  if (!node.has_grouping_set()) {
    DISCREET_TRY(auto one, expr(node));
    made.group_by.push_back(std::move(one));
    return Sets{{made.group_by.size() - 1}};
  }
  const auto& grouping = node.grouping_set();
  std::vector<Sets> parts;
  for (const Node& item : grouping.content()) {
    DISCREET_TRY(auto part, grouping_sets(item, made));
    parts.push_back(std::move(part));
  }
  Sets sets;
  const auto join = [&](std::vector<std::size_t>& into, const Sets& part) {
    into.insert(into.end(), part.front().begin(), part.front().end());
  };
  switch (grouping.kind()) {
    case pg_query::GROUPING_SET_EMPTY:
      return Sets{{}};
    case pg_query::GROUPING_SET_ROLLUP:
      for (std::size_t size = parts.size() + 1; size-- > 0;) {
        auto& set = sets.emplace_back();
        for (std::size_t i = 0; i < size; ++i) join(set, parts[i]);
      }
      return sets;
    case pg_query::GROUPING_SET_CUBE:
      if (parts.size() > kCubeMax)
        return source_.refuse(grouping.location(), "this CUBE has too many columns",
                              "Use at most 10, or list the sets you need: GROUPING SETS (...)");
      for (std::size_t left_out = 0; left_out < std::size_t{1} << parts.size(); ++left_out) {
        auto& set = sets.emplace_back();
        for (std::size_t i = 0; i < parts.size(); ++i)
          if ((left_out >> (parts.size() - 1 - i) & 1) == 0) join(set, parts[i]);
      }
      return sets;
    default:
      for (const Sets& part : parts) sets.insert(sets.end(), part.begin(), part.end());
      return sets;
  }
}

Result<void> Reader::read_group_by(const pg_query::SelectStmt& select, Query& made) {
  const auto& items = select.group_clause();
  if (std::none_of(items.begin(), items.end(),
                   [](const Node& item) { return item.has_grouping_set(); })) {
    DISCREET_TRY(made.group_by, exprs(items));
    return {};
  }
  // Several items: every combination of their sets.
  std::vector<std::vector<std::size_t>> all{{}};
  for (const Node& item : items) {
    DISCREET_TRY(const auto sets, grouping_sets(item, made));
    std::vector<std::vector<std::size_t>> wider;
    for (const auto& before : all)
      for (const auto& set : sets) {
        wider.push_back(before);
        wider.back().insert(wider.back().end(), set.begin(), set.end());
      }
    all = std::move(wider);
    if (all.size() > kGroupingSetsMax)
      return source_.refuse(item.grouping_set().location(), "too many grouping sets",
                            "Ask for fewer at a time");
  }
  made.grouping_sets = std::move(all);
  return {};
}

Result<QueryPtr> Reader::query(const pg_query::SelectStmt& select, int position) {
  if (++depth_ > kDepthMax) return source_.invalid(position, "the statement is nested too deeply");
  Query made;
  made.position = position;
  DISCREET_TRY_VOID(refuse_unsupported(select, position));
  DISCREET_TRY_VOID(read_ctes(select, made));
  if (select.op() != pg_query::SETOP_NONE && select.op() != pg_query::SET_OPERATION_UNDEFINED) {
    made.set_operator = select.op() == pg_query::SETOP_UNION       ? SetOperator::Union
                        : select.op() == pg_query::SETOP_INTERSECT ? SetOperator::Intersect
                                                                   : SetOperator::Except;
    made.set_all = select.all();
    DISCREET_TRY(made.left, query(select.larg(), position));
    DISCREET_TRY(made.right, query(select.rarg(), position));
  } else {
    DISCREET_TRY_VOID(read_targets(select, made));
    made.distinct = select.distinct_clause_size() > 0;
    for (const Node& item : select.from_clause()) {
      DISCREET_TRY(auto from, from_item(item));
      made.from.push_back(std::move(from));
    }
    DISCREET_TRY(made.where, expr_or_none(select.has_where_clause(), select.where_clause()));
    DISCREET_TRY_VOID(read_group_by(select, made));
    DISCREET_TRY(made.having, expr_or_none(select.has_having_clause(), select.having_clause()));
  }
  for (const Node& item : select.sort_clause()) {
    DISCREET_TRY(auto sorted, sort_item(item));
    made.order_by.push_back(std::move(sorted));
  }
  DISCREET_TRY(made.limit, expr_or_none(select.has_limit_count(), select.limit_count()));
  DISCREET_TRY(made.offset, expr_or_none(select.has_limit_offset(), select.limit_offset()));
  --depth_;
  return std::make_shared<const Query>(std::move(made));
}

std::string plain_value(const pg_query::Node& node) {
  if (!node.has_a_const()) return {};
  const auto& constant = node.a_const();
  if (constant.has_sval()) return constant.sval().sval();
  if (constant.has_fval()) return constant.fval().fval();
  if (constant.has_boolval()) return constant.boolval().boolval() ? "true" : "false";
  return std::to_string(constant.ival().ival());
}

Result<Statement> read_statement(const Source& source, const pg_query::Node& node, Reader& reader) {
  Statement statement;
  switch (node.node_case()) {
    case pg_query::Node::kSelectStmt: {
      DISCREET_TRY(statement.query, reader.query(node.select_stmt(), -1));
      return statement;
    }
    case pg_query::Node::kExplainStmt: {
      statement.kind = StatementKind::Explain;
      for (const auto& option : node.explain_stmt().options()) {
        const auto& name = option.def_elem().defname();
        if (name == "analyze")
          return source.refuse(-1, "EXPLAIN ANALYZE would run the question",
                               "Use EXPLAIN; it reads no data and spends nothing");
        if (name == "format")
          statement.explain_json = option.def_elem().arg().string().sval() == "json";
      }
      if (!node.explain_stmt().query().has_select_stmt())
        return source.refuse(-1, "only questions (SELECT) can be explained",
                             "Use EXPLAIN SELECT ...");
      DISCREET_TRY(statement.query, reader.query(node.explain_stmt().query().select_stmt(), -1));
      return statement;
    }
    case pg_query::Node::kVariableSetStmt: {
      statement.kind = StatementKind::Set;
      statement.setting = node.variable_set_stmt().name();
      if (node.variable_set_stmt().args_size() > 0)
        statement.value = plain_value(node.variable_set_stmt().args(0));
      return statement;
    }
    case pg_query::Node::kVariableShowStmt:
      statement.kind = StatementKind::Show;
      statement.setting = node.variable_show_stmt().name();
      return statement;
    default:
      return source.refuse(
          -1, "only questions are answered: SELECT, EXPLAIN, SET and SHOW; nothing can be changed",
          "Write a SELECT");
  }
}

}  // namespace

Result<Statement> parse_statement(const Source& source, const std::vector<Parameter>& parameters) {
  DISCREET_TRY(auto lifted, lift_dialect(source.text()));
  DISCREET_TRY(const auto tokens, scan(source.text()));

  PgQueryProtobufParseResult parsed = pg_query_parse_protobuf(lifted.text.c_str());
  pg_query::ParseResult tree;
  std::optional<Error> failure;
  if (parsed.error != nullptr)
    failure = source.invalid(parsed.error->cursorpos - 1, parsed.error->message);
  else if (!tree.ParseFromArray(parsed.parse_tree.data, static_cast<int>(parsed.parse_tree.len)))
    failure = source.invalid(-1, "the statement is nested too deeply");
  pg_query_free_protobuf_parse_result(parsed);
  if (failure) return *std::move(failure);

  if (tree.stmts_size() == 0) return source.invalid(-1, "there is no statement", "Write a SELECT");
  if (tree.stmts_size() > 1)
    return source.refuse(tree.stmts(1).stmt_location(), "one statement at a time",
                         "Send the second statement by itself");
  Reader reader(source, tokens, parameters);
  DISCREET_TRY(auto statement, read_statement(source, tree.stmts(0).stmt(), reader));
  statement.clauses = std::move(lifted.clauses);
  statement.normalised_text = normalise(tokens);
  for (const Parameter& given : parameters)
    statement.normalised_text +=
        fmt::format("\n{} {} {}", given.type, given.text ? given.text->size() : 0,
                    given.text ? *given.text : "null");
  return statement;
}

}  // namespace discreet::sql
