// What the curator asks of whoever holds the rows: statements in, exact integers per group out.
//
// Guarantee: no Error that leaves an engine carries the backend's own words, which may quote row
//            values: those go to the operator's log, and the Error is a sentence that is the same
//            for all rows.
// Guarantee: between begin() and end() all statements see one snapshot of the data.
// Assumes:   statements are written by the planner for this engine's dialect, never by an analyst.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/rows.h"

namespace discreet {

/// Receives the backend's own words. May be called from any thread that uses the engine.
using OperatorLog = std::function<void(std::string_view backend_message)>;

/// Sees some rows of a statement. Called on several threads at once, but for one `lane` never twice
/// at a time; lanes are numbered from 0, and there are no more than threads. False: enough.
using ChunkVisitor = std::function<bool(const EngineChunk& chunk, std::size_t lane)>;

/// Asks whose the rows of files are.
struct OwnersAsked {
  std::string sql;                    ///< gives every row's `place` (RowOwners) and its `unit`
  std::string link_sql{};             ///< not empty: `unit` leads to the unit, as in UnitRowsShape
  std::vector<std::string> tables{};  ///< that both read
};
class OwnersKept;

/// Asks for other engines' tables as the embedded engine reads them from files.
struct FilesAsked {
  std::vector<std::string> tables;      ///< by the policy's names
  std::vector<std::string> statements;  ///< that may then be run, and name what they read of them
  /// The engine itself answers for little: files that are not here are brought only where their
  /// table was asked about before, as it is.
  bool only_again = false;
};

struct VisitedRows {
  std::uint64_t rows;
  bool stopped;  ///< the visitor said so, or the engine had better add up: not all rows were shown
};

/// One connection: one thread at a time, except cancel().
class Engine {
 public:
  virtual ~Engine() = default;

  /// Runs one statement and streams its rows: at most a few chunks are held in memory. A new
  /// statement ends a stream that is still being read.
  virtual Result<EngineRows> query(const std::string& sql) = 0;

  /// Whether the engine will take the statement: it is planned, and no row is read. Asked before a
  /// question is charged.
  virtual Result<void> check(const std::string& sql) = 0;

  /// Runs one statement and shows these of its columns to `visitor` on the threads that make them,
  /// in no order, every row exactly once. Only engines whose dialect streams rows do this.
  virtual Result<VisitedRows> visit(const std::string& sql, const std::vector<std::string>& columns,
                                    const ChunkVisitor& visitor) = 0;

  /// An engine that reads the same rows of these tables for less, until end(): its statements are
  /// DuckDB's SQL. Null: there is none.
  virtual Result<Engine*> over_files([[maybe_unused]] const FilesAsked& asked) { return nullptr; }

  /// Names the state of the files that these tables are. "": they are more than files, or may still
  /// be changed without a trace.
  virtual std::string files_state([[maybe_unused]] const std::vector<std::string>& tables) const {
    return "";
  }
  /// The number of a table's rows, read once and then known as long as its files_state() stays.
  /// Null: it has none, and the rows are to be counted.
  virtual Result<std::optional<std::uint64_t>> row_count(
      [[maybe_unused]] const std::string& table) {
    return std::optional<std::uint64_t>();
  }
  /// Where whose rows they are is kept from question to question. Only with a files_state().
  virtual OwnersKept* owners_kept() { return nullptr; }
  /// Whether a visit that was stopped soon and is begun anew costs next to nothing more.
  virtual bool restarts_cheaply() const { return true; }

  /// One snapshot for all statements until end(). A connection that was lost is made anew here.
  virtual Result<void> begin() = 0;
  virtual void end() = 0;

  /// The last failure was the connection's, not the statement's: the same statements may be run
  /// again from begin() on.
  virtual bool was_lost() const = 0;

  /// Stops the statement that runs now, which then fails with Unavailable. From any thread.
  virtual void cancel() const = 0;
};

struct RemoteColumn {
  std::string name;
  std::string type;  ///< in the engine's own words: "numeric(10,2)"
  bool is_enum = false;

  bool operator==(const RemoteColumn&) const = default;
};

/// Files of which only some columns are here, and may be read. For one thread.
class PartialFiles {
 public:
  struct Part {
    std::size_t file;
    std::uint64_t begin, size;
  };
  virtual ~PartialFiles() = default;
  /// Names these files: in this process no others ever have it. What has() names does not change.
  virtual std::string state() const = 0;
  virtual bool has(const std::string& column) const = 0;
  /// Brings columns, which are these parts of the files. False: they are not to be had.
  virtual Result<bool> bring(const std::vector<std::string>& columns,
                             const std::vector<Part>& parts) = 0;
};

/// Parquet files of this machine that hold a relation's rows, whole and alone.
struct PlainFiles {
  /// A column that no file has: one value for all rows of a file, as text; absent: NULL.
  struct Constant {
    std::string column;
    std::vector<std::optional<std::string>> values;  ///< by file
  };
  std::vector<std::string> files{};
  std::vector<Constant> constants{};
  std::shared_ptr<PartialFiles> partial{};  ///< not null: what is read has to be brought first
};

/// An engine that keeps its own tables, elsewhere. Its dialect is not DuckDB's.
class RemoteEngine : public Engine {
 public:
  /// A second connection to the same database, for another thread.
  virtual Result<std::unique_ptr<RemoteEngine>> connect() const = 0;

  /// The columns of a relation, in order. NotFound: there is none.
  virtual Result<std::vector<RemoteColumn>> describe(const std::string& relation) = 0;

  /// Names the state of a relation's rows, as well as the engine knows it: another state has
  /// another name, and its questions are asked anew. "" where the engine cannot tell.
  virtual Result<std::string> identity(const std::string& relation) = 0;

  /// The relation's files, as identity() saw them last. None: they lie elsewhere, or there is more
  /// to the relation than its files.
  /// `only_again`: FilesAsked::only_again.
  virtual Result<PlainFiles> plain_files([[maybe_unused]] const std::string& relation,
                                         [[maybe_unused]] bool only_again) {
    return PlainFiles();
  }
};

inline constexpr char kStatementFailed[] =
    "The database engine could not run the statement; the operator's log has the reason.";

}  // namespace discreet
