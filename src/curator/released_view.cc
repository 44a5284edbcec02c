#include "curator/released_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "engines/duckdb/appender.h"
#include "mechanisms/nonnegative.h"

namespace discreet {
namespace {

// A value as SQL text that reads back the same.
std::string literal(const Cell& cell, sql::Type type) {
  const std::string as = sql::engine_name(type);
  if (std::holds_alternative<std::monostate>(cell)) return "NULL";
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&cell))
    return fmt::format("CAST({} AS {})", sql_literal(*text), as);
  if (const auto* number = std::get_if<double>(&cell)) {
    if (!std::isfinite(*number)) return "NULL";
    if (type.kind == sql::TypeKind::Integer) return fmt::format("CAST({:.0f} AS {})", *number, as);
    return fmt::format("CAST({} AS {})", *number,
                       type.kind == sql::TypeKind::Decimal ? "DOUBLE" : as);
  }
  const std::int64_t whole = std::get<std::int64_t>(cell);
  if (type.kind == sql::TypeKind::Date)
    return fmt::format("(DATE '1970-01-01' + {}::INTEGER)", whole);
  if (type.kind == sql::TypeKind::Timestamp) return fmt::format("make_timestamp({})", whole);
  return fmt::format("CAST({} AS {})", whole, type.kind == sql::TypeKind::Decimal ? "DOUBLE" : as);
}

std::string list_literal(const std::vector<double>& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i)
    text += fmt::format("{}{}::DOUBLE", i == 0 ? "" : ", ", list[i]);
  return text + "]";
}

// The keys as they are stored: with grouping sets each has a column behind them that says whether
// it is rolled up.
std::vector<std::pair<std::string, sql::Type>> stored_keys(const sql::Release& release) {
  std::vector<std::pair<std::string, sql::Type>> keys;
  for (const sql::Key& key : release.keys) keys.emplace_back(key.column, key.type);
  const std::size_t count = keys.size();
  for (std::size_t i = 0; release.grouping_sets && i < count; ++i)
    keys.emplace_back(fmt::format("k{}", count + i + 1), sql::integer_type());
  return keys;
}

// Rows that hold only what an appender takes need no SQL text, which would be most of the time of
// an answer with many groups.
bool can_append(const sql::Release& release, const ReleasedTable& table) {
  const auto takes = [](sql::Type type) {
    return type.kind == sql::TypeKind::Boolean || type.kind == sql::TypeKind::Integer ||
           type.kind == sql::TypeKind::Double || type.kind == sql::TypeKind::Decimal ||
           type.kind == sql::TypeKind::Text || type.kind == sql::TypeKind::Date;
  };
  for (const sql::Key& key : release.keys)
    if (!takes(key.type)) return false;
  for (std::size_t i = 0; i < release.aggregates.size(); ++i)
    if (table.aggregates[i].is_list || !takes(release.aggregates[i].type)) return false;
  return !release.keys.empty() || !release.aggregates.empty();
}

/// What a column of this type holds of a cell, where an appender takes the type.
Cell stored(const Cell& cell, sql::Type type) {
  const auto* whole = std::get_if<std::int64_t>(&cell);
  const auto* number = std::get_if<double>(&cell);
  constexpr double kWholeMax = 0x1p62;
  switch (type.kind) {
    case sql::TypeKind::Boolean:
      return std::holds_alternative<bool>(cell) ? cell : Cell();
    case sql::TypeKind::Text:
      return std::holds_alternative<std::string>(cell) ? cell : Cell();
    case sql::TypeKind::Double:
    case sql::TypeKind::Decimal:
      if (number != nullptr && std::isfinite(*number)) return *number;
      return whole != nullptr ? Cell(static_cast<double>(*whole)) : Cell();
    default:
      break;
  }
  std::optional<std::int64_t> value;
  if (whole != nullptr) value = *whole;
  if (number != nullptr && std::isfinite(*number))
    value = std::llround(std::clamp(*number, -kWholeMax, kWholeMax));
  if (type.kind == sql::TypeKind::Date && value && !std::in_range<std::int32_t>(*value))
    value.reset();
  return value ? Cell(*value) : Cell();
}

void append_cell(const Cell& cell, sql::Type type, DuckDbAppender& appender) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text != nullptr && type.kind == sql::TypeKind::Text) {
    appender.append(std::string_view(*text));
    return;
  }
  const Cell held = stored(cell, type);
  if (const auto* flag = std::get_if<bool>(&held))
    appender.append(*flag);
  else if (const auto* whole = std::get_if<std::int64_t>(&held))
    appender.append(*whole);
  else if (const auto* number = std::get_if<double>(&held))
    appender.append(*number);
  else
    appender.append_null();
}

/// As the engine writes what is stored.
std::optional<std::string> text_of(const Cell& cell, sql::Type type) {
  Cell held = stored(cell, type);
  if (const auto* flag = std::get_if<bool>(&held)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&held)) return fmt::to_string(*whole);
  if (auto* text = std::get_if<std::string>(&held)) return std::move(*text);
  const auto* number = std::get_if<double>(&held);
  if (number == nullptr) return std::nullopt;
  std::string text = fmt::format("{}", *number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

Result<void> append_rows(const sql::Release& release, const ReleasedTable& table, DuckDb& engine) {
  DISCREET_TRY(DuckDbAppender appender, DuckDbAppender::make(engine, release.table));
  const auto keys = stored_keys(release);
  const std::size_t plain = keys.size() + release.aggregates.size();
  const bool with_errors = appender.columns() == plain + release.aggregates.size();
  for (std::size_t row = 0; row < table.keys.size(); ++row) {
    for (std::size_t key = 0; key < keys.size(); ++key)
      append_cell(table.keys[row][key], keys[key].second, appender);
    for (std::size_t i = 0; i < release.aggregates.size(); ++i)
      append_cell(table.aggregates[i].values[row], release.aggregates[i].type, appender);
    for (std::size_t i = 0; with_errors && i < release.aggregates.size(); ++i) {
      const auto& error = table.aggregates[i].error95[row];
      append_cell(error ? Cell(*error) : Cell(), sql::double_type(), appender);
    }
    DISCREET_TRY_VOID(appender.end_row());
  }
  return appender.close();
}

bool is_count(const sql::AggregateKind& kind) {
  return std::holds_alternative<sql::CountRelease>(kind) ||
         std::holds_alternative<sql::CountUnitsRelease>(kind) ||
         std::holds_alternative<sql::CountDistinctRelease>(kind);
}

}  // namespace

