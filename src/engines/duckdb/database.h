// A connection to DuckDB, the embedded engine.
//
// Guarantee: no Error that leaves this folder carries a backend message. DuckDB quotes row values
// in
//            its messages ("Could not convert string 'HIV' to INT32"), so they go to the operator's
//            log and the Error is a sentence that is the same for all rows.
// Guarantee: a database opened here never downloads or loads an extension, and its configuration is
//            locked, so no later statement can change that.
// Assumes:   statements are written by the curator, not by an analyst: DuckDB can read and write
//            files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/duckdb/rows.h"
#include "engines/engine.h"

namespace discreet {

class DuckDbConnection;

struct DuckDbSettings {
  std::string path{};                             ///< a database file; empty is in memory
  bool read_only = false;                         ///< only for files
  std::optional<std::uint32_t> threads{};         ///< DuckDB's own choice (all cores) if absent
  std::optional<std::uint64_t> memory_max_mib{};  ///< DuckDB's own choice (80 %) if absent
  /// A file that changed within so many seconds may be changed again without a trace.
  std::uint32_t files_settle_s = 3;
  bool external_access = true;         ///< off: no statement can reach a file, whatever it says
  OperatorLog operator_log = nullptr;  ///< absent: backend messages are dropped
};

/// One connection. Movable; one thread at a time, except interrupt(). Rows and appenders made from
/// it keep the database open, and a new query ends a stream that is still being read.
class DuckDb final : public Engine {
 public:
  /// InvalidParameter: zero threads or memory, or read_only without a file. Unavailable: the file
  /// cannot be opened, or another process has it open for writing.
  static Result<DuckDb> open(DuckDbSettings settings);

  /// A second connection to the same database, for another thread.
  Result<DuckDb> connect() const;

  /// Runs one or more statements and drops their results.
  Result<void> execute(const std::string& sql);

  /// Runs one statement and streams its rows: at most a few chunks are held in memory.
  /// Refused: a column of a type that rows.h does not list.
  Result<EngineRows> query(const std::string& sql) override;

  Result<void> check(const std::string& sql) override;

  /// Runs one statement and shows these of its columns to `visitor` on the threads that make them,
  /// in no order, every row exactly once (checked). A column of a type that rows.h does not list
  /// is Unavailable.
  Result<VisitedRows> visit(const std::string& sql, const std::vector<std::string>& columns,
                            const ChunkVisitor& visitor) override;

  /// This table's rows are those of these Parquet files, in this order, on this connection and on
  /// those that are made from it. `state`: of files that nobody else can change, in place of what
  /// the file system says; no others ever have it.
  void lies_in(const std::string& table, std::vector<std::string> files, std::string state = "");
  /// A file that was written within the last seconds (files_settle_s) has none: it may be written
  /// again within the tick of the clock that tells its state.
  std::string files_state(const std::vector<std::string>& tables) const override;
  Result<std::optional<std::uint64_t>> row_count(const std::string& table) override;
  OwnersKept* owners_kept() override;

  /// The tables are views over files, which a statement reads once: no snapshot is held.
  Result<void> begin() override;
  void end() override;
  bool was_lost() const override { return false; }

  /// Stops the statement that runs on this connection now, which then fails with Unavailable.
  /// Callable from any thread while this object lives.
  void interrupt() const;
  /// ... and so do those that would follow it until end().
  void cancel() const override;

  /// The library's version, for example "v1.5.6".
  static std::string library_version();

 private:
  friend class DuckDbAppender;
  explicit DuckDb(std::shared_ptr<DuckDbConnection> connection);

  std::shared_ptr<DuckDbConnection> connection_;
};

/// The text of a view over what `reader` (read_parquet(...)) reads: these columns ("*": all), and
/// as `place` where a row lies (RowOwners). `names` are all that the reader gives. Nothing: one of
/// them stands in the way.
std::optional<std::string> placed_rows_sql(const std::string& reader, const std::string& columns,
                                           const std::string& place,
                                           const std::vector<std::string>& names, bool one_file);

/// 'text' and "name" for use inside a statement; any character is safe.
std::string sql_literal(std::string_view text);
std::string sql_identifier(std::string_view name);

}  // namespace discreet
