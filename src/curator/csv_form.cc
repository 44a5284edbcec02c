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
  CsvForm form;
  form.options_ = fmt::format("delim = {}, quote = {}, escape = {}, comment = {}, skip = {}",
                              sql_literal(found[0]), sql_literal(found[1]), sql_literal(found[2]),
                              sql_literal(found[3]), found[4]);
  form.has_header_ = found[5] == "true";
  if (!found[6].empty()) form.options_ += ", dateformat = " + sql_literal(found[6]);
  if (!found[7].empty()) form.options_ += ", timestampformat = " + sql_literal(found[7]);
  return form;
}

std::string CsvForm::reader(const std::string& path, const std::vector<sql::SchemaColumn>& columns,
                            bool header) const {
  std::string typed;
  for (const auto& column : columns)
    typed += fmt::format("{}{}: {}", typed.empty() ? "" : ", ", sql_literal(column.name),
                         sql_literal(column.engine_type));
  return fmt::format(
      "read_csv({}, ignore_errors = true, auto_detect = false, {}, header = {}, columns = {{{}}})",
      sql_literal(path), options_, header, typed);
}

Result<std::string> CsvForm::names(const std::string& path, std::size_t count,
                                   DuckDb& engine) const {
  std::string written;
  if (!has_header_) return written;
  std::vector<sql::SchemaColumn> texts;
  for (std::size_t i = 0; i < count; ++i) texts.push_back({fmt::format("c{}", i), "VARCHAR"});
  DISCREET_TRY(EngineRows rows,
               engine.query(fmt::format("SELECT * FROM {} LIMIT 1", reader(path, texts, false))));
  DISCREET_TRY(const auto chunk, rows.next());
  if (!chunk) return written;
  for (std::size_t i = 0; i < count; ++i)
    written += fmt::format("{}\n", chunk->is_null(i, 0) ? "" : chunk->varchar(i, 0));
  return written;
}

}  // namespace discreet
