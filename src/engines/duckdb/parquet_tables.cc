#include "engines/duckdb/parquet_tables.h"

#include <algorithm>
#include <set>

#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace discreet {
namespace {

/// Names a file's state. "": this program cannot read it.
std::string state_of(const std::string& file) {
  struct stat found{};
  if (access(file.c_str(), R_OK) != 0 || stat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode))
    return "";
  return fmt::format("{} {} {} {}.{}\n", file, found.st_ino, found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

/// DuckDB's column of every row: the number of its file. A file's own column of that name would
/// stand before it.
constexpr char kFileNumber[] = "file_index";

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Whether a text means this type's value to whoever reads it.
bool is_value(std::string_view text, const std::string& type) {
  if (type == "VARCHAR") return true;
  if (type == "BOOLEAN") return text == "true" || text == "false";
  if (type == "DATE")
    return text.size() == 10 && text[4] == '-' && text[7] == '-' && is_digits(text.substr(0, 4)) &&
           is_digits(text.substr(5, 2)) && is_digits(text.substr(8));
  if (type == "TINYINT" || type == "SMALLINT" || type == "INTEGER" || type == "BIGINT")
    return is_digits(text.substr(text.starts_with('-') ? 1 : 0));
  return false;
}

/// A list of the values. Nothing: they are not all of the type.
std::optional<std::string> values_sql(const PlainFiles::Constant& constant, const std::string& type,
                                      DuckDb& engine) {
  std::string values;
  for (const auto& value : constant.values) {
    if (value && !is_value(*value, type)) return std::nullopt;
    values += fmt::format("{}{}", values.empty() ? "" : ", ", value ? sql_literal(*value) : "NULL");
  }
  std::string list = fmt::format("CAST([{}] AS {}[])", values, type);
  // A day that the calendar has not, a number that is too large.
  auto rows = engine.query("SELECT len(" + list + ")");
  if (!rows || !rows->next()) return std::nullopt;
  return list;
}

}  // namespace

Result<bool> ParquetTables::show(const std::string& table, const std::vector<Column>& columns,
                                 const PlainFiles& plain) {
  const auto& [files, constants, partial] = plain;
  std::string state, list;
  for (const std::string& file : files) {
    const std::string one = partial ? file : state_of(file);
    if (one.empty()) return false;
    state += one;
    list += (list.empty() ? "" : ", ") + sql_literal(file);
  }
  if (files.empty()) return false;
  if (partial) state += partial->state();
  for (const Column& column : columns) state += column.name + "\n" + column.type + "\n";
  for (const auto& [column, values] : constants) {
    state += column + "\n";
    for (const auto& value : values) state += value ? sql_literal(*value) : "NULL";
  }
  if (const auto found = shown_.find(table);
      found != shown_.end() && found->second.state == state) {
    found->second.held = partial;
    return true;
  }
  shown_.erase(table);
  list = "[" + list + "]";
  // Files that it cannot read at all are no failure: the other engine reads them.
  std::vector<Column> within;
  std::string names;
  for (const Column& column : columns) {
    const auto constant = std::ranges::find(constants, column.name, &PlainFiles::Constant::column);
    if (constant == constants.end()) {
      within.push_back(column);
    } else if (const auto values = values_sql(*constant, column.type, engine_)) {
      names += fmt::format("{}({})[CAST({} AS BIGINT) + 1] AS {}", names.empty() ? "" : ", ",
                           *values, kFileNumber, sql_identifier(column.name));
    } else {
      return false;
    }
  }
  const auto common = common_columns(list, files.size(), within);
  if (within.size() + constants.size() != columns.size() || !common || common->empty())
    return false;
  for (const std::string& name : *common)
    names += (names.empty() ? "" : ", ") + sql_identifier(name);
  const std::string reader = fmt::format(
      "read_parquet({}, hive_partitioning = false, union_by_name = false, filename = false)", list);
  DISCREET_TRY_VOID(
      engine_.execute(fmt::format("CREATE OR REPLACE TEMP VIEW {} AS SELECT {} FROM {}",
                                  sql_identifier(table), names, reader)));
  engine_.lies_in(table, {});
  if (placed_name_) {
    const auto placed = placed_rows_sql(reader, names, place_, *common, files.size() == 1);
    if (placed) {
      DISCREET_TRY_VOID(engine_.execute(fmt::format("CREATE OR REPLACE TEMP VIEW {} AS {}",
                                                    sql_identifier(placed_name_(table)), *placed)));
      engine_.lies_in(table, files, partial ? partial->state() : "");
    }
  }
  shown_[table] = {std::move(state), *common, partial};
  return true;
}

Result<bool> ParquetTables::bring(const std::string& table, const PlainFiles& plain,
                                  const std::vector<std::string>& statements) {
  if (!plain.partial) return true;
  // A column can be read only by its name. What a statement names otherwise is one column too many.
  std::vector<std::string> columns;
  for (const std::string& column : shown_.at(table).columns)
    if (!plain.partial->has(column) && std::ranges::any_of(statements, [&](const auto& statement) {
          return statement.find(sql_identifier(column)) != std::string::npos;
        }))
      columns.push_back(column);
  if (columns.empty()) return true;
  std::string list, names;
  std::map<std::string, std::size_t> numbers;
  for (const std::string& file : plain.files) {
    list += (list.empty() ? "" : ", ") + sql_literal(file);
    numbers.emplace(file, numbers.size());
  }
  for (const std::string& column : columns)
    names += (names.empty() ? "" : ", ") + sql_literal(column);
  DISCREET_TRY(EngineRows rows,
               engine_.query(fmt::format(
                   "SELECT file_name, CAST(least(data_page_offset, CASE WHEN "
                   "dictionary_page_offset > 0 THEN dictionary_page_offset ELSE data_page_offset "
                   "END) AS BIGINT), CAST(total_compressed_size AS BIGINT), "
                   "CAST(coalesce(bloom_filter_offset, 0) AS BIGINT), "
                   "CAST(coalesce(bloom_filter_length, 0) AS BIGINT) FROM parquet_metadata([{}]) "
                   "WHERE path_in_schema IN ({})",
                   list, names)));
  std::vector<PartialFiles::Part> parts;
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) break;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      const auto file = numbers.find(std::string(chunk->varchar(0, row)));
      for (const std::size_t at : {1, 3}) {
        const std::int64_t begin = chunk->int64s(at)[row], size = chunk->int64s(at + 1)[row];
        if (file == numbers.end() || chunk->is_null(at, row) || begin < 0 || size < 0) return false;
        if (size > 0)
          parts.push_back(
              {file->second, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(size)});
      }
    }
  }
  return plain.partial->bring(columns, parts);
}

