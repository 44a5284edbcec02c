// What database, rows and appender share: the C handles, closed in the right order.
#pragma once

#include <duckdb.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engines/cancellation.h"
#include "engines/duckdb/database.h"
#include "engines/duckdb/visit_internal.h"
#include "engines/row_owners.h"

namespace discreet {

/// How many rows tables have while their files are in a state. For all threads.
class RowCounts {
 public:
  std::optional<std::uint64_t> find(const std::string& table, const std::string& state) {
    const std::scoped_lock lock(mutex_);
    const auto found = counted_.find(table);
    if (found == counted_.end() || found->second.state != state) return std::nullopt;
    return found->second.rows;
  }
  void put(const std::string& table, std::string state, std::uint64_t rows) {
    const std::scoped_lock lock(mutex_);
    counted_[table] = {std::move(state), rows};
  }

 private:
  struct Counted {
    std::string state;
    std::uint64_t rows = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Counted> counted_;  // by table
};

/// A database file or memory; closed when the last connection to it is.
class DuckDbInstance {
 public:
  DuckDbInstance(OperatorLog log, std::uint32_t settle_s)
      : files_settle_s(settle_s), log_(std::move(log)) {}
  ~DuckDbInstance() { duckdb_close(&handle); }
  DuckDbInstance(const DuckDbInstance&) = delete;
  DuckDbInstance& operator=(const DuckDbInstance&) = delete;

  /// Logs what the backend said and returns the sentence that may be shown.
  Error failure(const char* backend_message, const char* sentence) const {
    if (log_ && backend_message != nullptr) log_(backend_message);
    return Error{ErrorCode::Unavailable, sentence};
  }

  duckdb_database handle = nullptr;
  std::shared_ptr<VisitRegistry> visits = std::make_shared<VisitRegistry>();
  const std::uint32_t files_settle_s;
  OwnersKept owners{OwnersKept::bytes_for_this_machine()};
  RowCounts row_counts;

 private:
  OperatorLog log_;
};

class DuckDbConnection {
 public:
  explicit DuckDbConnection(std::shared_ptr<DuckDbInstance> shared) : instance(std::move(shared)) {}
  ~DuckDbConnection() { duckdb_disconnect(&handle); }
  DuckDbConnection(const DuckDbConnection&) = delete;
  DuckDbConnection& operator=(const DuckDbConnection&) = delete;

  std::shared_ptr<DuckDbInstance> instance;
  duckdb_connection handle = nullptr;
  Cancellation cancellation;
  struct LiesIn {
    std::vector<std::string> files;
    std::string state;
  };
  std::map<std::string, LiesIn> files;  // by table
};

}  // namespace discreet
