// Apache Spark as an engine, through Spark Connect: the tables stay there; sums come here, or rows
// to be added up per person.
//
// Guarantee: all statements of a question read the same files: Spark lists a table's files once for
//            a session, and describe() makes it list them anew. A file that is gone fails the
//            statement; it does not change the answer. (Tables that are not files have no
//            snapshot.)
// Guarantee: rows come as Arrow batches of a few megabytes; one is held at a time.
// Guarantee: no row makes a statement fail: the session runs with ANSI errors off and in UTC.
// Assumes:   Spark 4 with its Connect server; Spark 3.5 where the SQL used allows (docs/scale.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "engines/spark/address.h"

namespace discreet {

struct SparkEngineSettings {
  std::uint32_t statement_timeout_s = 600;
  int connect_attempts = 3;  ///< where a lost connection is made anew
  OperatorLog operator_log = nullptr;
  double bytes_at_once = 128 << 20;  ///< of the tables whose rows one statement of visit() sends
  std::uint64_t file_bytes_max = 128 << 20;  ///< of a file that an executor may read as a whole
};

class SparkEngine final : public RemoteEngine {
 public:
  /// Unavailable: the server cannot be reached, or does not let us in. Refused: this program was
  /// built without Spark.
  static Result<std::unique_ptr<SparkEngine>> open(const spark::Address& address,
                                                   SparkEngineSettings settings);
  ~SparkEngine() override;

  Result<std::unique_ptr<RemoteEngine>> connect() const override;

  /// The columns of `database`.`table`, whose files are listed anew. NotFound: there is none.
  Result<std::vector<RemoteColumn>> describe(const std::string& relation) override;

  /// Names the files of a relation. A file that was written anew under its old name is not seen;
  /// Spark itself never does that. "" of a relation without files.
  Result<std::string> identity(const std::string& relation) override;

  /// Where the address says that they are here too, or may be sent, and Spark itself wrote them.
  Result<PlainFiles> plain_files(const std::string& relation, bool only_again) override;

  Result<EngineRows> query(const std::string& sql) override;
  Result<void> check(const std::string& sql) override;
  Result<VisitedRows> visit(const std::string& sql, const std::vector<std::string>& columns,
                            const ChunkVisitor& visitor) override;
  bool restarts_cheaply() const override { return false; }  // a job has a price of its own
  Result<void> begin() override;
  void end() override;
  bool was_lost() const override;
  void cancel() const override;

  struct State;

 private:
  explicit SparkEngine(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace discreet
