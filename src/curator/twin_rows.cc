#include "curator/twin_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sql/emit.h"

namespace discreet {
namespace {

std::string plain(const catalog::Literal& literal) {
  struct {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(catalog::Date date) const { return synth::format_date(date.days); }
    std::string operator()(catalog::Timestamp) const { return ""; }
  } text;
  return std::visit(text, literal);
}

bool is_whole(const std::string& type) {
  return type == "TINYINT" || type == "SMALLINT" || type == "INTEGER" || type == "BIGINT" ||
         type == "UTINYINT" || type == "USMALLINT" || type == "UINTEGER" || type == "UBIGINT" ||
         type == "HUGEINT";
}

// What the policy and the schema say a column holds; nothing, and why, if it must be left out.
std::optional<synth::ColumnSpec> spec_of(const catalog::Column& column, const std::string& type,
                                         std::string& why) {
  synth::ColumnSpec spec{column.name, synth::KeyColumn{}};
  if (column.has_public_keys()) {
    synth::ValueColumn values;
    for (const auto& value : column.values) values.values.push_back(plain(value));
    spec.kind = std::move(values);
    return spec;
  }
  if (column.range) {
    const bool date = std::holds_alternative<catalog::Date>(column.range->lower);
    if (std::holds_alternative<catalog::Timestamp>(column.range->lower)) {
      why = "timestamps cannot be synthesised yet; add a column with their date";
      return std::nullopt;
    }
    synth::NumberColumn numbers{catalog::as_number(column.range->lower),
                                catalog::as_number(column.range->upper), 1, date};
    if (!date && !is_whole(type))
      numbers.step = column.grid.value_or((numbers.upper - numbers.lower) / 1e6);
    if (!(numbers.step > 0) || !((numbers.upper - numbers.lower) / numbers.step < 0x1p30)) {
      why = "its range holds more than 2^30 steps; give it a coarser grid";
      return std::nullopt;
    }
    spec.kind = numbers;
    return spec;
  }
  if (type == "BOOLEAN") {
    spec.kind = synth::ValueColumn{{"false", "true"}, false};
    return spec;
  }
  if (type == "VARCHAR") return spec;
  why = "numbers and dates need a range in the policy";
  return std::nullopt;
}

}  // namespace

Result<TwinRows> TwinRows::plan(const catalog::Table& table, const Data& data) {
  DISCREET_TRY(const auto columns, data.columns(table.name));
  TwinRows plan;
  std::string select;
  sql::Scan scan{table.name, {}, std::nullopt};
  const auto scanned = [&](const std::string& column) {
    const auto id = static_cast<sql::ColumnId>(scan.columns.size() + 1);
    scan.columns.push_back({column, id});
    return sql::column_name(id);
  };
  for (const auto& column : columns) {
    const catalog::Column said = table.column(column.name);
    if (said.hidden || column.name == table.unit.column) continue;
    std::string why;
    auto spec = spec_of(said, column.engine_type, why);
    if (!spec) {
      plan.notes.push_back(fmt::format("column {} is left out: {}", column.name, why));
      continue;
    }
    spec->name = column.name;
    const std::string name = scanned(column.name);
    select += fmt::format("{}CAST({} AS VARCHAR) AS {}", select.empty() ? "" : ", ", name, name);
    plan.specs.push_back(*std::move(spec));
    plan.types.push_back(column.engine_type);
  }
  if (plan.specs.empty())
    return Error{ErrorCode::Refused,
                 "no column of this table can be synthesised; give columns values or ranges"};
  switch (table.unit.kind) {
    case catalog::Unit::Kind::Row:
      plan.sql = fmt::format("SELECT {} FROM ({})", select, data.scan(scan));
      break;
    case catalog::Unit::Kind::None:
      return Error{ErrorCode::Refused, "the table is public: copy it, a twin would only be worse"};
    case catalog::Unit::Kind::Column:
    case catalog::Unit::Kind::Linked: {
      if (table.unit.column.empty())
        return Error{ErrorCode::Refused,
                     "the table must be joined to learn whose rows it holds; take the table that "
                     "has the unit as a column"};
      // One row per unit, drawn anew: which one says nothing about other units.
      const std::string unit = scanned(table.unit.column);
      plan.sql = fmt::format(
          "SELECT {} FROM (SELECT *, row_number() OVER (PARTITION BY {} ORDER BY random()) AS "
          "discreet_row FROM ({}) WHERE {} IS NOT NULL) WHERE discreet_row = 1",
          select, unit, data.scan(scan), unit);
      plan.notes.push_back(
          fmt::format("one row per {} is used, drawn at random", table.unit.column));
      break;
    }
  }
  plan.sql = data.statement(plan.sql);
  return plan;
}

Result<synth::RawTable> TwinRows::read(Data& data) const {
  DISCREET_TRY_VOID(data.engine().begin());
  auto table = read_now(data.engine());
  data.engine().end();
  return table;
}

Result<synth::RawTable> TwinRows::read_now(Engine& engine) const {
  DISCREET_TRY(EngineRows rows, engine.query(sql));
  std::vector<synth::RawColumnBuilder> builders;
  for (const auto& spec : specs) builders.emplace_back(spec.name);
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) break;
    for (std::size_t c = 0; c < builders.size(); ++c)
      for (std::size_t row = 0; row < chunk->size(); ++row) {
        if (chunk->is_null(c, row))
          builders[c].add_null();
        else
          builders[c].add(chunk->varchar(c, row));
      }
  }
  synth::RawTable table;
  for (auto& builder : builders) table.columns.push_back(builder.take());
  return table;
}

std::string RecordedTwins::to_bytes() const {
  nlohmann::json out = {{"notes", notes}, {"tables", nlohmann::json::array()}};
  if (!types.empty()) out["types"] = types;
  for (const auto& table : tables) out["tables"].push_back(synth::format_csv(table));
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<RecordedTwins> RecordedTwins::from_bytes(const std::string& bytes) {
  const auto parsed = nlohmann::json::parse(bytes, nullptr, false);
  const auto texts = [&](const char* name) {
    std::vector<std::string> found;
    if (parsed.contains(name) && parsed[name].is_array())
      for (const auto& text : parsed[name])
        if (text.is_string()) found.push_back(text.get<std::string>());
    return found;
  };
  if (!parsed.is_object() || !parsed.contains("tables"))
    return invalid_input("the recorded twin cannot be read back");
  RecordedTwins twins{texts("notes"), {}, texts("types")};
  const auto tables = texts("tables");
  for (const std::string& text : tables) {
    DISCREET_TRY(auto table, synth::parse_csv(text));
    twins.tables.push_back(std::move(table));
  }
  return twins;
}

}  // namespace discreet
