// pg_catalog, information_schema and discreet.* for one user: an embedded database that holds names
// and types only.
//
// Guarantee: no private row, no hidden column and no table the user may not ask about is in it, and
//            it can reach no file: whatever a client's catalog query does, it sees the schema and
//            the user's own ledger rows.
// Thread safety: calls are served one after another.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "curator/answer.h"
#include "engines/duckdb/database.h"
#include "server/service.h"

namespace discreet::server {

class CatalogDatabase {
 public:
  /// The collector, where there is one, must outlive it; its estimates are the tables of local.*.
  static Result<std::shared_ptr<CatalogDatabase>> open(const std::vector<VisibleTable>& tables,
                                                       const std::string& user,
                                                       const local::Collector* collector = nullptr);

  /// Twins that are not in it yet; those it has stay as they are.
  Result<void> add_twins(const std::vector<VisibleTable>& twins);

  /// One SELECT as a client wrote it. `owner` sees everybody's rows of discreet.ledger and
  /// discreet.budget.
  Result<Answer> query(const std::string& sql, const std::vector<sql::Parameter>& parameters,
                       ledger::Ledger& ledger, const Identity& identity);
  /// Stops what runs now.
  void interrupt() const { engine_.interrupt(); }

 private:
  CatalogDatabase(DuckDb engine, const local::Collector* collector)
      : engine_(std::move(engine)), collector_(collector) {}
  Result<void> refresh(ledger::Ledger& ledger, const Identity& identity);
  Result<void> refresh_local();

  std::mutex mutex_;
  std::set<std::string> twins_;
  std::int64_t next_oid_ = 16400;
  DuckDb engine_;
  const local::Collector* collector_;
};

/// The client's text in the catalog database's dialect: pg_catalog.x and information_schema.x
/// become its own tables, regclass casts become look-ups, collations go, $n become constants.
Result<std::string> rewrite_catalog_query(const std::string& sql,
                                          const std::vector<sql::Parameter>& parameters);

}  // namespace discreet::server
