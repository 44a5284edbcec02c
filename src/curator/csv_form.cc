#include "curator/csv_form.h"

#include <fmt/format.h>

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

}  // namespace

std::string csv_types(const catalog::Table& table, const std::vector<sql::SchemaColumn>& found) {
  std::string types;
  for (const auto& column : found)
    if (const catalog::Column* listed = table.listed(column.name))
      if (const auto type = declared_type(*listed, column.engine_type))
        types +=
            fmt::format("{}{}: '{}'", types.empty() ? "" : ", ", sql_literal(column.name), *type);
  return types.empty() ? "" : ", types = {" + types + "}";
}

std::optional<CsvForm> CsvForm::find(const std::string& path, DuckDb& engine) {
  auto rows =
      engine.query(fmt::format("SELECT Delimiter, Quote, Escape, Comment, CAST(SkipRows AS "
                               "VARCHAR), CAST(HasHeader AS VARCHAR), "
                               "coalesce(DateFormat, ''), coalesce(TimestampFormat, '') FROM "
                               "sniff_csv({}, ignore_errors = true)",
                               sql_literal(path)));
  if (!rows) return std::nullopt;
  const auto chunk = rows->next();
  if (!chunk || !*chunk || (*chunk)->size() != 1) return std::nullopt;
  std::vector<std::string> found;
  for (std::size_t i = 0; i < 8; ++i) {
    if ((*chunk)->is_null(i, 0)) return std::nullopt;
    const std::string value((*chunk)->varchar(i, 0));
    found.push_back(value == "(empty)" ? "" : value);
  }
  // No field needed quotes so far; those that come later may.
  for (const std::size_t i : {1, 2})
    if (found[i].empty()) found[i] = "\"";
  CsvForm form;
  form.options_ = fmt::format("delim = {}, quote = {}, escape = {}, comment = {}, skip = {}",
                              sql_literal(found[0]), sql_literal(found[1]), sql_literal(found[2]),
                              sql_literal(found[3]), found[4]);
  form.before_names_ = fmt::format("comment = {}, skip = {}", sql_literal(found[3]), found[4]);
  form.has_header_ = found[5] == "true";
  if (!found[6].empty()) form.options_ += ", dateformat = " + sql_literal(found[6]);
  if (!found[7].empty()) form.options_ += ", timestampformat = " + sql_literal(found[7]);
  return form;
}

std::string CsvForm::reader(const std::string& path,
                            const std::vector<sql::SchemaColumn>& columns) const {
  std::string typed;
  for (const auto& column : columns)
    typed += fmt::format("{}{}: {}", typed.empty() ? "" : ", ", sql_literal(column.name),
                         sql_literal(column.engine_type));
  return fmt::format(
      "read_csv({}, ignore_errors = true, auto_detect = false, hive_partitioning = false, {}, "
      "header = {}, columns = {{{}}})",
      sql_literal(path), options_, has_header_, typed);
}

Result<std::string> CsvForm::names(const std::string& path, DuckDb& engine) const {
  std::string written;
  if (!has_header_) return written;
  // The line as it stands there, whatever it is: nothing that follows is asked for.
  DISCREET_TRY(EngineRows rows,
               engine.query(fmt::format(
                   "SELECT line FROM read_csv({}, auto_detect = false, ignore_errors = true, "
                   "hive_partitioning = false, header = false, delim = '\x1F', quote = '', escape "
                   "= '', {}, columns = {{'line': 'VARCHAR'}}) LIMIT 1",
                   sql_literal(path), before_names_)));
  DISCREET_TRY(const auto chunk, rows.next());
  if (!chunk || chunk->is_null(0, 0)) return written;
  for (const char c : chunk->varchar(0, 0))
    if (c != '"' && c != '\'' && c != '\r') written += c;
  return written;
}

}  // namespace discreet
