// One Spark Connect session: plans of one SQL text go there, Arrow bytes and schemas come back.
// Made with gRPC where the build has it (connect/), and refused where it has not (no_connect.cc).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "engines/spark/address.h"

namespace discreet::spark {

struct ConnectionSettings {
  std::uint32_t statement_timeout_s = 600;
  std::uint32_t call_timeout_s = 60;  ///< of everything that runs no statement
  OperatorLog log = nullptr;
};

/// One thread at a time, except cancel().
class Connection {
 public:
  virtual ~Connection() = default;

  /// Runs a statement whose rows are then read. The one before must have ended.
  virtual Result<void> start(const std::string& sql) = 0;
  /// The same of a statement over these files, which it reads as the table kFilesTable: `path`,
  /// `length`, `content`.
  virtual Result<void> start_over(const std::string& sql,
                                  const std::vector<std::string>& locations) = 0;
  static constexpr char kFilesTable[] = "discreet_files";
  /// One Arrow stream's bytes; nothing after the last.
  virtual Result<std::optional<std::string>> next() = 0;
  /// Ends the statement that runs, if one does: the server stops it.
  virtual void drain() = 0;

  /// The columns of a statement, which is planned and not run. NotFound: it names what is not
  /// there.
  virtual Result<std::vector<RemoteColumn>> schema(const std::string& sql) = 0;
  /// The columns of a relation as they are now: what the server remembers of it, files too, is
  /// forgotten first.
  virtual Result<std::vector<RemoteColumn>> fresh_columns(const std::string& relation) = 0;
  /// The files that a statement would read, as far as Spark knows.
  virtual Result<std::vector<std::string>> input_files(const std::string& sql) = 0;

  /// A statement's plan with its sizes, in Spark's words; no row is read.
  virtual Result<std::string> plan(const std::string& sql) = 0;

  /// The last statement failed since its rows are more than the server's memory may hold.
  virtual bool was_too_large() const = 0;
  /// ... since it was cancelled, or took longer than it may.
  virtual bool was_stopped() const = 0;

  virtual void cancel() const = 0;
  virtual bool is_lost() const = 0;
};

/// Unavailable: the server cannot be reached, or does not let us in. Refused: this program was
/// built without Spark.
Result<std::unique_ptr<Connection>> open_connection(const Address& address,
                                                    const ConnectionSettings& settings);

}  // namespace discreet::spark
