#include "curator/remote_tables.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "engines/cancellation.h"
#include "engines/duckdb/appender.h"
#include "engines/duckdb/parquet_tables.h"
#include "engines/postgres/engine.h"
#include "engines/spark/engine.h"
#include "sql/emit.h"

namespace discreet {
namespace {

sql::ConstantValue constant(const Cell& cell, sql::Type type) {
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) {
    // As the embedded engine's table has it: counts are whole.
    if (type.kind == sql::TypeKind::Integer)
      return static_cast<std::int64_t>(std::llround(std::clamp(*number, -0x1p62, 0x1p62)));
    return *number;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    if (type.kind == sql::TypeKind::Date) return catalog::Date{static_cast<std::int32_t>(*whole)};
    if (type.kind == sql::TypeKind::Timestamp) return catalog::Timestamp{*whole};
    return *whole;
  }
  return std::monostate{};
}

/// A released column's type inside a statement: decimals are released as reals.
sql::Type carried_type(sql::Type type) {
  return type.kind == sql::TypeKind::Decimal ? sql::double_type() : type;
}

/// The shape alone: what check() plans with.
sql::InlineTable empty_table(const sql::Release& release) {
  sql::InlineTable table{release.table, {}, {}};
  for (const sql::Key& key : release.keys)
    table.columns.emplace_back(key.column, carried_type(key.type));
  for (const auto& aggregate : release.aggregates)
    table.columns.emplace_back(aggregate.column, carried_type(aggregate.type));
  if (table.columns.empty()) table.columns.emplace_back("nothing", sql::integer_type());
  return table;
}

}  // namespace

Result<const std::vector<RemoteColumn>*> RemoteTables::Shared::describe(
    const catalog::Policy& policy, const catalog::Table& table, const std::string& relation,
    RemoteEngine& engine) {
  DISCREET_TRY(auto described, engine.describe(relation));
  std::vector<std::string> names;
  for (const auto& column : described) names.push_back(column.name);
  DISCREET_TRY_VOID(policy.check_columns(table, names));
  relations[table.name] = relation;
  return &(found[table.name] = std::move(described));
}

Result<DuckDb> RemoteTables::Shared::connect_to_files() const {
  const std::scoped_lock lock(mutex);
  if (!files) {
    DuckDbSettings settings;
    settings.operator_log = log;
    DISCREET_TRY(files, DuckDb::open(std::move(settings)));
  }
  return files->connect();
}

/// Passes statements on, with the tables they read.
class RemoteTables::Carrying final : public Engine {
 public:
  Carrying(RemoteEngine& engine, std::shared_ptr<const Shared> shared)
      : engine_(engine), shared_(std::move(shared)) {}

  std::vector<sql::InlineTable> tables;

  Result<EngineRows> query(const std::string& sql) override {
    DISCREET_TRY_VOID(cancellation_.check());
    return engine_.query(whole(sql));
  }
  Result<void> check(const std::string& sql) override { return engine_.check(whole(sql)); }
  Result<VisitedRows> visit(const std::string& sql, const std::vector<std::string>& columns,
                            const ChunkVisitor& visitor) override {
    DISCREET_TRY_VOID(cancellation_.check());
    return engine_.visit(whole(sql), columns, visitor);
  }
  Result<Engine*> over_files(const FilesAsked& asked) override {
    if (shared_->dialect->files() == sql::TableFiles::Nowhere) return nullptr;
    for (const std::string& name : asked.tables) {
      DISCREET_TRY(const auto files,
                   engine_.plain_files(shared_->relations.at(name), asked.only_again));
      if (files.files.empty()) return nullptr;
      if (!files_) {
        DISCREET_TRY(DuckDb connection, shared_->connect_to_files());
        const std::scoped_lock lock(mutex_);
        files_ = std::make_unique<ParquetTables>(std::move(connection));
        files_->show_places(sql::placed_table, sql::kPlaceColumn);
        DISCREET_TRY_VOID(files_->engine().begin());
      }
      std::vector<ParquetTables::Column> columns;
      for (const auto& column : shared_->columns.at(name))
        columns.push_back({column.name, column.engine_type});
      DISCREET_TRY(const bool shown, files_->show(name, columns, files));
      if (!shown) return nullptr;
      DISCREET_TRY(const bool is_here, files_->bring(name, files, asked.statements));
      if (!is_here) return nullptr;
    }
    // What was asked before there was a reader of files did not reach it.
    DISCREET_TRY_VOID(cancellation_.check());
    return files_ ? &files_->engine() : nullptr;
  }
  Result<std::optional<std::uint64_t>> row_count(const std::string& table) override {
    DISCREET_TRY(Engine * files, over_files({{table}, {}, true}));
    if (files == nullptr) return std::optional<std::uint64_t>();
    return files->row_count(table).value_or(std::nullopt);  // else it is counted there
  }
  Result<void> begin() override {
    cancellation_.begin();
    if (files_) DISCREET_TRY_VOID(files_->engine().begin());
    return engine_.begin();
  }
  void end() override {
    cancellation_.end();
    if (files_) files_->engine().end();
    engine_.end();
  }
  bool was_lost() const override { return engine_.was_lost(); }
  /// Whichever of the two runs a statement: what the files' reader leaves unread is not read there.
  void cancel() const override {
    cancellation_.ask();
    engine_.cancel();
    const std::scoped_lock lock(mutex_);
    if (files_) files_->engine().cancel();  // it and what would follow it there
  }

