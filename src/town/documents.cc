#include "town/documents.h"

#include <fmt/format.h>

#include <iterator>

#include "town/tables.h"

namespace discreet::town {
namespace {

std::string bound(const Column& column, std::int64_t value) {
  return column.kind == ColumnKind::Date ? iso_date(value) : std::to_string(value);
}

/// { range = [0, 105] }, { values = ["a", "b"] }, { hidden = true } or {}.
std::string column_policy(const Column& column) {
  if (column.hidden) return "{ hidden = true }";
  if (column.range)
    return fmt::format("{{ range = [{}, {}] }}", bound(column, column.range->least),
                       bound(column, column.range->most));
  if (column.kind == ColumnKind::Boolean) return "{ values = [false, true] }";
  if (column.values.empty()) return "{}";
  return fmt::format("{{ values = [\"{}\"] }}", fmt::join(column.values, "\", \""));
}

}  // namespace

std::string policy_text(std::string_view format) {
  std::string out =
      "# A sample policy for the town: who is protected, what may be asked, and how much.\n"
      "# The protected unit is a person everywhere: every private table links to people.\n\n";
  auto to = std::back_inserter(out);
  for (const Table& table : tables()) {
    fmt::format_to(to, "[tables.{}]  # {}\nsource = \"{}.{}\"\n", table.name, table.what,
                   table.name, format);
    if (table.unit.empty()) {
      out += "public = true\n\n";
      continue;
    }
    fmt::format_to(to, "unit = \"{}\"\nmax_rows_per_unit = {}\n[tables.{}.columns]\n", table.unit,
                   table.max_rows_per_unit, table.name);
    for (const Column& column : table.columns)
      fmt::format_to(to, "{} = {}\n", column.name, column_policy(column));
    out += '\n';
  }
  out +=
      "# What all questions together may cost. Analysts get their own accounts within it\n"
      "# (discreet user add).\n"
      "[budgets.default]\nepsilon = 4.0\ndelta = 1e-7\n";
  return out;
}

std::string readme_text(std::uint64_t people, std::uint64_t seed,
                        const std::vector<WrittenTable>& written) {
  std::string out = fmt::format(
      "# A fictional town\n\nMade by `discreet town --people {} --seed {}`. Nobody in it exists. "
      "The same command gives the same\nrows on every machine. `discreet.toml` is a sample policy "
      "for it.\n\n| table | rows | fingerprint | what |\n|---|---:|---|---|\n",
      people, seed);
  auto to = std::back_inserter(out);
  for (const WrittenTable& entry : written)
    fmt::format_to(to, "| `{}` | {} | {:016x} | {} |\n", entry.file, entry.rows, entry.fingerprint,
                   table(entry.name).what);
  for (const WrittenTable& entry : written) {
    const Table& here = table(entry.name);
    fmt::format_to(to, "\n## {}\n\n{}\n\n| column | type | values | what |\n|---|---|---|---|\n",
                   here.name,
                   here.unit.empty() ? "Public." : fmt::format("Unit: `{}`.", here.unit));
    for (const Column& column : here.columns) {
      std::string values;
      if (column.range)
        values = bound(column, column.range->least) + " to " + bound(column, column.range->most);
      else
        values = fmt::format("{}", fmt::join(column.values, ", "));
      fmt::format_to(to, "| {} | {} | {} | {} |\n", column.name, sql_type(column.kind), values,
                     column.what);
    }
  }
  return out;
}

}  // namespace discreet::town
