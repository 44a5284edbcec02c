// Tables in and out of files for `discreet synth`: CSV by our own parser, Parquet through DuckDB.
#pragma once

#include <string>

#include "base/result.h"
#include "synth/raw_table.h"

namespace discreet::cli {

Result<std::string> read_text_file(const std::string& path);
Result<void> write_text_file(const std::string& path, const std::string& text);

bool is_parquet(const std::string& path);

/// By the file's ending: .parquet, else CSV.
Result<synth::RawTable> read_raw_table(const std::string& path);
Result<void> write_raw_table(const synth::RawTable& table, const std::string& path);

}  // namespace discreet::cli
