// For adapters: how a chunk is filled.
#pragma once

#include "engines/rows.h"

namespace discreet {

struct ChunkAccess {
  using Column = EngineChunk::Column;
  static EngineChunk make() { return EngineChunk(); }
  /// A chunk over memory that somebody else owns, to be filled again and again.
  static std::unique_ptr<EngineChunk> make_shared_memory() {
    return std::unique_ptr<EngineChunk>(new EngineChunk());
  }
  static void resize(EngineChunk& chunk, std::size_t rows, std::size_t columns) {
    chunk.size_ = rows;
    chunk.columns_.resize(columns);
  }
  static void own(EngineChunk& chunk, std::shared_ptr<void> owner) {
    chunk.owner_ = std::move(owner);
  }
  static Column& column(EngineChunk& chunk, std::size_t index) { return chunk.columns_[index]; }
};

}  // namespace discreet
