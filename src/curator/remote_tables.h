// Tables that live in another database: one connection, one dialect, and what the curator needs
// around them.
//
// Statements go there, and sums come back (from this machine also rows, to be added up per person).
// Two things travel: public tables that a final statement reads are copied to the embedded engine,
// and tables released earlier in a question go along inside the statements that read them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "catalog/policy.h"
#include "curator/released.h"
#include "engines/duckdb/database.h"
#include "engines/engine.h"
#include "sql/engine_dialect.h"

namespace discreet {

class RemoteTables {
 public:
  /// In another database, not in files.
  static bool lives_elsewhere(const catalog::Table& table);

  /// All tables of the policy. Refused: they do not live in one database. Unavailable: it cannot be
  /// reached. NotFound or InvalidInput: a table or a column is not there.
  static Result<std::unique_ptr<RemoteTables>> open(const catalog::Policy& policy,
                                                    const OperatorLog& log);
  ~RemoteTables();
  Result<std::unique_ptr<RemoteTables>> connect() const;

  const sql::EngineDialect& dialect() const { return *shared_->dialect; }
  Result<std::vector<sql::SchemaColumn>> columns(const std::string& table) const;
  /// The table as the database calls it.
  const std::string& relation(const std::string& table) const {
    return shared_->relations.at(table);
  }

  /// Names the state of these tables. Unavailable: their columns are not those that were opened.
  Result<std::string> state(const std::vector<std::string>& tables);

  /// Every statement of the question as the engine would plan it, without reading a row.
  Result<void> check(const sql::PlannedQuestion& question);

  /// Copies public tables into the embedded engine, under their names.
  Result<void> bring(const std::string& table, DuckDb& local);

  /// From now on statements that read `release.table` find it.
  void carry(const sql::Release& release, const ReleasedTable& table);
  void carry_nothing();

  /// The database, as releases see it.
  Engine& engine();

 private:
  struct Shared {
    OperatorLog log;
    std::unique_ptr<sql::EngineDialect> dialect;
    std::map<std::string, std::string> relations;
    std::map<std::string, std::vector<RemoteColumn>> found;
    std::map<std::string, std::vector<sql::SchemaColumn>> columns;

    /// What the engine says of a table, which must have the policy's columns.
    Result<const std::vector<RemoteColumn>*> describe(const catalog::Policy& policy,
                                                      const catalog::Table& table,
                                                      const std::string& relation,
                                                      RemoteEngine& engine);

    /// A connection to the embedded engine that reads the tables' files, one for all connections.
    Result<DuckDb> connect_to_files() const;
    mutable std::mutex mutex;             // of `files`
    mutable std::optional<DuckDb> files;  // made when they are first read
  };
  class Carrying;
  static Result<std::unique_ptr<RemoteEngine>> open_postgres(const catalog::Policy& policy,
                                                             const OperatorLog& log,
                                                             Shared& shared);
  static Result<std::unique_ptr<RemoteEngine>> open_spark(const catalog::Policy& policy,
                                                          const OperatorLog& log, Shared& shared);
  RemoteTables(std::shared_ptr<const Shared> shared, std::unique_ptr<RemoteEngine> engine);

  std::shared_ptr<const Shared> shared_;
  std::unique_ptr<RemoteEngine> engine_;
  std::unique_ptr<Carrying> carrying_;
};

}  // namespace discreet
