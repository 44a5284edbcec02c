// The statement that makes a twin of a table:
//
//   CREATE TABLE twin AS SYNTHESIZE patients WITH (epsilon = 1, method = 'auto')
//   CREATE TABLE twin AS SELECT * FROM synthesize('patients', epsilon => 1)
//
// Guarantee: found by PostgreSQL's scanner, token by token; any other statement is left to
//            parse_statement().
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace discreet::sql {

struct SynthesizeStatement {
  std::string twin, table;
  std::optional<double> epsilon, delta;  ///< absent: the session's or the curator's choice
  std::string method = "auto";
  std::string workload = "3way";  ///< or JSON
  bool fast = false;
  std::uint64_t rows = 0;       ///< 0: a private estimate
  bool explain = false;         ///< only what it would cost
  std::string normalised_text;  ///< without EXPLAIN
};

/// Nothing: the statement is another one. InvalidInput: it is this one, but wrongly written.
Result<std::optional<SynthesizeStatement>> read_synthesize(const std::string& text);

}  // namespace discreet::sql
