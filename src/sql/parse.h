// Text to tree, by PostgreSQL's own grammar (libpg_query).
//
// Guarantee: exactly one statement; anything that is not a question (or EXPLAIN, SET and SHOW of
// our
//            settings) is refused here, so no later pass can meet it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sql/ast.h"
#include "sql/dialect.h"
#include "sql/refusal.h"

namespace discreet::sql {

/// The value of $1, $2, ...: it enters the tree as a constant, never the text.
struct Parameter {
  std::optional<std::string> text;  ///< as PostgreSQL's text format; nothing: NULL
  std::string type;  ///< "int8", "float8", "numeric", "bool", "date", "timestamp", "text"; empty:
                     ///< as a quoted constant
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

enum class StatementKind { Question, Explain, Set, Show };

struct Statement {
  StatementKind kind = StatementKind::Question;
  QueryPtr query;                      ///< Question, Explain
  std::vector<PrivacyClause> clauses;  ///< of GoogleSQL's form
  std::string setting, value;          ///< Set, Show: "discreet.epsilon"
  bool explain_json = false;           ///< EXPLAIN (FORMAT JSON)
  std::string normalised_text;         ///< the same for statements that differ in spacing and case
};

/// InvalidInput also: $n without a parameter, or a parameter that is not of its type.
Result<Statement> parse_statement(const Source& source,
                                  const std::vector<Parameter>& parameters = {});

}  // namespace discreet::sql
