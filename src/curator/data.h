// The owner's tables behind the embedded engine: one view per table of the policy, and the columns
// it really has.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "catalog/policy.h"
#include "engines/duckdb/database.h"
#include "sql/schema.h"

namespace discreet {

class Data final : public sql::SchemaProvider {
 public:
  /// Opens every table of the policy, without reading its rows. InvalidInput: a column the policy
  /// lists is not there. NotFound or Unavailable: a source cannot be opened. Refused: a kind of
  /// source this engine does not read.
  static Result<Data> open(const catalog::Policy& policy, OperatorLog log);

  /// The same tables through a connection of its own, for another thread.
  Result<Data> connect() const;

  Result<std::vector<sql::SchemaColumn>> columns(const std::string& table) const override;

  /// Names the state of these tables' sources: a changed file has another snapshot, and its
  /// questions are asked anew.
  std::string snapshot(const std::vector<std::string>& tables) const;

  DuckDb& engine() { return engine_; }

 private:
  explicit Data(DuckDb engine) : engine_(std::move(engine)) {}

  DuckDb engine_;
  std::map<std::string, std::vector<sql::SchemaColumn>> columns_;
  std::map<std::string, std::string> sources_;  // by table: path
};

}  // namespace discreet
