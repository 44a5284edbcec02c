// The owner's tables where they are: files behind the embedded engine, one view per table of the
// policy, or the tables of another database.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/policy.h"
#include "curator/file_tables.h"
#include "curator/remote_tables.h"
#include "engines/duckdb/database.h"
#include "sql/schema.h"

namespace discreet {

class Twins;

class Data final : public sql::SchemaProvider {
 public:
  /// Opens every table of the policy, without reading its rows. InvalidInput: a column the policy
  /// lists is not there. NotFound or Unavailable: a source cannot be opened. Refused: a kind of
  /// source this engine does not read.
  static Result<Data> open(const catalog::Policy& policy, OperatorLog log);

  /// The same tables through a connection of its own, for another thread.
  Result<Data> connect() const;

  Result<std::vector<sql::SchemaColumn>> columns(const std::string& table) const override;

  /// Twins that statements made, and their registry.
  const catalog::Table* twin(const std::string& table) const override;
  Twins& twins() { return *twins_; }
  const Twins& twins() const { return *twins_; }

  /// A SELECT of these columns for engine(), each under the name of its number.
  std::string scan(const sql::Scan& scan) const;
  /// A statement for engine() that was put together from DuckDB's phrases around such a SELECT.
  std::string statement(const std::string& sql) const;

  const sql::EngineDialect* dialect() const override {
    return remote_ ? &remote_->dialect() : nullptr;
  }

  /// Names the state of these tables' sources: a changed file has another snapshot, and its
  /// questions are asked anew. Unavailable: a source cannot be read, or a table's columns have
  /// changed.
  Result<std::string> snapshot(const std::vector<std::string>& tables);

  /// Whether the engine will take the question's statements; reads no row.
  Result<void> check(const sql::PlannedQuestion& question);

  /// Public tables that the final statement reads, for the embedded engine.
  Result<void> bring(const sql::PlannedQuestion& question);
  /// Statements of later releases may read what this one gave out.
  void carry(const sql::Release& release, const ReleasedTable& table);
  void carry_nothing();

  /// Where private rows are.
  Engine& engine() { return remote_ ? remote_->engine() : engine_; }
  /// Where released tables are put together. Has the private rows too if they are in files.
  DuckDb& local() { return engine_; }
  bool is_remote() const { return remote_ != nullptr; }

 private:
  Data(DuckDb engine, std::shared_ptr<Twins> twins)
      : engine_(std::move(engine)), twins_(std::move(twins)) {}

  DuckDb engine_;
  std::shared_ptr<Twins> twins_;
  std::unique_ptr<RemoteTables> remote_;
  std::optional<FileTables> files_;  // where tables are not elsewhere
  const catalog::Policy* policy_ = nullptr;
};

}  // namespace discreet
