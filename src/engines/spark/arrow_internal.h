// Arrow's IPC stream as chunks: what Spark Connect sends rows in.
//
// Only the column types that engine statements give out. The bytes come from another program, so
// every offset is checked before it is followed: broken bytes give an Error, never a wrong read.
// Format: Apache Arrow, "Columnar Format" (IPC), and FlatBuffers' "Internals".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/rows.h"

namespace discreet::arrow {

struct Field {
  enum class Layout {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Float,
    Double,
    Decimal,
    Text,
    LargeText,
    Bytes
  };
  std::string name;
  EngineType type;
  Layout layout;
};

/// What one IPC stream holds: its columns, and its rows in as many chunks as it has batches.
struct Batches {
  std::vector<Field> fields;
  std::vector<EngineChunk> chunks;  ///< none of them empty
};

/// InvalidInput: not such a stream. Refused: a type that has no exact meaning here.
Result<Batches> read_stream(std::string bytes);

/// The text with every byte that is not UTF-8 replaced; nothing if there is none.
std::optional<std::string> repaired_utf8(std::string_view text);

}  // namespace discreet::arrow
