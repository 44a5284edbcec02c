// The rows of one engine statement, a chunk at a time, whichever engine made them.
//
// Integers of every width arrive as int64 or Int128, so that sums stay exact up to the noise core;
// reals are doubles and exist here only for columns that already are. Other types are refused by
// the adapters: whoever writes the statement casts them, where it can be seen.
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

enum class EngineType {
  Bool,
  Int64,
  HugeInt,  ///< up to 128 bits
  Double,
  Varchar,
  Date,       ///< days since 1970-01-01, read with int64s()
  Timestamp,  ///< microseconds since 1970-01-01, read with int64s()
};

const char* name(EngineType type);

struct EngineColumn {
  std::string name;
  EngineType type;
};

/// Some rows, column by column. What its accessors return lives as long as the chunk. The value at
/// a null is unspecified. Asking for the wrong type is a bug in the caller (DISCREET_CHECK).
class EngineChunk {
 public:
  EngineChunk(EngineChunk&&) noexcept = default;
  EngineChunk& operator=(EngineChunk&&) noexcept = default;

  std::size_t size() const { return size_; }
  EngineType type(std::size_t column) const { return columns_.at(column).type; }
  /// Of a DECIMAL, which Engine::visit() shows as whole numbers of 10^-digits; else 0.
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
  friend struct ChunkAccess;
  /// How a HugeInt or a text lies in memory: engines differ.
  using ReadWide = Int128 (*)(const void* data, std::size_t row);
  using ReadText = std::string_view (*)(const void* data, std::size_t row);
  struct Column {
    EngineType type = EngineType::Int64;
    const void* data = nullptr;               // the engine's memory, or one of the buffers below
    const std::uint64_t* validity = nullptr;  // absent: no nulls
    int decimal_digits = 0;
    ReadWide read_wide = nullptr;
    ReadText read_text = nullptr;
    std::vector<std::int64_t> widened;
    std::vector<double> widened_doubles;
  };
  EngineChunk() = default;
  void require(std::size_t column, std::size_t row, bool type_fits) const;

  std::shared_ptr<void> owner_;  // of the engine's memory
  std::size_t size_ = 0;
  std::vector<Column> columns_;
};

/// What an adapter gives out.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual const std::vector<EngineColumn>& columns() const = 0;
  virtual Result<std::optional<EngineChunk>> next() = 0;
};

/// A stream of chunks. Movable; belongs to the thread that uses its connection.
class EngineRows {
 public:
  explicit EngineRows(std::unique_ptr<RowSource> source) : source_(std::move(source)) {}

  const std::vector<EngineColumn>& columns() const { return source_->columns(); }

  /// The next chunk, never an empty one; nothing at the end. Unavailable: the statement failed
  /// midway or was cancelled; what came before must not be used as an answer.
  Result<std::optional<EngineChunk>> next() { return source_->next(); }

 private:
  std::unique_ptr<RowSource> source_;
};

}  // namespace discreet
