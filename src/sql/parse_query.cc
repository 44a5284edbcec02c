#include <set>

#include <fmt/format.h>

#include "sql/parse_internal.h"

namespace discreet::sql {
namespace {

constexpr std::size_t kCubeMax = 10, kGroupingSetsMax = 1024;

}  // namespace

Result<SortItem> TreeReader::sort_item(const Node& node) {
  SortItem item;
  const auto& sort = node.sort_by();
  DISCREET_TRY(item.expr, expr(sort.node()));
  item.descending = sort.sortby_dir() == pg_query::SORTBY_DESC;
  if (sort.sortby_nulls() == pg_query::SORTBY_NULLS_FIRST) item.nulls_first = true;
  if (sort.sortby_nulls() == pg_query::SORTBY_NULLS_LAST) item.nulls_first = false;
  return item;
}

Result<FromPtr> TreeReader::from_item(const Node& node) {
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

Result<void> TreeReader::refuse_unsupported(const pg_query::SelectStmt& select, int position) {
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

Result<void> TreeReader::read_targets(const pg_query::SelectStmt& select, Query& made) {
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

Result<void> TreeReader::read_ctes(const pg_query::SelectStmt& select, Query& made) {
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
Result<std::vector<std::vector<std::size_t>>> TreeReader::grouping_sets(const Node& node,
                                                                        Query& made) {
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

Result<void> TreeReader::read_group_by(const pg_query::SelectStmt& select, Query& made) {
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

Result<QueryPtr> TreeReader::query(const pg_query::SelectStmt& select, int position) {
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
}  // namespace discreet::sql
