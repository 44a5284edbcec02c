// The worlds that statements of the corpus are planned and run in: a policy, its tables in DuckDB,
// the same tables without one person.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/duckdb/database.h"
#include "sql/planner.h"

namespace discreet::sql {

inline const std::filesystem::path kFolder = DISCREET_SQL_CORPUS;

/// One statement of a .test file, and what is to become of it.
struct Case {
  std::string file, verdict, words, statement, plain;
  int line = 0;
};
std::vector<Case> read_cases(const std::string& file);

/// The engine's own word on a table's columns.
class DuckDbSchema final : public SchemaProvider {
 public:
  explicit DuckDbSchema(DuckDb& database) : database_(database) {}
  Result<std::vector<SchemaColumn>> columns(const std::string& table) const override;

 private:
  DuckDb& database_;
  mutable std::map<std::string, std::vector<SchemaColumn>> seen_;
};
constexpr const char* kRemovedUnit = "7";

/// A question's world: policy, tables, planner.
class World {
 public:
  /// `change`: after NAME_change.sql, in which the unit that goes is `unit`.
  explicit World(const std::string& name, const std::string& change = "",
                 const std::string& unit = kRemovedUnit);

  static std::string& last_engine_message() {
    static std::string message;
    return message;
  }

  Result<PlannedQuestion> plan(const std::string& text) const { return planner_.plan(text); }
  DuckDb& database() { return database_; }

  /// Rows as text, numbers to 7 digits.
  Result<std::vector<std::string>> rows(const std::string& sql);

 private:
  catalog::Policy policy_;
  DuckDb database_;
  DuckDbSchema schema_;
  Planner planner_;
};
/// `change`: the same tables after hospital_<change>.sql.
World& world(const std::string& name, const std::string& change = "",
             const std::string& unit = kRemovedUnit);

/// Guarantee (a) of question.h: without one unit, exactly its rows are gone and no other has
/// changed.
void check_neighbour(const std::string& policy, const Release& release,
                     const std::string& unit = kRemovedUnit);

}  // namespace discreet::sql
