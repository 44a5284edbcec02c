#include "cli/synth_io.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "cli/question_options.h"
#include "engines/duckdb/database.h"

namespace discreet::cli {

Result<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::NotFound, fmt::format("cannot open {}", path)};
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

Result<void> write_text_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Error{ErrorCode::Unavailable, fmt::format("cannot write {}", path)};
  return {};
}

bool is_parquet(const std::string& path) {
  return path.ends_with(".parquet");
}

namespace {

// Rows of a statement whose columns are all text.
Result<synth::RawTable> query_as_text(DuckDb& engine, const std::string& sql) {
  DISCREET_TRY(DuckDbRows rows, engine.query(sql));
  std::vector<synth::RawColumnBuilder> builders;
  for (const DuckDbColumn& column : rows.columns()) builders.emplace_back(column.name);
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) break;
    for (std::size_t c = 0; c < builders.size(); ++c)
      for (std::size_t row = 0; row < chunk->size(); ++row) {
        if (chunk->is_null(c, row))
          builders[c].add_null();
        else
          builders[c].add(chunk->varchar(c, row));
      }
  }
  synth::RawTable table;
  for (auto& builder : builders) table.columns.push_back(builder.take());
  return table;
}

}  // namespace

Result<synth::RawTable> read_raw_table(const std::string& path) {
  if (!is_parquet(path)) {
    DISCREET_TRY(const std::string text, read_text_file(path));
    return synth::parse_csv(text);
  }
  DISCREET_TRY(DuckDb engine, DuckDb::open({.operator_log = operator_log()}));
  return query_as_text(
      engine, fmt::format("SELECT COLUMNS(*)::VARCHAR FROM read_parquet({})", sql_literal(path)));
}

Result<void> write_raw_table(const synth::RawTable& table, const std::string& path) {
  if (!is_parquet(path)) return write_text_file(path, synth::format_csv(table));
  // Through a CSV that DuckDB reads with its own type detection: the twin is public.
  const std::string staging = path + ".csv";
  DISCREET_TRY_VOID(write_text_file(staging, synth::format_csv(table)));
  const auto copied = [&]() -> Result<void> {
    DISCREET_TRY(DuckDb engine, DuckDb::open({.operator_log = operator_log()}));
    return engine.execute(
        fmt::format("COPY (SELECT * FROM read_csv({}, sample_size = -1)) TO {} (FORMAT parquet)",
                    sql_literal(staging), sql_literal(path)));
  }();
  std::remove(staging.c_str());
  return copied;
}

}  // namespace discreet::cli
