// The rows of one DuckDB statement, a chunk (about 2,000 rows) at a time.
//
// Integers of every width arrive as int64 or Int128, so that sums stay exact up to the noise core;
// reals are doubles and exist here only for columns that already are. DECIMAL, nested and exotic
// types are refused: whoever writes the statement casts them, where it can be seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/saturating.h"

namespace discreet {

class DuckDbConnection;

enum class DuckDbType {
  Bool,
  Int64,    ///< TINYINT to BIGINT, and the unsigned ones below 64 bits
  HugeInt,  ///< HUGEINT and UBIGINT
  Double,   ///< FLOAT and DOUBLE
  Varchar,
  Date,       ///< days since 1970-01-01, read with int64s()
  Timestamp,  ///< microseconds since 1970-01-01, read with int64s()
};

const char* name(DuckDbType type);

struct DuckDbColumn {
  std::string name;
  DuckDbType type;
};

/// Some rows, column by column. What its accessors return lives as long as the chunk. The value at
/// a null is unspecified. Asking for the wrong type is a bug in the caller (DISCREET_CHECK).
class DuckDbChunk {
 public:
  DuckDbChunk(DuckDbChunk&&) noexcept;
  DuckDbChunk& operator=(DuckDbChunk&&) noexcept;
  ~DuckDbChunk();

  std::size_t size() const { return size_; }
  DuckDbType type(std::size_t column) const { return columns_.at(column).type; }
  /// Of a DECIMAL, which DuckDb::visit() shows as whole numbers of 10^-digits; else 0.
  int decimal_digits(std::size_t column) const { return columns_.at(column).decimal_digits; }
  bool has_nulls(std::size_t column) const { return columns_[column].validity != nullptr; }
  bool is_null(std::size_t column, std::size_t row) const {
    const std::uint64_t* validity = columns_[column].validity;
    return validity != nullptr && (validity[row / 64] >> (row % 64) & 1) == 0;
  }

  std::span<const std::int64_t> int64s(std::size_t column) const;  ///< Int64, Date, Timestamp
  std::span<const double> doubles(std::size_t column) const;
  Int128 int128(std::size_t column, std::size_t row) const;  ///< HugeInt and Int64
  bool boolean(std::size_t column, std::size_t row) const;
  std::span<const std::uint8_t> booleans(std::size_t column) const;  ///< true is not 0
  std::string_view varchar(std::size_t column, std::size_t row) const;

 private:
  friend class DuckDbRows;
  friend struct ChunkFiller;
  struct Column {
    DuckDbType type = DuckDbType::Int64;
    const void* data = nullptr;               // DuckDB's memory, or one of the buffers below
    const std::uint64_t* validity = nullptr;  // absent: no nulls
    bool is_unsigned = false;                 // of a HugeInt: UBIGINT, not HUGEINT
    int decimal_digits = 0;
    std::vector<std::int64_t> widened;
    std::vector<double> widened_doubles;
  };
  DuckDbChunk() = default;
  void require(std::size_t column, std::size_t row, bool type_fits) const;

  void* chunk_ = nullptr;  // duckdb_data_chunk
  std::size_t size_ = 0;
  std::vector<Column> columns_;
};

/// A stream of chunks. Movable; belongs to the thread that uses its connection.
class DuckDbRows {
 public:
  DuckDbRows(DuckDbRows&&) noexcept;
  DuckDbRows& operator=(DuckDbRows&&) noexcept;
  ~DuckDbRows();

  const std::vector<DuckDbColumn>& columns() const;

  /// The next chunk, never an empty one; nothing at the end. Unavailable: the statement failed
  /// midway or was interrupted; what came before must not be used as an answer.
  Result<std::optional<DuckDbChunk>> next();

 private:
  friend class DuckDb;
  struct State;
  explicit DuckDbRows(std::unique_ptr<State> state);

  static Result<DuckDbRows> start(std::shared_ptr<DuckDbConnection> connection,
                                  const std::string& sql);

  std::unique_ptr<State> state_;
};

}  // namespace discreet
