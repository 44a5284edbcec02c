// How a CSV file is written, and what its columns hold: found once, so that no row that comes later
// can change it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/policy.h"
#include "engines/duckdb/database.h"
#include "sql/schema.h"

namespace discreet {

class CsvForm {
 public:
  /// Nothing: it cannot be told.
  static std::optional<CsvForm> find(const std::string& path, DuckDb& engine);

  /// read_csv(...) with these columns, of these types.
  std::string reader(const std::string& path, const std::vector<sql::SchemaColumn>& columns) const;

  /// The line of a file that names its columns, without quotes; "" where none does.
  Result<std::string> names(const std::string& path, DuckDb& engine) const;

 private:
  std::string options_, before_names_;
  bool has_header_ = false;
};

/// The option `types` of read_csv(), with the comma before it: what the policy declares of columns
/// that were found. Else DuckDB guesses from rows: "yes" and "no" are booleans until somebody
/// writes "unsure", and one row could change the type.
std::string csv_types(const catalog::Table& table, const std::vector<sql::SchemaColumn>& found);

}  // namespace discreet
