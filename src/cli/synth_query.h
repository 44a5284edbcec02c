// Rows of a statement whose columns are all text.
#pragma once

#include <string>

#include "engines/duckdb/database.h"
#include "synth/raw_table.h"

namespace discreet::cli {

Result<synth::RawTable> query_as_text(DuckDb& engine, const std::string& sql);

}  // namespace discreet::cli
