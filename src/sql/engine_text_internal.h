// What dialects share: the last pass over a statement, and small phrases.
#pragma once

#include <map>
#include <string>

#include "sql/engine_dialect.h"

namespace discreet::sql {

struct StatementStyle {
  bool name_derived_tables = false;          ///< every subquery in FROM gets a name
  std::map<std::string, std::string> words;  ///< DuckDB's word for a type, and the engine's
};

std::string finish_statement(const std::string& sql, const StatementStyle& style);

}  // namespace discreet::sql