 private:
  std::string whole(const std::string& sql) const {
    std::vector<sql::InlineTable> read;
    for (const auto& table : tables)
      if (sql.find(table.name) != std::string::npos) read.push_back(table);
    return read.empty() ? sql : shared_->dialect->with_tables(sql, read);
  }

  RemoteEngine& engine_;
  const std::shared_ptr<const Shared> shared_;
  mutable Cancellation cancellation_;
  mutable std::mutex mutex_;  // of `files_`, which cancel() looks at
  std::unique_ptr<ParquetTables> files_;
};

RemoteTables::RemoteTables(std::shared_ptr<const Shared> shared,
                           std::unique_ptr<RemoteEngine> engine)
    : shared_(std::move(shared)),
      engine_(std::move(engine)),
      carrying_(std::make_unique<Carrying>(*engine_, shared_)) {}
RemoteTables::~RemoteTables() = default;

Engine& RemoteTables::engine() {
  return *carrying_;
}

bool RemoteTables::lives_elsewhere(const catalog::Table& table) {
  return table.source.kind == catalog::SourceKind::Postgres ||
         table.source.kind == catalog::SourceKind::Spark;
}

Result<std::unique_ptr<RemoteTables>> RemoteTables::open(const catalog::Policy& policy,
                                                         const OperatorLog& log) {
  const catalog::Table& first = policy.tables().front();
  for (const catalog::Table& table : policy.tables())
    if (table.source.kind != first.source.kind)
      return Error{
          ErrorCode::Refused,
          fmt::format("Table '{}' lives elsewhere than '{}'. The tables of a policy live in one "
                      "place: all in files, or all in one database.",
                      table.name, first.name)};
  auto shared = std::make_shared<Shared>();
  shared->log = log;
  const bool is_spark = first.source.kind == catalog::SourceKind::Spark;
  DISCREET_TRY(auto engine,
               is_spark ? open_spark(policy, log, *shared) : open_postgres(policy, log, *shared));
  return std::unique_ptr<RemoteTables>(new RemoteTables(std::move(shared), std::move(engine)));
}

