#include "sql/parse.h"

#include <fmt/format.h>
#include <pg_query.h>

#include "sql/parse_internal.h"

namespace discreet::sql {
namespace {

std::string plain_value(const pg_query::Node& node) {
  if (!node.has_a_const()) return {};
  const auto& constant = node.a_const();
  if (constant.has_sval()) return constant.sval().sval();
  if (constant.has_fval()) return constant.fval().fval();
  if (constant.has_boolval()) return constant.boolval().boolval() ? "true" : "false";
  return std::to_string(constant.ival().ival());
}

Result<Statement> read_statement(const Source& source, const pg_query::Node& node,
                                 TreeReader& reader) {
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
  TreeReader reader(source, tokens, parameters);
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
