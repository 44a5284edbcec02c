#include "engines/postgres_world.h"

#include <fmt/format.h>

#include "engines/postgres_server.h"

namespace discreet::testing {
namespace {

std::string postgres_type(const std::string& type) {
  if (type == "DOUBLE") return "double precision";
  if (type == "VARCHAR") return "text";
  if (type == "TINYINT") return "smallint";
  if (type.starts_with("DECIMAL")) return "numeric" + type.substr(7);
  return type;
}

}  // namespace

void PostgresWorld::clear(const std::string& schema) {
  postgres_server().run(
      fmt::format("DROP SCHEMA IF EXISTS {0} CASCADE; CREATE SCHEMA {0}", schema));
}

std::string PostgresWorld::source(const std::string& schema, const std::string& table) {
  return postgres_server().address(schema + "." + table);
}

void PostgresWorld::copy(DuckDb& from, const std::string& table, const std::string& schema,
                         const std::string&) {
  const auto columns = text_rows(
      from, "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = " +
                sql_literal(table) + " ORDER BY ordinal_position");
  std::string definition;
  for (const auto& column : columns)
    definition += fmt::format("{}{} {}", definition.empty() ? "" : ", ", sql_identifier(*column[0]),
                              postgres_type(*column[1]));
  std::string sql = fmt::format("CREATE TABLE {}.{} ({});", schema, table, definition);
  std::string values;
  const auto flush = [&] {
    if (!values.empty()) sql += fmt::format("INSERT INTO {}.{} VALUES {};", schema, table, values);
    values.clear();
  };
  std::size_t count = 0;
  for (const auto& row : text_rows(from, "SELECT * FROM " + sql_identifier(table))) {
    std::string cells;
    for (const auto& cell : row)
      cells += (cells.empty() ? "" : ", ") + (cell ? sql_literal(*cell) : std::string("NULL"));
    values += (values.empty() ? "(" : ", (") + cells + ")";
    if (++count % 500 == 0) flush();
  }
  flush();
  postgres_server().run(sql + fmt::format("ANALYZE {}.{}", schema, table));
}

}  // namespace discreet::testing
