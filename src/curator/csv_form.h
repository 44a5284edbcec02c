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
  std::string reader(const std::string& path, const std::vector<sql::SchemaColumn>& columns) const {
    return reader(path, columns, has_header_);
  }

  /// The names that a file's first line gives to its `count` columns, as they are written there;
  /// "" where it gives none.
  Result<std::string> names(const std::string& path, std::size_t count, DuckDb& engine) const;

 private:
  std::string reader(const std::string& path, const std::vector<sql::SchemaColumn>& columns,
                     bool header) const;

  std::string options_;
  bool has_header_ = false;
};

/// The option `types` of read_csv(), with the comma before it: what the policy declares of columns
/// that were found. Else DuckDB guesses from rows: "yes" and "no" are booleans until somebody
/// writes "unsure", and one row could change the type.
std::string csv_types(const catalog::Table& table, const std::vector<sql::SchemaColumn>& found);

}  // namespace discreet
