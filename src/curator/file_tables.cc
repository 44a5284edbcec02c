#include "curator/file_tables.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sql/question.h"
#include "sql/type.h"

namespace discreet {
namespace {

Result<std::vector<sql::SchemaColumn>> describe(const std::string& rows, DuckDb& engine) {
  DISCREET_TRY(EngineRows found, engine.query(fmt::format(
                                     "SELECT column_name, column_type FROM (DESCRIBE {})", rows)));
  std::vector<sql::SchemaColumn> columns;
  for (;;) {
    DISCREET_TRY(const auto chunk, found.next());
    if (!chunk) return columns;
    for (std::size_t row = 0; row < chunk->size(); ++row)
      columns.push_back({std::string(chunk->varchar(0, row)), std::string(chunk->varchar(1, row))});
  }
}

/// The columns of a view, each as the type that it has now: no cast while it keeps that.
std::string as_opened(const std::vector<sql::SchemaColumn>& columns) {
  std::string list;
  for (const auto& column : columns) {
    const std::string name = sql_identifier(column.name);
    list += list.empty() ? "" : ", ";
    list += sql::parse_engine_type(column.engine_type)
                ? fmt::format("TRY_CAST({0} AS {1}) AS {0}", name, column.engine_type)
                : name;  // a type that no statement can use
  }
  return list;
}

Result<std::string> reader_of(const catalog::Table& table, const std::string& types) {
  const std::string path = sql_literal(table.source.location);
  switch (table.source.kind) {
    case catalog::SourceKind::Parquet:
      return fmt::format("read_parquet({})", path);
    // A field that does not fit its column's type drops its row instead of failing the statement:
    // whether there is such a field must not be visible.
    case catalog::SourceKind::Csv:
      return fmt::format("read_csv({}, ignore_errors = true{})", path, types);
    case catalog::SourceKind::Spark:
    case catalog::SourceKind::Postgres:
      break;
  }
  return Error{
      ErrorCode::Refused,
      fmt::format(
          "Table '{}' lives in another database than the policy's first table; the tables "
          "of a policy live in one place: all in files, all in one PostgreSQL database, or all in "
          "one Spark.",
          table.name)};
}

Error cannot_open(const catalog::Table& table) {
  return {
      ErrorCode::Unavailable,
      fmt::format("The source of table '{}' cannot be opened as {}; check the file and its format.",
                  table.name, table.source.kind == catalog::SourceKind::Csv ? "CSV" : "Parquet")};
}

Result<std::vector<std::string>> files_of(const catalog::Source& source, DuckDb& engine) {
  std::vector<std::string> files;
  if (source.location.find_first_of("*?[") == std::string::npos) {
    files.push_back(source.location);
    return files;
  }
  DISCREET_TRY(EngineRows rows, engine.query(fmt::format("SELECT file FROM glob({}) ORDER BY file",
                                                         sql_literal(source.location))));
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) return files;
    for (std::size_t row = 0; row < chunk->size(); ++row)
      files.emplace_back(chunk->varchar(0, row));
  }
}

/// Names a file's state. "": it is not there.
std::string state_of(const std::string& file) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  if (failed) return "";
  const auto changed = std::filesystem::last_write_time(file, failed).time_since_epoch().count();
  return failed ? "" : fmt::format("{}\n{}\n{}\n", file, size, changed);
}

/// Whether a Parquet file has these columns. Others may be beside them, and those that folders'
/// names tell are not in it.
Result<bool> has_columns(const std::string& file, const std::vector<sql::SchemaColumn>& columns,
                         DuckDb& engine) {
  DISCREET_TRY(const auto found,
               describe(fmt::format("SELECT * FROM read_parquet({})", sql_literal(file)), engine));
  return std::ranges::all_of(columns, [&](const sql::SchemaColumn& column) {
    return file.find(fmt::format("/{}=", column.name)) != std::string::npos ||
           std::ranges::any_of(found, [&](const sql::SchemaColumn& one) {
             return one.name == column.name && one.engine_type == column.engine_type;
           });
  });
}

}  // namespace

Result<FileTables> FileTables::open(const catalog::Policy& policy, DuckDb& engine) {
  FileTables made;
  auto tables = std::make_shared<std::map<std::string, Opened>>();
  for (const catalog::Table& table : policy.tables()) {
    DISCREET_TRY((*tables)[table.name], made.open_table(policy, table, engine));
  }
  made.tables_ = std::move(tables);
  return made;
}

