#include "curator/data.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "curator/twins.h"
#include "ledger/sha256.h"

namespace discreet {
namespace {

// What the policy says a column holds. Whole ends of a range say only "a number".
std::optional<std::string> declared_type(const catalog::Column& column, const std::string& found) {
  struct {
    std::string operator()(bool) const { return "BOOLEAN"; }
    std::string operator()(std::int64_t) const { return "BIGINT"; }
    std::string operator()(double) const { return "DOUBLE"; }
    std::string operator()(const std::string&) const { return "VARCHAR"; }
    std::string operator()(catalog::Date) const { return "DATE"; }
    std::string operator()(catalog::Timestamp) const { return "TIMESTAMP"; }
  } name;
  if (column.has_public_keys()) return std::visit(name, column.values.front());
  if (!column.range) return std::nullopt;
  if (std::holds_alternative<std::int64_t>(column.range->lower) && found == "DOUBLE") return found;
  return std::visit(name, column.range->lower);
}

// DuckDB guesses a CSV column's type from its rows: "yes" and "no" are booleans until somebody
// writes "unsure". What the policy declares is not left to a guess that one row can change.
std::string csv_types(const catalog::Table& table, const std::vector<sql::SchemaColumn>& found) {
  std::string types;
  for (const auto& column : found)
    if (const catalog::Column* listed = table.listed(column.name))
      if (const auto type = declared_type(*listed, column.engine_type))
        types +=
            fmt::format("{}{}: '{}'", types.empty() ? "" : ", ", sql_literal(column.name), *type);
  return types.empty() ? "" : ", types = {" + types + "}";
}

Result<std::vector<sql::SchemaColumn>> describe(const catalog::Table& table, DuckDb& engine) {
  DISCREET_TRY(DuckDbRows rows,
               engine.query(fmt::format("SELECT column_name, column_type FROM (DESCRIBE {})",
                                        sql_identifier(table.name))));
  std::vector<sql::SchemaColumn> columns;
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) return columns;
    for (std::size_t row = 0; row < chunk->size(); ++row)
      columns.push_back({std::string(chunk->varchar(0, row)), std::string(chunk->varchar(1, row))});
  }
}

// How a file is written, found once: DuckDB would look again at every question otherwise. The
// columns are those of the view that reads it now. Nothing: it could not be told, and every
// question looks.
std::optional<std::string> pinned_csv(const catalog::Table& table, DuckDb& engine,
                                      const std::vector<sql::SchemaColumn>& columns) {
  auto rows =
      engine.query(fmt::format("SELECT Delimiter, Quote, Escape, Comment, CAST(SkipRows AS "
                               "VARCHAR), CAST(HasHeader AS VARCHAR), "
                               "coalesce(DateFormat, ''), coalesce(TimestampFormat, '') FROM "
                               "sniff_csv({}, ignore_errors = true)",
                               sql_literal(table.source.location)));
  if (!rows) return std::nullopt;
  const auto chunk = rows->next();
  if (!chunk || !*chunk || (*chunk)->size() != 1) return std::nullopt;
  std::vector<std::string> found;
  for (std::size_t i = 0; i < 8; ++i) {
    if ((*chunk)->is_null(i, 0)) return std::nullopt;
    const std::string value((*chunk)->varchar(i, 0));
    found.push_back(value == "(empty)" ? "" : value);
  }
  std::string types;
  for (const auto& column : columns)
    types += fmt::format("{}{}: {}", types.empty() ? "" : ", ", sql_literal(column.name),
                         sql_literal(column.engine_type));
  std::string reader = fmt::format(
      "read_csv({}, ignore_errors = true, auto_detect = false, delim = {}, quote = {}, escape = "
      "{}, "
      "comment = {}, skip = {}, header = {}, columns = {{{}}}",
      sql_literal(table.source.location), sql_literal(found[0]), sql_literal(found[1]),
      sql_literal(found[2]), sql_literal(found[3]), found[4], found[5], types);
  if (!found[6].empty()) reader += ", dateformat = " + sql_literal(found[6]);
  if (!found[7].empty()) reader += ", timestampformat = " + sql_literal(found[7]);
  return reader + ")";
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

}  // namespace