Result<std::unique_ptr<RemoteEngine>> RemoteTables::open_postgres(const catalog::Policy& policy,
                                                                  const OperatorLog& log,
                                                                  Shared& shared) {
  std::unique_ptr<PostgresEngine> engine;
  std::string server, first;
  bool sends_rows = true;
  std::map<std::string, sql::PostgresTable> tables;
  for (const catalog::Table& table : policy.tables()) {
    DISCREET_TRY(const auto address, postgres::Address::parse(table.source.location));
    if (!engine) {
      server = address.server;
      sends_rows = address.sends_rows;
      first = table.name;
      PostgresEngineSettings settings;
      settings.operator_log = log;
      DISCREET_TRY(engine, PostgresEngine::open(address, std::move(settings)));
    } else if (address.server != server || address.sends_rows != sends_rows) {
      return Error{ErrorCode::Refused,
                   fmt::format("Tables '{}' and '{}' live in different databases. The tables of a "
                               "policy live in one: write the same address, with another table=.",
                               first, table.name)};
    }
    DISCREET_TRY(const std::string relation,
                 postgres::quoted_relation(address.table.empty() ? table.name : address.table));
    DISCREET_TRY(const auto* columns, shared.describe(policy, table, relation, *engine));
    sql::PostgresTable described{relation, {}};
    for (const auto& column : *columns)
      described.columns.push_back({column.name, column.type, column.is_enum});
    shared.columns[table.name] = described.schema();
    tables[table.name] = std::move(described);
  }
  shared.dialect = sql::make_postgres_dialect(std::move(tables), sends_rows);
  return std::unique_ptr<RemoteEngine>(std::move(engine));
}

Result<std::unique_ptr<RemoteEngine>> RemoteTables::open_spark(const catalog::Policy& policy,
                                                               const OperatorLog& log,
                                                               Shared& shared) {
  std::unique_ptr<RemoteEngine> engine;
  spark::Address server;
  std::map<std::string, sql::SparkTable> tables;
  for (const catalog::Table& table : policy.tables()) {
    DISCREET_TRY(const auto address, spark::Address::parse(table.source.location));
    if (!engine) {
      server = address;
      SparkEngineSettings settings;
      settings.operator_log = log;
      DISCREET_TRY(engine, SparkEngine::open(address, std::move(settings)));
    } else if (!address.same_server(server)) {
      return Error{ErrorCode::Refused,
                   fmt::format("Tables '{}' and '{}' live in different Sparks. The tables of a "
                               "policy live in one: write the same address, with another table.",
                               policy.tables().front().name, table.name)};
    }
    DISCREET_TRY(const std::string relation,
                 spark::quoted_relation(address.table.empty() ? table.name : address.table));
    DISCREET_TRY(const auto* columns, shared.describe(policy, table, relation, *engine));
    sql::SparkTable described{relation, {}};
    for (const auto& column : *columns) described.columns.push_back({column.name, column.type});
    shared.columns[table.name] = described.schema();
    tables[table.name] = std::move(described);
  }
  using Files = spark::Address::Files;
  const auto where = server.files() == Files::There  ? sql::TableFiles::Nowhere
                     : server.files() == Files::Sent ? sql::TableFiles::Sent
                     : server.is_near()              ? sql::TableFiles::Here
                                                     : sql::TableFiles::WithinReach;
  shared.dialect = sql::make_spark_dialect(std::move(tables), server.sends_rows, where);
  return engine;
}

Result<std::unique_ptr<RemoteTables>> RemoteTables::connect() const {
  DISCREET_TRY(auto engine, engine_->connect());
  return std::unique_ptr<RemoteTables>(new RemoteTables(shared_, std::move(engine)));
}

Result<std::vector<sql::SchemaColumn>> RemoteTables::columns(const std::string& table) const {
  const auto found = shared_->columns.find(table);
  if (found == shared_->columns.end())
    return Error{ErrorCode::NotFound, fmt::format("There is no table '{}'.", table)};
  return found->second;
}

Result<std::string> RemoteTables::state(const std::vector<std::string>& tables) {
  std::string state;
  for (const std::string& table : tables) {
    const auto relation = shared_->relations.find(table);
    if (relation == shared_->relations.end()) continue;
    const auto columns = engine_->describe(relation->second);
    if (!columns && columns.error().code != ErrorCode::NotFound) return columns.error();
    if (!columns || *columns != shared_->found.at(table))
      return Error{ErrorCode::Unavailable,
                   fmt::format("The columns of table '{}' have changed since it was opened. Check "
                               "the policy against them and open it anew.",
                               table)};
    DISCREET_TRY(const std::string identity, engine_->identity(relation->second));
    state += fmt::format("{}\n{}\n{}\n", table, relation->second, identity);
  }
  return state;
}