Result<FileTables::Opened> FileTables::open_table(const catalog::Policy& policy,
                                                  const catalog::Table& table, DuckDb& engine) {
  Opened opened{table.source};
  const auto look_at = [&](const std::string& reader) {
    return describe("SELECT * FROM " + reader, engine);
  };
  DISCREET_TRY(std::string reader, reader_of(table, ""));
  auto found = look_at(reader);
  if (!found) return cannot_open(table);
  std::vector<std::string> names;
  for (const auto& column : *found) names.push_back(column.name);
  DISCREET_TRY_VOID(policy.check_columns(table, names));
  DISCREET_TRY(const auto files, files_of(table.source, engine));
  if (files.empty()) return cannot_open(table);
  if (table.source.kind == catalog::SourceKind::Csv) {
    DISCREET_TRY(reader, reader_of(table, csv_types(table, *found)));
    found = look_at(reader);
    if (!found) return cannot_open(table);
    // DuckDB would look again how the file is written at every question.
    opened.form = CsvForm::find(table.source.location, engine);
    const std::string pinned =
        opened.form ? opened.form->reader(table.source.location, *found) : "";
    const auto same = opened.form ? look_at(pinned) : found;
    if (opened.form && same && std::ranges::equal(*same, *found, [](const auto& a, const auto& b) {
          return a.name == b.name && a.engine_type == b.engine_type;
        }))
      reader = pinned;
    else
      opened.form.reset();
    if (opened.form) {
      DISCREET_TRY(opened.names, opened.form->names(files.front(), found->size(), engine));
    }
  }
  opened.columns = *std::move(found);
  for (const std::string& file : files) {
    looked_at_[table.name].insert(state_of(file));
    DISCREET_TRY(const bool has, has_its_columns(opened, file, engine));
    if (!has)
      return Error{
          ErrorCode::Unavailable,
          fmt::format("The files of table '{}' differ in their columns: '{}' has others "
                      "than the first. Write all of them with the same names and types, or "
                      "make them tables of their own.",
                      table.name, file)};
  }
  if (!engine.execute(fmt::format("CREATE OR REPLACE VIEW {} AS SELECT {} FROM {}",
                                  sql_identifier(table.name), as_opened(opened.columns), reader)))
    return cannot_open(table);
  // A pattern is several files, and may be others at the next question.
  std::error_code ignored;
  if (table.source.kind == catalog::SourceKind::Parquet &&
      std::filesystem::is_regular_file(table.source.location, ignored) &&
      policy.table(sql::placed_table(table.name)) == nullptr) {
    const auto placed =
        placed_rows_sql(reader, as_opened(opened.columns), sql::kPlaceColumn, names, true);
    if (placed &&
        engine.execute(fmt::format("CREATE OR REPLACE VIEW {} AS {}",
                                   sql_identifier(sql::placed_table(table.name)), *placed)))
      engine.lies_in(table.name, files);
  }
  return opened;
}

Result<bool> FileTables::has_its_columns(const Opened& table, const std::string& file,
                                         DuckDb& engine) {
  if (table.source.kind == catalog::SourceKind::Parquet)
    return has_columns(file, table.columns, engine);
  if (!table.form) return true;
  DISCREET_TRY(const std::string names, table.form->names(file, table.columns.size(), engine));
  return names == table.names;
}

Result<std::vector<sql::SchemaColumn>> FileTables::columns(const std::string& table) const {
  const auto found = tables_->find(table);
  if (found == tables_->end())
    return Error{ErrorCode::NotFound, fmt::format("There is no table '{}'.", table)};
  return found->second.columns;
}

Result<std::string> FileTables::state(const std::vector<std::string>& tables, DuckDb& engine) {
  std::string state;
  for (const std::string& table : tables) {
    const auto opened = tables_->find(table);
    if (opened == tables_->end()) continue;
    const Error gone{ErrorCode::Unavailable,
                     fmt::format("The source of table '{}' cannot be read now: its files are not "
                                 "there, or are not what they were. Check them.",
                                 table)};
    const auto files = files_of(opened->second.source, engine);
    if (!files || files->empty()) return gone;
    std::set<std::string> now;
    for (const std::string& file : *files) {
      const std::string one = state_of(file);
      if (one.empty()) return gone;
      if (!looked_at_[table].contains(one)) {
        const auto has = has_its_columns(opened->second, file, engine);
        if (!has) return gone;
        if (!*has)
          return Error{ErrorCode::Unavailable,
                       fmt::format("The columns of table '{}' have changed since it was opened. "
                                   "Check the policy against them and open it anew.",
                                   table)};
      }
      now.insert(one);
      state += fmt::format("{}\n{}", table, one);
    }
    looked_at_[table] = std::move(now);
  }
  return state;
}

}  // namespace discreet