Result<Data> Data::open(const catalog::Policy& policy, OperatorLog log) {
  DuckDbSettings settings;
  const OperatorLog remote_log = log;
  settings.operator_log = std::move(log);
  DISCREET_TRY(DuckDb engine, DuckDb::open(std::move(settings)));
  Data data(std::move(engine), std::make_shared<Twins>());
  data.policy_ = &policy;
  if (!policy.tables().empty() && RemoteTables::lives_elsewhere(policy.tables().front())) {
    DISCREET_TRY(data.remote_, RemoteTables::open(policy, remote_log));
    return data;
  }
  for (const catalog::Table& table : policy.tables()) {
    auto& columns = data.columns_[table.name];
    const auto open_with = [&](const std::string& types) -> Result<void> {
      DISCREET_TRY(const std::string reader, reader_of(table, types));
      const auto made = data.engine_.execute(fmt::format(
          "CREATE OR REPLACE VIEW {} AS SELECT * FROM {}", sql_identifier(table.name), reader));
      if (!made)
        return Error{
            ErrorCode::Unavailable,
            fmt::format(
                "The source of table '{}' cannot be opened as {}; check the file and its format.",
                table.name, table.source.kind == catalog::SourceKind::Csv ? "CSV" : "Parquet")};
      DISCREET_TRY(columns, describe(table, data.engine_));
      return {};
    };
    DISCREET_TRY_VOID(open_with(""));
    std::vector<std::string> names;
    for (const auto& column : columns) names.push_back(column.name);
    DISCREET_TRY_VOID(policy.check_columns(table, names));
    if (table.source.kind == catalog::SourceKind::Csv) {
      if (const std::string types = csv_types(table, columns); !types.empty())
        DISCREET_TRY_VOID(open_with(types));
      if (const auto reader = pinned_csv(table, data.engine_, columns)) {
        const auto before = columns;
        const auto pinned = data.engine_.execute(fmt::format(
            "CREATE OR REPLACE VIEW {} AS SELECT * FROM {}", sql_identifier(table.name), *reader));
        if (pinned) {
          DISCREET_TRY(columns, describe(table, data.engine_));
        }
        const auto same = [](const sql::SchemaColumn& a, const sql::SchemaColumn& b) {
          return a.name == b.name && a.engine_type == b.engine_type;
        };
        if (!pinned || !std::ranges::equal(columns, before, same))
          DISCREET_TRY_VOID(open_with(csv_types(table, before)));
      }
    }
    // A pattern is several files, of which this does not know the names.
    std::error_code ignored;
    if (table.source.kind == catalog::SourceKind::Parquet &&
        std::filesystem::is_regular_file(table.source.location, ignored) &&
        policy.table(sql::placed_table(table.name)) == nullptr) {
      DISCREET_TRY(const std::string reader, reader_of(table, ""));
      const auto placed = placed_rows_sql(reader, "*", sql::kPlaceColumn, names, true);
      if (placed &&
          data.engine_.execute(fmt::format("CREATE OR REPLACE VIEW {} AS {}",
                                           sql_identifier(sql::placed_table(table.name)), *placed)))
        data.engine_.lies_in(table.name, {table.source.location});
    }
    data.sources_[table.name] = table.source.location;
  }
  return data;
}

Result<Data> Data::connect() const {
  DISCREET_TRY(DuckDb engine, engine_.connect());
  Data data(std::move(engine), twins_);
  data.columns_ = columns_;
  data.sources_ = sources_;
  data.policy_ = policy_;
  if (remote_) {
    DISCREET_TRY(data.remote_, remote_->connect());
  }
  return data;
}

const catalog::Table* Data::twin(const std::string& table) const {
  return twins_->table(table);
}

std::string Data::relation(const std::string& table) const {
  return remote_ ? remote_->relation(table) : sql_identifier(table);
}

Result<std::vector<sql::SchemaColumn>> Data::columns(const std::string& table) const {
  if (twins_->holds(table)) return twins_->columns(table);
  if (remote_) return remote_->columns(table);
  const auto found = columns_.find(table);
  if (found == columns_.end())
    return Error{ErrorCode::NotFound, fmt::format("There is no table '{}'.", table)};
  return found->second;
}

Result<void> Data::check(const sql::PlannedQuestion& question) {
  return remote_ ? remote_->check(question) : Result<void>();
}

Result<void> Data::bring(const std::vector<std::string>& tables) {
  if (!remote_) return {};
  for (const std::string& table : tables)
    if (const auto* found = policy_->table(table); found != nullptr && found->is_public())
      DISCREET_TRY_VOID(remote_->bring(table, engine_));
  return {};
}

void Data::carry(const sql::Release& release, const ReleasedTable& table) {
  if (remote_) remote_->carry(release, table);
}

void Data::carry_nothing() {
  if (remote_) remote_->carry_nothing();
}

Result<std::string> Data::snapshot(const std::vector<std::string>& tables) {
  std::string state;
  std::vector<std::string> owned;
  for (const std::string& table : tables) {
    if (twins_->holds(table))
      state += twins_->state(table);
    else
      owned.push_back(table);
  }
  if (remote_) {
    DISCREET_TRY(const std::string there, remote_->state(owned));
    return ledger::to_hex(ledger::sha256(there + state));
  }
  for (const std::string& table : owned) {
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
