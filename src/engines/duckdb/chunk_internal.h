// How DuckDB's vectors become a DuckDbChunk.
#pragma once

#include <duckdb.h>

#include <memory>
#include <optional>

#include "engines/duckdb/rows.h"

namespace discreet {

struct ChunkFiller {
  /// Nothing for a type that has no exact meaning here.
  static std::optional<DuckDbType> map_type(duckdb_type type);

  /// A chunk over memory that somebody else owns, to be filled again and again.
  static std::unique_ptr<DuckDbChunk> make() {
    return std::unique_ptr<DuckDbChunk>(new DuckDbChunk());
  }
  static void resize(DuckDbChunk& chunk, std::size_t rows, std::size_t columns) {
    chunk.size_ = rows;
    chunk.columns_.resize(columns);
  }
  static void set_decimal_digits(DuckDbChunk& chunk, std::size_t column, int digits) {
    chunk.columns_[column].decimal_digits = digits;
  }
  /// Points a column at a flat vector of a known type, or at a widened copy of it.
  static void fill(DuckDbChunk& chunk, std::size_t column, duckdb_type native,
                   duckdb_vector vector);
};

}  // namespace discreet
