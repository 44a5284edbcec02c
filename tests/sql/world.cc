#include "world.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace discreet::sql {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
}  // namespace

std::vector<Case> read_cases(const std::string& file) {
  std::vector<Case> cases;
  std::ifstream input(kFolder / file);
  std::string line;
  int number = 0;
  bool in_plain = false;
  Case current;
  const auto finish = [&] {
    if (!current.verdict.empty() && !current.statement.empty()) cases.push_back(current);
    current = Case{};
    in_plain = false;
  };
  while (std::getline(input, line)) {
    ++number;
    if (line.starts_with("#")) continue;
    if (line.empty()) {
      finish();
    } else if (line == "> plain") {
      in_plain = true;
    } else if (line.starts_with("> ")) {
      finish();
      current.file = file;
      current.line = number;
      const auto space = line.find(' ', 2);
      current.verdict = line.substr(2, space == std::string::npos ? space : space - 2);
      if (space != std::string::npos) current.words = line.substr(space + 1);
    } else {
      std::string& text = in_plain ? current.plain : current.statement;
      text += (text.empty() ? "" : "\n") + line;
    }
  }
  finish();
  return cases;
}
Result<std::vector<SchemaColumn>> DuckDbSchema::columns(const std::string& table) const {
  if (const auto known = seen_.find(table); known != seen_.end()) return known->second;
  auto rows = database_.query(
      "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = " +
      sql_literal(table) + " ORDER BY ordinal_position");
  if (!rows) return rows.error();
  std::vector<SchemaColumn> columns;
  for (auto chunk = rows->next(); chunk && chunk->has_value(); chunk = rows->next())
    for (std::size_t row = 0; row < (*chunk)->size(); ++row)
      columns.push_back(
          {std::string((*chunk)->varchar(0, row)), std::string((*chunk)->varchar(1, row))});
  seen_[table] = columns;
  return columns;
}

World::World(const std::string& name, const std::string& change, const std::string& unit)
    : policy_(catalog::Policy::load(kFolder / (name + ".toml"), {.sources_exist = false}).value()),
      database_(DuckDb::open(
                    {.threads = 1,
                     .operator_log = [](std::string_view text) { last_engine_message() = text; }})
                    .value()),
      schema_(database_),
      planner_(policy_, schema_) {
  const auto made = database_.execute(read_file(kFolder / (name + ".sql")));
  DISCREET_CHECK(made.has_value(), last_engine_message().c_str());
  if (!change.empty()) {
    std::string sql = read_file(kFolder / (name + "_" + change + ".sql"));
    const std::string written = fmt::format("= {}", kRemovedUnit);
    for (std::size_t at = 0; (at = sql.find(written, at)) != std::string::npos; at += 2)
      sql.replace(at + 2, written.size() - 2, unit);
    const auto changed = database_.execute(sql);
    DISCREET_CHECK(changed.has_value(), last_engine_message().c_str());
  }
}

Result<std::vector<std::string>> World::rows(const std::string& sql) {
  // Every column as text: the adapter refuses decimals and lists.
  auto result = database_.query("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (" + sql + ")");
  if (!result) return result.error();
  std::vector<std::string> rows;
  while (true) {
    auto chunk = result->next();
    if (!chunk) return chunk.error();
    if (!chunk->has_value()) break;
    for (std::size_t row = 0; row < (*chunk)->size(); ++row) {
      std::string text;
      for (std::size_t column = 0; column < result->columns().size(); ++column) {
        std::string cell =
            (*chunk)->is_null(column, row) ? "NULL" : std::string((*chunk)->varchar(column, row));
        char* end = nullptr;
        const double number = std::strtod(cell.c_str(), &end);
        if (end != cell.c_str() && *end == '\0')
          cell = fmt::format("{:.7g}", std::fabs(number) < 1e-9 ? 0.0 : number);
        text += "|" + cell;
      }
      rows.push_back(text);
    }
  }
  return rows;
}

World& world(const std::string& name, const std::string& change, const std::string& unit) {
  static std::map<std::string, std::unique_ptr<World>> worlds;
  auto& place = worlds[name + "/" + change + "/" + unit];
  if (!place) place = std::make_unique<World>(name, change, unit);
  return *place;
}

void check_neighbour(const std::string& policy, const Release& release, const std::string& unit) {
  if (release.unit_is_row || !release.needs.empty()) return;
  const bool of_removed =
      release.people == "patients.patient_id" || release.people == "customer.c_custkey";
  std::vector<std::string> statements{release.partials_sql};
  for (const auto& stream : release.streams) statements.push_back(stream.sql);
  for (const auto& sql : statements) {
    auto with = world(policy).rows(
        of_removed ? fmt::format("SELECT * FROM ({}) WHERE unit <> {}", sql, unit) : sql);
    auto without = world(policy, "remove", unit).rows(sql);
    ASSERT_TRUE(with.has_value() && without.has_value()) << World::last_engine_message();
    std::sort(with->begin(), with->end());
    std::sort(without->begin(), without->end());
    EXPECT_EQ(*with, *without) << "another unit's rows changed: " << sql;
  }
}
}  // namespace discreet::sql
