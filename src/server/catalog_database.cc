#include "server/catalog_database.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ledger/report.h"
#include "server/catalog_schema_internal.h"
#include "sql/scan.h"

namespace discreet::server {
namespace {

std::string filled(std::string text, const std::string& user) {
  const std::string literal = sql_literal(user);
  for (std::size_t at = 0; (at = text.find("{user}", at)) != std::string::npos;)
    text.replace(at, 6, literal);
  return text;
}

std::string number_or_null(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "NULL";
}
template <class Number>
std::string amount(const std::optional<Number>& value) {
  return value ? fmt::format("{}", value->value()) : "'infinity'";
}

std::string link_of(const catalog::Table& table) {
  if (table.unit.kind != catalog::Unit::Kind::Linked) return "NULL";
  return sql_literal(table.unit.owner_table + "." + table.unit.owner_column);
}
std::string unit_of(const catalog::Table& table) {
  switch (table.unit.kind) {
    case catalog::Unit::Kind::None:
      return "NULL";
    case catalog::Unit::Kind::Row:
      return "'row'";
    default:
      return sql_literal(table.unit.column.empty() ? table.unit.owner_column : table.unit.column);
  }
}

/// One table with its columns, wherever clients look for them.
std::string rows_of(const std::string& table, std::int64_t schema, std::int64_t oid,
                    const std::vector<std::pair<std::string, std::string>>& columns) {
  std::string sql = fmt::format(
      "INSERT INTO pgc.pg_class (oid, relname, relnamespace, relnatts) VALUES ({}, {}, {}, {});",
      oid, sql_literal(table), schema, columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    sql += fmt::format(
        "INSERT INTO pgc.pg_attribute (attrelid, attname, atttypid, attnum, attlen) SELECT {}, {}, "
        "oid, {}, typlen FROM pgc.pg_type WHERE shown = {} OR typname = {} LIMIT 1;",
        oid, sql_literal(columns[i].first), i + 1, sql_literal(columns[i].second),
        sql_literal(columns[i].second));
  return sql;
}

/// A table of public.*, and what discreet.* says about it.
std::string rows_of(const VisibleTable& visible, std::int64_t oid) {
  const catalog::Table& table = *visible.table;
  std::vector<std::pair<std::string, std::string>> columns;
  for (const VisibleColumn& column : visible.columns)
    columns.emplace_back(column.name, column.type);
  std::string rows = rows_of(table.name, 2200, oid, columns);
  rows += fmt::format("INSERT INTO discreet.tables VALUES ({}, {}, {}, {}, {}, {});",
                      sql_literal(table.name), table.is_public(), unit_of(table), link_of(table),
                      table.max_rows_per_unit ? std::to_string(*table.max_rows_per_unit) : "NULL",
                      visible.synthetic);
  for (const VisibleColumn& column : visible.columns) {
    std::string lower = "NULL", upper = "NULL", values;
    if (column.listed && column.listed->range) {
      lower = sql_literal(catalog::to_string(column.listed->range->lower));
      upper = sql_literal(catalog::to_string(column.listed->range->upper));
    }
    if (column.listed)
      for (const catalog::Literal& value : column.listed->values)
        values += (values.empty() ? "" : ", ") + catalog::to_string(value);
    rows += fmt::format("INSERT INTO discreet.columns VALUES ({}, {}, {}, {}, {}, {});",
                        sql_literal(table.name), sql_literal(column.name), sql_literal(column.type),
                        lower, upper, values.empty() ? "NULL" : sql_literal(values));
  }
  return rows;
}

const std::vector<std::pair<std::string, std::string>> kLocalColumns = {
    {"value", "text"},           {"estimate", "double precision"}, {"stderr", "double precision"},
    {"low", "double precision"}, {"high", "double precision"},     {"reports", "bigint"}};

/// A collection's name as a table's: emoji-0.5 becomes emoji_0_5.
std::string local_table(std::string name) {
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
}
std::string quoted_name(const std::string& name) {
  return '"' + name + '"';  // collections have letters, digits and '_' only by now
}

const std::pair<const char*, std::vector<std::pair<std::string, std::string>>> kOwnTables[] = {
    {"tables",
     {{"name", "text"},
      {"public", "boolean"},
      {"unit", "text"},
      {"link", "text"},
      {"max_rows_per_unit", "bigint"},
      {"synthetic", "boolean"}}},
    {"columns",
     {{"table_name", "text"},
      {"name", "text"},
      {"type", "text"},
      {"lower", "text"},
      {"upper", "text"},
      {"values", "text"}}},
    {"budget",
     {{"account", "text"},
      {"parent", "text"},
      {"epsilon_granted", "double precision"},
      {"epsilon_spent", "double precision"},
      {"epsilon_left", "double precision"},
      {"delta_granted", "double precision"},
      {"delta_spent", "double precision"},
      {"delta_left", "double precision"},
      {"charges", "bigint"}}},
    {"ledger",
     {{"sequence", "bigint"},
      {"time", "timestamp"},
      {"kind", "text"},
      {"account", "text"},
      {"statement", "text"},
      {"epsilon", "double precision"},
      {"delta", "double precision"},
      {"hash", "text"}}}};

/// What the engine calls a type, as PostgreSQL calls it.
std::string pg_type(std::string_view engine) {
  if (engine == "BIGINT" || engine == "UBIGINT" || engine == "HUGEINT") return "bigint";
  if (engine == "INTEGER" || engine == "UINTEGER" || engine == "SMALLINT" || engine == "TINYINT")
    return "integer";
  if (engine == "BOOLEAN") return "boolean";
  if (engine == "DOUBLE" || engine == "FLOAT") return "double precision";
  if (engine == "DATE") return "date";
  if (engine.starts_with("TIMESTAMP")) return "timestamp";
  if (engine.starts_with("DECIMAL")) return "numeric";
  if (engine.ends_with("[]")) return "text[]";
  return "text";
}

/// PostgreSQL names a column after its function, a constant not at all.
std::string pg_name(const std::string& engine) {
  if (engine == "count_star()") return "count";
  std::string name = engine;
  if (name.starts_with("main.")) name = name.substr(5);
  const auto open = name.find('(');
  if (open != std::string::npos && open > 0 && name.back() == ')') name = name.substr(0, open);
  if (name == "dsc_version") return "version";
  if (name == "dsc_database") return "current_database";
  if (name == "dsc_schema") return "current_schema";
  if (name == "dsc_schemas") return "current_schemas";
  if (name == "dsc_setting") return "current_setting";
  if (name == "pg_get_userbyid") return "current_user";
  if (!name.empty() && (name[0] == '\'' || name[0] == '-' || (name[0] >= '0' && name[0] <= '9')))
    return "?column?";
  return name;
}

}  // namespace

Result<std::shared_ptr<CatalogDatabase>> CatalogDatabase::open(
    const std::vector<VisibleTable>& tables, const std::string& user,
    const local::Collector* collector) {
  DuckDbSettings settings;
  settings.threads = 1;
  settings.memory_max_mib = 256;
  settings.external_access = false;
  DISCREET_TRY(DuckDb engine, DuckDb::open(std::move(settings)));
  std::shared_ptr<CatalogDatabase> made(new CatalogDatabase(std::move(engine), collector));
  std::string rows;
  std::int64_t& oid = made->next_oid_;
  for (const VisibleTable& visible : tables) rows += rows_of(visible, oid++);
  for (const auto& [name, columns] : kOwnTables) rows += rows_of(name, 16000, oid++, columns);
  if (collector)
    for (const std::string& name : collector->names())
      for (const char* end : {"", "_top"})
        rows += rows_of(local_table(name) + end, 16001, oid++, kLocalColumns);
  for (const std::string& part : {std::string(kCatalogTypes), filled(kCatalogTables, user), rows,
                                  filled(kCatalogFunctions, user), filled(kCatalogViews, user)})
    DISCREET_TRY_VOID(made->engine_.execute(part));
  return made;
}

Result<void> CatalogDatabase::add_twins(const std::vector<VisibleTable>& twins) {
  const std::scoped_lock lock(mutex_);
  for (const VisibleTable& twin : twins) {
    if (twins_.contains(twin.table->name)) continue;
    DISCREET_TRY_VOID(engine_.execute("BEGIN;" + rows_of(twin, next_oid_++) + "COMMIT;"));
    twins_.insert(twin.table->name);
  }
  return {};
}

// Estimates as they are now. Reports were randomised before they came: reading them costs nothing.
Result<void> CatalogDatabase::refresh_local() {
  constexpr int kTop = 10;
  std::string sql = "BEGIN; CREATE SCHEMA IF NOT EXISTS local;";
  for (const std::string& name : collector_->names()) {
    const auto table = collector_->estimates(name, {});
    if (!table) continue;  // open text: nobody has said which words to look for
    const std::string own = "local." + quoted_name(local_table(name));
    sql += fmt::format(
        "CREATE OR REPLACE TABLE {} (value VARCHAR, estimate DOUBLE, stderr DOUBLE, low DOUBLE, "
        "high "
        "DOUBLE, reports BIGINT);",
        own);
    for (const local::EstimateRow& row : table->rows)
      sql += fmt::format("INSERT INTO {} VALUES ({}, {}, {}, {}, {}, {});", own,
                         sql_literal(row.value), row.estimate, row.standard_error, row.low,
                         row.high, table->reports);
    sql += fmt::format(
        "CREATE OR REPLACE TABLE local.{} AS SELECT * FROM {} ORDER BY estimate DESC LIMIT {};",
        quoted_name(local_table(name) + "_top"), own, kTop);
  }
  return engine_.execute(sql + "COMMIT;");
}

Result<void> CatalogDatabase::refresh(ledger::Ledger& ledger, const Identity& identity) {
  constexpr std::size_t kEventsMax = 1000;
  std::string sql = "BEGIN; DELETE FROM discreet.budget; DELETE FROM discreet.ledger;";
  DISCREET_TRY(const auto balances, ledger.balances());
  const auto is_shown = [&](const ledger::Balance& balance) {
    if (identity.is_owner || balance.account == identity.name) return true;
    for (const ledger::Balance& own : balances)
      if (own.account == identity.name && own.parent == balance.account) return true;
    return false;
  };
  for (const ledger::Balance& balance : balances) {
    if (!is_shown(balance)) continue;
    sql += fmt::format(
        "INSERT INTO discreet.budget VALUES ({}, {}, {}, {}, {}, {}, {}, {}, {});",
        sql_literal(balance.account), balance.parent.empty() ? "NULL" : sql_literal(balance.parent),
        amount(balance.granted.epsilon), balance.spent.epsilon.value(),
        amount(balance.left.epsilon), amount(balance.granted.delta), balance.spent.delta.value(),
        amount(balance.left.delta), balance.spent.charges);
  }
  ledger::EventPage page;
  page.limit = kEventsMax;
  if (!identity.is_owner) page.account = identity.name;
  DISCREET_TRY(const auto events, ledger.recent_events(page));
  for (const ledger::StoredEvent& event : events) {
    std::string statement = "NULL", epsilon = "NULL", delta = "NULL";
    if (const auto body = ledger::decode_body(event.kind, event.body); body)
      if (const auto* charge = std::get_if<ledger::ChargeEvent>(&*body)) {
        statement = sql_literal(charge->purpose);
        epsilon = number_or_null(charge->price.epsilon.value());
        delta = number_or_null(charge->price.delta.value());
      }
    sql += fmt::format(
        "INSERT INTO discreet.ledger VALUES ({}, make_timestamp({}), {}, {}, {}, {}, {}, '{}');",
        event.sequence, event.at.time_since_epoch().count(), sql_literal(event.kind),
        sql_literal(event.account), statement, epsilon, delta, ledger::to_hex(event.hash));
  }
  return engine_.execute(sql + "COMMIT;");
}

Result<Answer> CatalogDatabase::query(const std::string& sql,
                                      const std::vector<sql::Parameter>& parameters,
                                      ledger::Ledger& ledger, const Identity& identity) {
  // Text after a semicolon is dropped, and what is left stands inside CREATE TABLE ... AS: whatever
  // it is, it can only be a query, and the database holds nothing but names.
  DISCREET_TRY(const std::string rewritten, rewrite_catalog_query(sql, parameters));
  DISCREET_TRY(const auto tokens, sql::scan(sql));
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; collector_ && i + 2 < tokens.size(); ++i)
    if (tokens[i].is("local") && tokens[i + 1].is(".")) {
      DISCREET_TRY_VOID(refresh_local());
      break;
    }
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i)
    if (tokens[i].is("discreet") && tokens[i + 1].is(".")) {
      DISCREET_TRY_VOID(refresh(ledger, identity));
      break;
    }
  const Error unsupported{
      ErrorCode::Refused,
      "this catalog query is not supported. Names are in information_schema.columns and "
      "discreet.columns."};
  constexpr int kRowsMax = 100'000;
  if (!engine_.execute("CREATE OR REPLACE TEMP TABLE catalog_rows AS " + rewritten))
    return unsupported;
  Answer answer;
  DISCREET_TRY(DuckDbRows described,
               engine_.query("SELECT column_name, column_type FROM (DESCRIBE catalog_rows)"));
  std::string casts;
  for (;;) {
    DISCREET_TRY(const auto chunk, described.next());
    if (!chunk) break;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      answer.columns.push_back(
          {pg_name(std::string(chunk->varchar(0, row))), pg_type(chunk->varchar(1, row))});
      casts +=
          fmt::format("{}CAST(#{} AS VARCHAR)", casts.empty() ? "" : ", ", answer.columns.size());
    }
  }
  answer.error95.resize(answer.columns.size());
  DISCREET_TRY(DuckDbRows rows,
               engine_.query(fmt::format("SELECT {} FROM catalog_rows LIMIT {}", casts, kRowsMax)));
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) return answer;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      auto& cells = answer.rows.emplace_back();
      for (std::size_t i = 0; i < answer.columns.size(); ++i)
        cells.push_back(chunk->is_null(i, row)
                            ? std::nullopt
                            : std::optional(std::string(chunk->varchar(i, row))));
    }
  }
}

}  // namespace discreet::server
