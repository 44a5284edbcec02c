#include "curator/file_tables.h"

#include <sys/stat.h>

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

/// What reads a Parquet table's files, or a CSV table's before it is known how they are written.
/// `folders`: columns are in folders' names too, and come before the files' own; absent: the engine
/// finds out.
Result<std::string> reader_of(const catalog::Table& table, const std::string& types,
                              std::optional<bool> folders = std::nullopt) {
  const std::string path = sql_literal(table.source.location);
  switch (table.source.kind) {
    case catalog::SourceKind::Parquet:
      return fmt::format("read_parquet({}{})", path,
                         folders ? fmt::format(", hive_partitioning = {}", *folders) : "");
    // A field that does not fit its column's type drops its row instead of failing the statement:
    // whether there is such a field must not be visible.
    case catalog::SourceKind::Csv:
      return fmt::format("read_csv({}, ignore_errors = true, hive_partitioning = false{})", path,
                         types);
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

bool is_pattern(const std::string& location) {
  return location.find_first_of("*?[") != std::string::npos;
}

Result<std::vector<std::string>> files_of(const catalog::Source& source, DuckDb& engine) {
  std::vector<std::string> files;
  if (!is_pattern(source.location)) {
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

/// Names a file's contents, as well as their size and time do: what answers on record go by. And
/// the file as it is, of which a copy is another one. "": it is not there.
struct FileState {
  std::string contents, file;
};
FileState state_of(const std::string& file) {
  struct stat is{};
  std::error_code failed;
  const auto changed = std::filesystem::last_write_time(file, failed).time_since_epoch().count();
  if (failed || stat(file.c_str(), &is) != 0 || !S_ISREG(is.st_mode)) return {};
  auto contents = fmt::format("{}\n{}\n{}\n", file, is.st_size, changed);
  auto whole = fmt::format("{}{} {} {}.{}", contents, is.st_dev, is.st_ino, is.st_ctim.tv_sec,
                           is.st_ctim.tv_nsec);
  return {std::move(contents), std::move(whole)};
}

bool same_columns(const std::vector<sql::SchemaColumn>& a,
                  const std::vector<sql::SchemaColumn>& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.name == other.name && one.engine_type == other.engine_type;
  });
}

bool has_name(const std::vector<sql::SchemaColumn>& columns, const std::string& name) {
  return std::ranges::any_of(columns, [&](const auto& column) { return column.name == name; });
}

/// Whether a folder on the way to the file says what this column holds: "/year=2026/".
bool names_column(const std::string& file, const std::string& column) {
  return file.substr(0, file.rfind('/') + 1).find(fmt::format("/{}=", column)) != std::string::npos;
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
    // DuckDB would look again how the files are written at every question, and a row could change
    // what it finds.
    opened.form = CsvForm::find(files.front(), engine);
    if (opened.form) reader = opened.form->reader(table.source.location, *found);
    const auto same = look_at(reader);
    if (!opened.form || !same || !same_columns(*same, *found))
      return Error{ErrorCode::Refused,
                   fmt::format("How the source of table '{}' is written cannot be told for sure. "
                               "Write it with names in its first line, commas between fields and "
                               "quotes around texts, or as Parquet.",
                               table.name)};
    DISCREET_TRY(opened.names, opened.form->names(files.front(), engine));
  } else {
    DISCREET_TRY(const std::string bare, reader_of(table, "", false));
    const auto in_files = look_at(bare);
    if (!in_files) return cannot_open(table);
    for (const std::string& name : names)
      if (!has_name(*in_files, name) || names_column(files.front(), name))
        opened.folders.push_back(name);
    DISCREET_TRY(reader, reader_of(table, "", !opened.folders.empty()));
  }
  opened.columns = *std::move(found);
  for (const std::string& file : files) {
    const FileState state = state_of(file);
    DISCREET_TRY(const bool has, has_its_columns(opened, file, engine));
    if (!has)
      return Error{
          ErrorCode::Unavailable,
          fmt::format("The files of table '{}' differ in their columns: '{}' has others than the "
                      "first. Write all of them with the same names and types, or make them "
                      "tables of their own.",
                      table.name, file)};
    looked_at_->states[table.name].insert(state.file);
  }
  if (!engine.execute(fmt::format("CREATE OR REPLACE VIEW {} AS SELECT {} FROM {}",
                                  sql_identifier(table.name), as_opened(opened.columns), reader)))
    return cannot_open(table);
  // A pattern is several files, and may be others at the next question.
  if (table.source.kind == catalog::SourceKind::Parquet && !is_pattern(table.source.location) &&
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

// A Parquet file may have other columns beside them.
Result<bool> FileTables::has_its_columns(const Opened& table, const std::string& file,
                                         DuckDb& engine) {
  if (table.form) {
    DISCREET_TRY(const std::string names, table.form->names(file, engine));
    return names == table.names;
  }
  DISCREET_TRY(const auto found,
               describe(fmt::format("SELECT * FROM read_parquet({}, hive_partitioning = false)",
                                    sql_literal(file)),
                        engine));
  return std::ranges::all_of(table.columns, [&](const sql::SchemaColumn& column) {
    if (std::ranges::find(table.folders, column.name) != table.folders.end())
      return names_column(file, column.name);
    return std::ranges::any_of(found, [&](const sql::SchemaColumn& one) {
      return one.name == column.name && one.engine_type == column.engine_type;
    });
  });
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
    std::set<std::string> known, now;
    {
      const std::scoped_lock lock(looked_at_->mutex);
      known = looked_at_->states[table];
    }
    for (const std::string& file : *files) {
      const FileState one = state_of(file);
      if (one.file.empty()) return gone;
      if (!known.contains(one.file)) {
        const auto has = has_its_columns(opened->second, file, engine);
        if (!has) return gone;
        if (!*has)
          return Error{ErrorCode::Unavailable,
                       fmt::format("The columns of table '{}' have changed since it was opened. "
                                   "Check the policy against them and open it anew.",
                                   table)};
      }
      now.insert(one.file);
      state += fmt::format("{}\n{}", table, one.contents);
    }
    if (now != known) {
      const std::scoped_lock lock(looked_at_->mutex);
      looked_at_->states[table] = std::move(now);
    }
  }
  return state;
}

}  // namespace discreet
