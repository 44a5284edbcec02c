// Bulk loading: rows go into a table by the chunk, without SQL text in between.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engines/duckdb/database.h"

namespace discreet {

/// Fills one table, a row at a time: one append per column in the table's order, then end_row().
/// Rows are in the table once close() succeeds; without it, some or none of them may be. A value
/// of the wrong type or count is a bug in the caller (DISCREET_CHECK). One thread at a time.
class DuckDbAppender {
 public:
  /// Unavailable: no such table. Refused: a column whose type is not BOOLEAN, INTEGER, BIGINT,
  /// DOUBLE, VARCHAR or DATE.
  static Result<DuckDbAppender> make(const DuckDb& database, const std::string& table);

  DuckDbAppender(DuckDbAppender&&) noexcept;
  DuckDbAppender& operator=(DuckDbAppender&&) noexcept;
  ~DuckDbAppender();

  std::size_t columns() const;

  DuckDbAppender& append(bool value);
  /// For INTEGER and BIGINT; for DATE, days since 1970-01-01. Must fit.
  DuckDbAppender& append(std::int64_t value);
  DuckDbAppender& append(double value);
  DuckDbAppender& append(std::string_view value);
  DuckDbAppender& append_null();

  // Without these a literal would become a bool, and an int would be ambiguous.
  DuckDbAppender& append(const char* value) { return append(std::string_view(value)); }
  DuckDbAppender& append(int value) { return append(std::int64_t{value}); }

  Result<void> end_row();
  Result<void> close();

 private:
  struct State;
  explicit DuckDbAppender(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace discreet
