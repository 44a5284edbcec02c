// How DuckDB's vectors become a chunk.
#pragma once

#include <duckdb.h>

#include <memory>
#include <optional>

#include "engines/chunk_internal.h"
#include "engines/duckdb/rows.h"

namespace discreet {

struct ChunkFiller {
  /// Nothing for a type that has no exact meaning here.
  static std::optional<EngineType> map_type(duckdb_type type);

  /// Points a column at a flat vector of a known type, or at a widened copy of it.
  static void fill(EngineChunk& chunk, std::size_t column, duckdb_type native,
                   duckdb_vector vector);
};

}  // namespace discreet