Result<void> RemoteTables::check(const sql::PlannedQuestion& question) {
  carrying_->tables.clear();
  for (const sql::Release& release : question.releases) {
    // Sums of rows that are their own units read the same columns, however they are added up.
    std::vector<const std::string*> statements;
    if (release.totals_sql) statements.push_back(&*release.totals_sql);
    if (!release.totals_sql || !release.unit_is_row) statements.push_back(&release.partials_sql);
    for (const auto& stream : release.streams) statements.push_back(&stream.sql);
    for (const auto& set : release.public_key_sets) statements.push_back(&set.sql);
    for (const std::string* statement : statements) DISCREET_TRY_VOID(carrying_->check(*statement));
    carrying_->tables.push_back(empty_table(release));
  }
  carrying_->tables.clear();
  return {};
}

void RemoteTables::carry_nothing() {
  carrying_->tables.clear();
}

void RemoteTables::carry(const sql::Release& release, const ReleasedTable& table) {
  sql::InlineTable carried = empty_table(release);
  for (std::size_t row = 0; row < table.keys.size(); ++row) {
    auto& cells = carried.rows.emplace_back();
    for (std::size_t i = 0; i < release.keys.size(); ++i)
      cells.push_back(constant(table.keys[row][i], carried_type(release.keys[i].type)));
    for (std::size_t i = 0; i < release.aggregates.size(); ++i)
      cells.push_back(table.aggregates[i].is_list
                          ? sql::ConstantValue(std::monostate{})
                          : constant(table.aggregates[i].values[row],
                                     carried_type(release.aggregates[i].type)));
    if (cells.empty()) cells.emplace_back(std::monostate{});
  }
  carrying_->tables.push_back(std::move(carried));
}

Result<void> RemoteTables::bring(const std::string& table, DuckDb& local) {
  // Rows are staged as what an appender takes, then cast to what the columns are.
  const auto& columns = shared_->columns.at(table);
  sql::Scan scan{table, {}, std::nullopt};
  std::string read, staged, made;
  std::vector<sql::Type> types;
  for (const auto& column : columns) {
    const auto type = sql::parse_engine_type(column.engine_type);
    if (!type) continue;
    const auto id = static_cast<sql::ColumnId>(types.size() + 1);
    scan.columns.push_back({column.name, id});
    types.push_back(*type);
    const std::string c = sql::column_name(id);
    const bool as_text =
        type->kind == sql::TypeKind::Decimal || type->kind == sql::TypeKind::Timestamp;
    read += fmt::format("{}{}", read.empty() ? "" : ", ",
                        as_text ? fmt::format("CAST({} AS VARCHAR) AS {}", c, c) : c);
    staged += fmt::format("{}{} {}", staged.empty() ? "" : ", ", c,
                          as_text                                ? "VARCHAR"
                          : type->kind == sql::TypeKind::Integer ? "BIGINT"
                                                                 : sql::engine_name(*type));
    made += fmt::format("{}CAST({} AS {}) AS {}", made.empty() ? "" : ", ", c, column.engine_type,
                        sql_identifier(column.name));
  }
  if (types.empty()) {
    read = "1 AS c0";
    staged = "c0 BIGINT";
    made = "c0";
  }
  DISCREET_TRY_VOID(
      local.execute(fmt::format("CREATE OR REPLACE TEMP TABLE discreet_staged ({})", staged)));
  DISCREET_TRY(
      EngineRows rows,
      carrying_->query(dialect().statement(fmt::format(
          "SELECT {} FROM ({})", read, dialect().scan(scan, [](sql::ColumnId) { return true; })))));
  DISCREET_TRY(DuckDbAppender appender, DuckDbAppender::make(local, "discreet_staged"));
  const auto kinds = rows.columns();
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) break;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        const Cell cell = read_cell(*chunk, kinds[i].type, i, row);
        std::visit(
            [&](const auto& value) {
              if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
                appender.append_null();
              else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
                appender.append(std::string_view(value));
              else
                appender.append(value);
            },
            cell);
      }
      DISCREET_TRY_VOID(appender.end_row());
    }
  }
  DISCREET_TRY_VOID(appender.close());
  return local.execute(
      fmt::format("CREATE OR REPLACE TEMP TABLE {} AS SELECT {} FROM discreet_staged; DROP TABLE "
                  "discreet_staged",
                  sql_identifier(table), made));
}

}  // namespace discreet