Result<std::vector<std::pair<std::string, std::string>>> ParquetTables::texts(
    const std::string& sql) {
  std::vector<std::pair<std::string, std::string>> made;
  DISCREET_TRY(EngineRows rows, engine_.query(sql));
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) return made;
    for (std::size_t row = 0; row < chunk->size(); ++row)
      made.emplace_back(chunk->varchar(0, row), chunk->varchar(1, row));
  }
}

Result<std::vector<std::string>> ParquetTables::common_columns(const std::string& list,
                                                               std::size_t files,
                                                               const std::vector<Column>& columns) {
  // As DuckDB reads the first file ...
  DISCREET_TRY(const auto read,
               texts(fmt::format("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM "
                                 "read_parquet({}, hive_partitioning = false))",
                                 list)));
  if (std::ranges::any_of(
          read, [](const auto& one) { return strcasecmp(one.first.c_str(), kFileNumber) == 0; }))
    return std::vector<std::string>();
  // ... and what has one form in all of them.
  DISCREET_TRY(
      const auto same,
      texts(fmt::format(
          "SELECT name, max(form) FROM (SELECT file_name, name, concat_ws('|', type, type_length, "
          "converted_type, scale, precision, logical_type, num_children) AS form FROM "
          "parquet_schema({0})) GROUP BY name HAVING count(*) = {1} AND count(DISTINCT file_name) "
          "= "
          "{1} AND min(form) = max(form)",
          list, files)));
  // Days and times that Spark would read in the calendar of its older versions.
  DISCREET_TRY(const auto old,
               texts(fmt::format("SELECT decode(key), '' FROM parquet_kv_metadata({}) "
                                 "WHERE starts_with(decode(key), "
                                 "'org.apache.spark.legacy') OR (decode(key) = "
                                 "'org.apache.spark.version' AND decode(value) < '3')",
                                 list)));
  if (!old.empty()) return std::vector<std::string>();
  std::set<std::string> everywhere;
  for (const auto& [name, form] : same) everywhere.insert(name);
  std::vector<std::string> common;
  for (const Column& column : columns) {
    const bool fits = std::any_of(read.begin(), read.end(), [&](const auto& one) {
      return one.first == column.name && one.second == column.type;
    });
    if (fits && everywhere.contains(column.name)) common.push_back(column.name);
  }
  return common;
}

}  // namespace discreet
