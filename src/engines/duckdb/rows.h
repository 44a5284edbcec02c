// The names DuckDB's rows had before there were other engines.
//
// DECIMAL, nested and exotic types are refused: whoever writes the statement casts them.
#pragma once

#include "engines/rows.h"

namespace discreet {

using DuckDbType = EngineType;  ///< HUGEINT and UBIGINT are HugeInt, narrower integers Int64
using DuckDbColumn = EngineColumn;
using DuckDbChunk = EngineChunk;
using DuckDbRows = EngineRows;

}  // namespace discreet
