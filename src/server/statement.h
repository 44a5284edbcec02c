// What kind of thing a client's text is, before anybody plans it.
//
// Guarantee: by PostgreSQL's scanner, token by token. Only text that reads no catalog table and has
//            a FROM is a question; everything else is answered without the curator, from names and
//            settings alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace discreet::server {

enum class StatementKind {
  Empty,
  Set,   ///< SET x = y, RESET x
  Show,  ///< SHOW x
  Begin,
  Commit,
  Rollback,
  Accepted,  ///< done by doing nothing: SAVEPOINT, DISCARD, DEALLOCATE, LISTEN, ...
  Explain,
  Copy,     ///< COPY (SELECT ...) TO STDOUT
  Catalog,  ///< a SELECT of names, settings or constants
  Question,
};

struct CopyOptions {
  bool csv = false;
  bool header = false;
  char delimiter = '\t';
  std::string null = "\\N";
};

struct ClientStatement {
  StatementKind kind = StatementKind::Question;
  std::string sql;             ///< what to run; for COPY the statement inside
  std::string tag;             ///< CommandComplete's words, where they are known beforehand
  std::string setting, value;  ///< Set, Show; `setting` is lower case; RESET has no value
  bool has_value = false;
  bool explain_json = false;
  CopyOptions copy{};
  StatementKind inner = StatementKind::Question;  ///< of a COPY: Question or Catalog
};

/// Statements of a simple query, apart; comments and strings may hold semicolons. Text that cannot
/// be scanned is one statement, whose planning will say what is wrong.
std::vector<std::string> split_statements(const std::string& text);

/// InvalidInput or Refused: a form of SET, SHOW or COPY that means nothing here.
Result<ClientStatement> classify(const std::string& sql);

/// How many parameters the text names: the largest n of $n.
std::size_t parameter_count(const std::string& sql);

/// An Error's sentence in the fields PostgreSQL has for it.
struct ErrorParts {
  std::string message, hint;
  int position = 0;  ///< character, from 1; 0: none
};
ErrorParts parts_of(const Error& error);

}  // namespace discreet::server
