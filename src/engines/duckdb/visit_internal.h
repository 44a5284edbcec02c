// A scalar function that every database opened here knows: it shows its arguments to whoever runs
// DuckDb::visit(), and what it returns means nothing. That makes a statement's own threads deliver
// its rows, where a result would pass through one.
#pragma once

#include <duckdb.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/result.h"

namespace discreet {

class RowVisit;

/// The visits that run now, by number. Shared by the database and its function.
class VisitRegistry {
 public:
  std::int64_t add(RowVisit* visit);
  void remove(std::int64_t number);
  RowVisit* find(std::int64_t number);

 private:
  std::mutex mutex_;
  std::map<std::int64_t, RowVisit*> visits_;
  std::int64_t next_ = 1;
};

inline constexpr char kVisitFunction[] = "discreet_visit";

/// False: the engine does not take the function.
bool register_visit(duckdb_connection connection, const std::shared_ptr<VisitRegistry>& registry);

}  // namespace discreet
