// PostgreSQL as an engine: the tables stay there; sums come here, or rows to be added up per
// person.
//
// Guarantee: every transaction is READ ONLY and REPEATABLE READ, so that a question sees one state
//            of the data and the server itself refuses a write; statements have a time limit.
// Guarantee: visit() reads rows through a binary COPY, on the caller's thread; inside a question,
//            those of one table by pages or all at once (pages_internal.h).
// Guarantee: rows are read in the server's binary form, one after another: an answer of any size
//            takes the memory of one chunk here.
// Assumes:   PostgreSQL 13 or newer, or what speaks its protocol and SQL (docs/scale.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "postgres/address.h"

namespace discreet {

struct PostgresEngineSettings {
  std::uint32_t statement_timeout_s = 600;
  std::uint32_t connect_timeout_s = 10;
  int connect_attempts = 3;  ///< where a lost connection is made anew
  /// What has no pages comes as one string of 8 bytes a row if the server expects no more rows. It
  /// holds the string several times over.
  std::int64_t rows_at_once = 1 << 24;
  OperatorLog operator_log = nullptr;
};

class PostgresEngine final : public RemoteEngine {
 public:
  /// Unavailable: the server cannot be reached, or does not let us in.
  static Result<std::unique_ptr<PostgresEngine>> open(const postgres::Address& address,
                                                      PostgresEngineSettings settings);
  ~PostgresEngine() override;

  /// A second connection to the same database, for another thread.
  Result<std::unique_ptr<RemoteEngine>> connect() const override;

  /// The columns of a relation ("schema"."table"), in order. NotFound: there is none.
  Result<std::vector<RemoteColumn>> describe(const std::string& relation) override;

  /// Names the state of a relation: its columns, the files behind it, and how many rows were ever
  /// written to it (as the server's statistics know, a second or so late). Of a view: of the tables
  /// it reads. After a crash the server counts from zero, which is not taken for a change. A
  /// standby does not count: every change that reached it, to whatever table, is another state. ""
  /// where the server does not keep such statistics.
  Result<std::string> identity(const std::string& relation) override;

  Result<EngineRows> query(const std::string& sql) override;
  Result<void> check(const std::string& sql) override;
  Result<VisitedRows> visit(const std::string& sql, const std::vector<std::string>& columns,
                            const ChunkVisitor& visitor) override;
  Result<void> begin() override;
  void end() override;
  bool was_lost() const override;
  void cancel() const override;

  struct State;
  class Counters;

 private:
  static Result<std::unique_ptr<PostgresEngine>> open(const postgres::Address& address,
                                                      PostgresEngineSettings settings,
                                                      std::shared_ptr<Counters> counters);
  explicit PostgresEngine(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace discreet
