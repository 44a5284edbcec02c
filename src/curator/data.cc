#include "curator/data.h"

#include <filesystem>

#include <fmt/format.h>

#include "ledger/sha256.h"

namespace discreet {
namespace {

Result<std::string> reader_of(const catalog::Table& table) {
  const std::string path = sql_literal(table.source.location);
  switch (table.source.kind) {
    case catalog::SourceKind::Parquet:
      return fmt::format("read_parquet({})", path);
    // A field that does not fit its column's type drops its row instead of failing the statement:
    // whether there is such a field must not be visible.
    case catalog::SourceKind::Csv:
      return fmt::format("read_csv({}, ignore_errors = true)", path);
    case catalog::SourceKind::Postgres:
    case catalog::SourceKind::Spark:
      break;
  }
  return Error{
      ErrorCode::Refused,
      fmt::format("Table '{}' lives in another database, which this build cannot read yet; "
                  "export it to Parquet or CSV.",
                  table.name)};
}

}  // namespace

Result<Data> Data::open(const catalog::Policy& policy, OperatorLog log) {
  DuckDbSettings settings;
  settings.operator_log = std::move(log);
  DISCREET_TRY(DuckDb engine, DuckDb::open(std::move(settings)));
  Data data(std::move(engine));
  for (const catalog::Table& table : policy.tables()) {
    DISCREET_TRY(const std::string reader, reader_of(table));
    const auto made = data.engine_.execute(
        fmt::format("CREATE VIEW {} AS SELECT * FROM {}", sql_identifier(table.name), reader));
    if (!made)
      return Error{
          ErrorCode::Unavailable,
          fmt::format(
              "The source of table '{}' cannot be opened as {}; check the file and its format.",
              table.name, table.source.kind == catalog::SourceKind::Csv ? "CSV" : "Parquet")};
    DISCREET_TRY(DuckDbRows rows, data.engine_.query(fmt::format(
                                      "SELECT column_name, column_type FROM (DESCRIBE {})",
                                      sql_identifier(table.name))));
    std::vector<std::string> names;
    for (;;) {
      DISCREET_TRY(const auto chunk, rows.next());
      if (!chunk) break;
      for (std::size_t row = 0; row < chunk->size(); ++row) {
        names.emplace_back(chunk->varchar(0, row));
        data.columns_[table.name].push_back({names.back(), std::string(chunk->varchar(1, row))});
      }
    }
    DISCREET_TRY_VOID(policy.check_columns(table, names));
    data.sources_[table.name] = table.source.location;
  }
  return data;
}

Result<std::vector<sql::SchemaColumn>> Data::columns(const std::string& table) const {
  const auto found = columns_.find(table);
  if (found == columns_.end())
    return Error{ErrorCode::NotFound, fmt::format("There is no table '{}'.", table)};
  return found->second;
}

std::string Data::snapshot(const std::vector<std::string>& tables) const {
  std::string state;
  for (const std::string& table : tables) {
    const auto found = sources_.find(table);
    if (found == sources_.end()) continue;
    std::error_code failed;
    const auto size = std::filesystem::file_size(found->second, failed);
    const auto changed =
        std::filesystem::last_write_time(found->second, failed).time_since_epoch().count();
    state += fmt::format("{}\n{}\n{}\n{}\n", table, found->second, failed ? 0 : size,
                         failed ? 0 : changed);
  }
  return ledger::to_hex(ledger::sha256(state));
}

}  // namespace discreet
