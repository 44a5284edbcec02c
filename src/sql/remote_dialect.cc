#include <fmt/format.h>

#include "sql/emit.h"
#include "sql/engine_text_internal.h"

namespace discreet::sql {
namespace {

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

}  // namespace

std::optional<std::string> RemoteDialect::scalar(const Scalar& one, const ScalarWriter& w) const {
  if (const auto* constant = std::get_if<Constant>(&one.node))
    return words_.literal(constant->value, one.type);
  if (const auto* to = std::get_if<CastTo>(&one.node)) return cast(*to->arg, one.type, w);
  if (const auto* when = std::get_if<CaseWhen>(&one.node)) {
    std::string text = "CASE";
    for (const auto& [condition, result] : when->branches)
      text += fmt::format(" WHEN {} THEN {}", w.write(*condition), as_type(*result, one.type, w));
    return text + fmt::format(" ELSE {} END", as_type(*when->otherwise, one.type, w));
  }
  if (const auto* applied = std::get_if<Apply>(&one.node)) {
    auto text = shared_apply(one, *applied, w);
    return text ? text : own_apply(one, *applied, w);
  }
  return std::nullopt;
}

std::string RemoteDialect::scan(const Scan& scan,
                                const std::function<bool(ColumnId)>& wanted) const {
  std::string columns;
  for (const auto& column : scan.columns)
    if (wanted(column.id))
      append(columns,
             fmt::format("{} AS {}", read_column(scan.table, column.name), column_name(column.id)));
  if (scan.row_number && wanted(*scan.row_number))
    append(columns, fmt::format("{} AS {}", words_.row_number, column_name(*scan.row_number)));
  const auto known = relations_.find(scan.table);
  const std::string relation =
      known == relations_.end() ? words_.quote_name(scan.table) : known->second;
  return fmt::format("SELECT {} FROM {}{}", columns.empty() ? "1" : columns, relation,
                     after_relation(relation));
}

std::string RemoteDialect::with_tables(const std::string& sql,
                                       const std::vector<InlineTable>& tables) const {
  std::string with;
  for (const InlineTable& table : tables) {
    std::string names, nulls, rows;
    for (const auto& [name, type] : table.columns) {
      append(names, name);
      append(nulls, fmt::format("CAST(NULL AS {})", words_.type_name(type)));
    }
    for (const auto& row : table.rows) {
      std::string cells;
      for (std::size_t i = 0; i < row.size(); ++i)
        append(cells, fmt::format("CAST({} AS {})", words_.literal(row[i], Type{}),
                                  words_.type_name(table.columns[i].second)));
      append(rows, "(" + cells + ")");
    }
    with += fmt::format(
        "{}{}({}) AS ({})", with.empty() ? "WITH " : ", ", table.name, names,
        rows.empty() ? fmt::format("SELECT {} WHERE false", nulls) : words_.values + rows);
  }
  return with.empty() ? sql : with + " " + sql;
}

std::string RemoteDialect::as_type(const Scalar& one, Type type, const ScalarWriter& w) const {
  if (one.type == type || type.kind == TypeKind::Null) return w.write(one);
  if (one.type.kind == TypeKind::Null)
    return fmt::format("CAST(NULL AS {})", words_.type_name(type));
  return cast(one, type, w);
}

std::string RemoteDialect::list(const Apply& applied, std::string_view with,
                                const ScalarWriter& w) const {
  std::string text;
  for (std::size_t i = 0; i < applied.args.size(); ++i)
    text += (i == 0 ? "" : std::string(with)) + w.write(*applied.args[i]);
  return text;
}

std::string RemoteDialect::typed_list(const Scalar& one, const Apply& applied,
                                      const ScalarWriter& w) const {
  std::string text;
  for (const auto& arg : applied.args) append(text, as_type(*arg, one.type, w));
  return text;
}

std::optional<std::string> RemoteDialect::shared_apply(const Scalar& one, const Apply& applied,
                                                       const ScalarWriter& w) const {
  const auto arg = [&](std::size_t i) { return w.write(*applied.args.at(i)); };
  if (const char* op = infix_operator(applied.function)) return "(" + list(applied, op, w) + ")";
  switch (applied.function) {
    case Function::Not:
      return fmt::format("(NOT {})", arg(0));
    case Function::IsNull:
      return fmt::format("({} IS NULL)", arg(0));
    case Function::IsTrue:
      return fmt::format("({} IS TRUE)", arg(0));
    case Function::IsFalse:
      return fmt::format("({} IS FALSE)", arg(0));
    case Function::In: {
      std::string items;
      for (std::size_t i = 1; i < applied.args.size(); ++i) append(items, arg(i));
      return fmt::format("({} IN ({}))", arg(0), items);
    }
    case Function::Coalesce:
      return fmt::format("coalesce({})", typed_list(one, applied, w));
    case Function::NullIf:
      return fmt::format("nullif({})", list(applied, ", ", w));
    case Function::Length:
      return fmt::format("CAST(char_length({}) AS BIGINT)", arg(0));
    case Function::Ceil:
    case Function::Floor:
    case Function::Trunc:
      if (applied.args[0]->type.kind == TypeKind::Integer) return arg(0);
      return std::nullopt;
    case Function::Round:
      if (applied.args[0]->type.kind == TypeKind::Integer && applied.args.size() == 1)
        return arg(0);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

const char* moment_name(ExactFunction function) {
  switch (function) {
    case ExactFunction::VarPop:
      return "var_pop";
    case ExactFunction::VarSamp:
      return "var_samp";
    case ExactFunction::StddevPop:
      return "stddev_pop";
    case ExactFunction::StddevSamp:
      return "stddev_samp";
    case ExactFunction::CovarPop:
      return "covar_pop";
    case ExactFunction::CovarSamp:
      return "covar_samp";
    case ExactFunction::Corr:
      return "corr";
    default:
      return nullptr;
  }
}

}  // namespace discreet::sql
