// PostgreSQL's binary values as a chunk's columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/rows.h"
#include "postgres/connection.h"

namespace discreet {

struct PostgresDecoder {
  EngineType type;
  std::uint32_t native;  ///< the type's number in pg_type
  int size() const;      ///< bytes of a whole number as the server keeps it; else 0
};

/// Nothing for a type that has no exact meaning here.
std::optional<PostgresDecoder> postgres_decoder(std::uint32_t native);

/// A numeric in binary form, if it is a whole number of at most 127 bits.
std::optional<Int128> whole_numeric(std::string_view bytes);

/// Takes the first bytes off a binary COPY, if they are what they should be.
bool skip_copy_header(std::string_view& bytes);
/// The last piece of a binary COPY, which is no row.
bool is_copy_trailer(std::string_view bytes);

/// Rows, gathered into columns: at most `rows_max` of them.
class PostgresChunk {
 public:
  PostgresChunk(const std::vector<PostgresDecoder>& decoders, std::size_t rows_max);
  std::size_t size() const { return size_; }
  /// False: a value is not what its type says.
  bool add(const postgres::Rows& rows, int row);
  /// The same for a row of a binary COPY. False too: it is not such a row.
  bool add(std::string_view tuple);
  /// Values one by one, of as many rows as set_size() then says. For columns of that type.
  void put_whole(std::size_t column, std::size_t row, std::int64_t value) {
    columns_->all[column].wholes[row] = value;
  }
  void put_flag(std::size_t column, std::size_t row, bool value) {
    columns_->all[column].flags[row] = value ? 1 : 0;
  }
  void put_null(std::size_t column, std::size_t row) { put_null(columns_->all[column], row); }
  void set_size(std::size_t rows) { size_ = rows; }
  /// What is there now, in the memory of this chunk: to be read before clear().
  EngineChunk finish() const;
  void clear();

 private:
  struct Texts {
    std::string bytes;
    std::vector<std::size_t> ends;
  };
  struct Column {
    std::vector<std::int64_t> wholes;
    std::vector<double> reals;
    std::vector<Int128> wides;
    std::vector<std::uint8_t> flags;
    Texts texts;
    std::vector<std::uint64_t> validity;
    bool has_nulls = false;
  };
  struct Columns {
    std::vector<Column> all;
  };
  bool put(Column& column, const PostgresDecoder& decoder, std::string_view bytes);
  static void put_null(Column& column, std::size_t row);

  const std::vector<PostgresDecoder>& decoders_;
  std::shared_ptr<Columns> columns_;
  std::size_t size_ = 0;
};

}  // namespace discreet
