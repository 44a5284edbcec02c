#include "catalog/policy.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/suggest.h"

namespace discreet::catalog {
namespace {

template <class Named>
const Named* find_named(const std::vector<Named>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const Column* Table::listed(std::string_view column_name) const {
  return find_named(columns, column_name);
}

Column Table::column(std::string_view column_name) const {
  if (const Column* found = listed(column_name)) return *found;
  Column unlisted;
  unlisted.name = column_name;
  unlisted.hidden = unlisted_columns_hidden && column_name != unit.column;
  return unlisted;
}

bool Analyst::may_ask(std::string_view table) const {
  return !tables || std::find(tables->begin(), tables->end(), table) != tables->end();
}

const Table* Policy::table(std::string_view name) const {
  return find_named(tables_, name);
}
const Budget* Policy::budget(std::string_view name) const {
  return find_named(budgets_, name);
}
const Analyst* Policy::analyst(std::string_view name) const {
  return find_named(analysts_, name);
}

std::vector<std::string> Policy::table_names() const {
  std::vector<std::string> names;
  for (const Table& each : tables_) names.push_back(each.name);
  return names;
}

Result<void> Policy::check_columns(const Table& table,
                                   const std::vector<std::string>& actual) const {
  std::string missing;
  const auto require = [&](const std::string& column, int line, std::string_view why) {
    if (std::find(actual.begin(), actual.end(), column) != actual.end()) return;
    missing +=
        fmt::format("{}{}:{}: table '{}' has no column '{}'{}{}", missing.empty() ? "" : "\n",
                    path_.string(), line, table.name, column, why, did_you_mean(column, actual));
  };
  if (!table.unit.column.empty()) require(table.unit.column, table.line, ", named as its unit");
  if (!table.unit.links.empty())
    require(table.unit.links.front().column, table.line, ", named in its link");
  for (const Table& other : tables_)
    for (const Link& link : other.unit.links)
      if (link.table == table.name)
        require(link.target_column, other.line, ", which a link leads to");
  for (const Column& column : table.columns) require(column.name, column.line, "");
  if (missing.empty()) return {};
  return invalid_input(std::move(missing));
}

}  // namespace discreet::catalog
