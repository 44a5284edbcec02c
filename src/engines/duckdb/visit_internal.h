// A scalar function that every database opened here knows: it shows its arguments to whoever runs
// DuckDb::visit(), and what it returns means nothing. That makes a statement's own threads deliver
// its rows, where a result would pass through one.
#pragma once

#include <duckdb.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/result.h"

namespace discreet {

class RowVisit;

/// The visits that run now, by number. Shared by the database and its function. The engine writes
/// the number beside every row: it has few bits.
class VisitRegistry {
 public:
  using Number = std::int16_t;
  /// Nothing: too many run.
  std::optional<Number> add(RowVisit* visit);
  void remove(Number number);
  RowVisit* find(Number number);

 private:
  std::mutex mutex_;
  std::map<Number, RowVisit*> visits_;
};

inline constexpr char kVisitFunction[] = "discreet_visit";

/// False: the engine does not take the function.
bool register_visit(duckdb_connection connection, const std::shared_ptr<VisitRegistry>& registry);

}  // namespace discreet
