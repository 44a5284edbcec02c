// Text to tree, by PostgreSQL's own grammar (libpg_query).
//
// Guarantee: exactly one statement; anything that is not a question (or EXPLAIN, SET and SHOW of
// our
//            settings) is refused here, so no later pass can meet it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sql/ast.h"
#include "sql/dialect.h"
#include "sql/refusal.h"

namespace discreet::sql {

enum class StatementKind { Question, Explain, Set, Show };

struct Statement {
  StatementKind kind = StatementKind::Question;
  QueryPtr query;                      ///< Question, Explain
  std::vector<PrivacyClause> clauses;  ///< of GoogleSQL's form
  std::string setting, value;          ///< Set, Show: "discreet.epsilon"
  bool explain_json = false;           ///< EXPLAIN (FORMAT JSON)
  std::string normalised_text;         ///< the same for statements that differ in spacing and case
};

Result<Statement> parse_statement(const Source& source);

}  // namespace discreet::sql
