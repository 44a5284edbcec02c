// Tables that are nothing but Parquet files: their state, and the places of their rows.
#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "engines/duckdb/connection_internal.h"
#include "engines/duckdb/database.h"

namespace discreet {

void DuckDb::lies_in(const std::string& table, std::vector<std::string> files, std::string state) {
  connection_->files[table] = {std::move(files), std::move(state)};
}

OwnersKept* DuckDb::owners_kept() {
  return &connection_->instance->owners;
}

Result<std::optional<std::uint64_t>> DuckDb::row_count(const std::string& table) {
  const std::string state = files_state({table});
  if (state.empty()) return std::optional<std::uint64_t>();
  RowCounts& known = connection_->instance->row_counts;
  if (const auto rows = known.find(table, state)) return rows;
  DISCREET_TRY(EngineRows counted,
               query(fmt::format("SELECT count(*) FROM {}", sql_identifier(table))));
  DISCREET_TRY(const auto chunk, counted.next());
  DISCREET_CHECK(chunk && chunk->size() == 1, "a count is one row");
  const auto rows = static_cast<std::uint64_t>(chunk->int128(0, 0));
  if (files_state({table}) == state) known.put(table, state, rows);
  return std::optional(rows);
}

std::string DuckDb::files_state(const std::vector<std::string>& tables) const {
  std::string state;
  const std::time_t settled = std::time(nullptr) - connection_->instance->files_settle_s;
  for (const std::string& table : tables) {
    const auto found = connection_->files.find(table);
    if (found == connection_->files.end() || found->second.files.empty()) return "";
    if (!found->second.state.empty()) {
      state += found->second.state + "\n";
      continue;
    }
    for (const std::string& file : found->second.files) {
      struct stat is{};
      // A change of the bytes sets the time of the last change (ctime), which nobody can set back.
      if (stat(file.c_str(), &is) != 0 || !S_ISREG(is.st_mode) || is.st_ctim.tv_sec > settled)
        return "";
      state +=
          fmt::format("{}\n{} {} {} {}.{} {}.{}\n", file, is.st_dev, is.st_ino, is.st_size,
                      is.st_mtim.tv_sec, is.st_mtim.tv_nsec, is.st_ctim.tv_sec, is.st_ctim.tv_nsec);
    }
  }
  return state;
}

std::optional<std::string> placed_rows_sql(const std::string& reader, const std::string& columns,
                                           const std::string& place,
                                           const std::vector<std::string>& names, bool one_file) {
  // Columns that DuckDB has of every file, unless the file has its own of that name.
  for (const std::string& name : names)
    for (const char* taken : {"file_row_number", "file_index", place.c_str()})
      if (strcasecmp(name.c_str(), taken) == 0) return std::nullopt;
  const std::string of_file = fmt::format("(CAST(file_index AS BIGINT) * {}) | file_row_number",
                                          std::uint64_t{1} << RowOwners::kRowBits);
  return fmt::format("SELECT {}, {} AS {} FROM {}", columns, one_file ? "file_row_number" : of_file,
                     sql_identifier(place), reader);
}

}  // namespace discreet