void make_sensible(const sql::Release& release, ReleasedTable& table) {
  if (release.grouping_sets) return;  // they are, jointly
  for (std::size_t i = 0; i < release.aggregates.size(); ++i) {
    if (!is_count(release.aggregates[i].kind)) continue;
    auto& values = table.aggregates[i].values;
    std::vector<double> noisy;
    for (const Cell& cell : values) noisy.push_back(std::get<double>(cell));
    const auto projected = nonnegative_same_total(noisy);
    if (!projected) continue;
    const auto whole = whole_same_total(*projected);
    for (std::size_t row = 0; row < values.size(); ++row)
      values[row] = whole ? static_cast<double>((*whole)[row]) : std::round((*projected)[row]);
  }
}

Result<void> store_released(const sql::Release& release, const ReleasedTable& table,
                            DuckDb& engine) {
  std::string columns;
  const auto keys = stored_keys(release);
  for (const auto& [column, type] : keys)
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", column, sql::engine_name(type));
  for (std::size_t i = 0; i < release.aggregates.size(); ++i) {
    const auto& aggregate = release.aggregates[i];
    const std::string type = table.aggregates[i].is_list ? "DOUBLE[]"
                             : aggregate.type.kind == sql::TypeKind::Decimal
                                 ? "DOUBLE"
                                 : sql::engine_name(aggregate.type);
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", aggregate.column, type);
  }
  // Their errors, as final_text_sql names them.
  for (std::size_t i = 0; i < release.aggregates.size(); ++i)
    columns += fmt::format(", a{} DOUBLE", release.aggregates.size() + i + 1);
  if (columns.empty()) columns = "nothing INTEGER";
  DISCREET_TRY_VOID(
      engine.execute(fmt::format("CREATE OR REPLACE TEMP TABLE {} ({})", release.table, columns)));

  if (can_append(release, table)) return append_rows(release, table, engine);
  constexpr std::size_t kRowsPerInsert = 500;
  const std::size_t rows = table.keys.size();
  for (std::size_t begin = 0; begin < rows; begin += kRowsPerInsert) {
    std::string insert = fmt::format("INSERT INTO {} VALUES ", release.table);
    for (std::size_t row = begin; row < std::min(rows, begin + kRowsPerInsert); ++row) {
      std::string tuple;
      for (std::size_t key = 0; key < keys.size(); ++key)
        tuple += fmt::format("{}{}", tuple.empty() ? "" : ", ",
                             literal(table.keys[row][key], keys[key].second));
      for (std::size_t i = 0; i < release.aggregates.size(); ++i) {
        const ReleasedColumn& column = table.aggregates[i];
        tuple +=
            fmt::format("{}{}", tuple.empty() ? "" : ", ",
                        column.is_list ? list_literal(column.lists[row])
                                       : literal(column.values[row], release.aggregates[i].type));
      }
      for (const ReleasedColumn& column : table.aggregates) {
        const auto& error = column.error95[row];
        tuple += error && std::isfinite(*error) ? fmt::format(", {}::DOUBLE", *error) : ", NULL";
      }
      insert += fmt::format("{}({})", row == begin ? "" : ", ", tuple.empty() ? "NULL" : tuple);
    }
    DISCREET_TRY_VOID(engine.execute(insert));
  }
  return {};
}

std::optional<Texts> picked_texts(const sql::Release& release, const ReleasedTable& table,
                                  const std::vector<std::size_t>& picked) {
  const std::size_t keys = release.keys.size(), aggregates = release.aggregates.size();
  if (!can_append(release, table)) return std::nullopt;
  const auto type = [&](std::size_t column) {
    return column < keys                ? release.keys[column].type
           : column < keys + aggregates ? release.aggregates[column - keys].type
                                        : sql::double_type();
  };
  for (const std::size_t column : picked)
    if (type(column).kind == sql::TypeKind::Date) return std::nullopt;
  Texts texts(table.keys.size());
  for (std::size_t row = 0; row < texts.size(); ++row) {
    texts[row].reserve(picked.size());
    for (const std::size_t column : picked) {
      if (column < keys) {
        texts[row].push_back(text_of(table.keys[row][column], type(column)));
      } else if (column < keys + aggregates) {
        texts[row].push_back(text_of(table.aggregates[column - keys].values[row], type(column)));
      } else {
        const auto& error = table.aggregates[column - keys - aggregates].error95[row];
        texts[row].push_back(error ? text_of(*error, type(column)) : std::nullopt);
      }
    }
  }
  return texts;
}

Result<Texts> read_texts(const std::string& sql, std::size_t columns, DuckDb& engine) {
  DISCREET_TRY(DuckDbRows rows, engine.query(sql));
  Texts read;
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) return read;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      auto& cells = read.emplace_back();
      for (std::size_t i = 0; i < columns; ++i)
        cells.push_back(chunk->is_null(i, row)
                            ? std::nullopt
                            : std::optional(std::string(chunk->varchar(i, row))));
    }
  }
}

}  // namespace discreet
