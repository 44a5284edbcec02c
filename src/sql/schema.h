// Which columns a table really has: the engine's word, asked once and without reading rows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/policy.h"

namespace discreet::sql {

class EngineDialect;

struct SchemaColumn {
  std::string name;
  std::string engine_type;  ///< as DuckDB's DESCRIBE says it: "DECIMAL(15,2)"
};

class SchemaProvider {
 public:
  virtual ~SchemaProvider() = default;
  /// The columns of a policy's table or of a twin, in order. NotFound or Unavailable otherwise.
  virtual Result<std::vector<SchemaColumn>> columns(const std::string& table) const = 0;
  /// A public table that a statement made; it lives as long as the provider.
  virtual const catalog::Table* twin(const std::string&) const { return nullptr; }
  /// The SQL of the engine that has the tables; absent: DuckDB's.
  virtual const EngineDialect* dialect() const { return nullptr; }
};

/// Schemas known beforehand.
class FixedSchema final : public SchemaProvider {
 public:
  void add(const std::string& table, std::vector<SchemaColumn> columns) {
    tables_[table] = std::move(columns);
  }
  Result<std::vector<SchemaColumn>> columns(const std::string& table) const override {
    const auto found = tables_.find(table);
    if (found == tables_.end())
      return Error{ErrorCode::NotFound, "There is no table '" + table + "'."};
    return found->second;
  }

 private:
  std::map<std::string, std::vector<SchemaColumn>> tables_;
};

}  // namespace discreet::sql
