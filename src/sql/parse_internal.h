// Reads libpg_query's tree into our own: what is common to expressions and queries.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pg_query.pb.h"
#include "sql/parse.h"
#include "sql/scan.h"

namespace discreet::sql {

template <class Node>
ExprPtr make_expr(int position, Node node) {
  return std::make_shared<const Expr>(Expr{position, std::move(node)});
}

class TreeReader {
 public:
  TreeReader(const Source& source, const std::vector<Token>& tokens,
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
  static constexpr int kDepthMax = 200;  // a deeper tree would only be an attack on the stack
  int depth_ = 0;
};
}  // namespace discreet::sql
