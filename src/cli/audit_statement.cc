#include "cli/audit_statement.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "cli/policy_option.h"
#include "curator/data.h"
#include "curator/release_job.h"
#include "sql/planner.h"

namespace discreet::cli {
namespace {

Error refused(std::string message) {
  return {ErrorCode::Refused, std::move(message)};
}

// The table itself in place of the view of its file: thousands of runs should not read the file.
Result<void> load_rows(DuckDb& engine, const std::string& table) {
  const std::string name = sql_identifier(table), copy = sql_identifier(table + " loaded");
  return engine.execute(
      fmt::format("CREATE TABLE {1} AS SELECT * FROM {0}; DROP VIEW {0}; "
                  "ALTER TABLE {1} RENAME TO {0}",
                  name, copy));
}

// Every row t0 of the table, and whose it is.
struct UnitRows {
  std::string from, unit;
};
UnitRows unit_rows(const catalog::Table& table) {
  UnitRows rows{sql_identifier(table.name) + " AS t0", ""};
  for (std::size_t i = 0; i < table.unit.joins.size(); ++i) {
    const catalog::Link& link = table.unit.joins[i];
    rows.from +=
        fmt::format(" JOIN {} AS t{} ON t{}.{} = t{}.{}", sql_identifier(link.table), i + 1, i,
                    sql_identifier(link.column), i + 1, sql_identifier(link.target_column));
  }
  rows.unit = fmt::format(
      "CAST(t{}.{} AS VARCHAR)", table.unit.joins.size(),
      sql_identifier(table.unit.joins.empty() ? table.unit.column : table.unit.joined_column));
  return rows;
}

// Whoever has most rows in the first table: where a bound is missing, this person shows it.
Result<std::string> busiest_unit(DuckDb& engine, const catalog::Table& table) {
  const UnitRows whose = unit_rows(table);
  DISCREET_TRY(DuckDbRows rows,
               engine.query(fmt::format("SELECT {0} FROM {1} WHERE {0} IS NOT NULL GROUP BY 1 "
                                        "ORDER BY count(*) DESC, 1 LIMIT 1",
                                        whose.unit, whose.from)));
  DISCREET_TRY(const auto chunk, rows.next());
  if (!chunk) return refused("The table has no rows, so nobody can be taken out.");
  return std::string(chunk->varchar(0, 0));
}

Result<void> take_out(DuckDb& engine, const catalog::Table& table, const std::string& unit) {
  const std::string name = sql_identifier(table.name);
  if (table.unit.kind == catalog::Unit::Kind::Row)
    return engine.execute(
        fmt::format("DELETE FROM {0} WHERE rowid = (SELECT max(rowid) FROM {0})", name));
  const UnitRows whose = unit_rows(table);
  return engine.execute(
      fmt::format("DELETE FROM {} WHERE rowid IN (SELECT t0.rowid FROM {} WHERE {} = {})", name,
                  whose.from, whose.unit, sql_literal(unit)));
}

// What is looked at: the total of every numeric aggregate over all groups, in steps of a fifth of
// its error, and the number of groups.
std::vector<double> views_of(const ReleasedTable& table) {
  std::vector<double> views = {static_cast<double>(table.keys.size())};
  for (const ReleasedColumn& column : table.aggregates) {
    double total = 0;
    for (const Cell& cell : column.values)
      if (const auto* number = std::get_if<double>(&cell)) total += *number;
    for (const auto& list : column.lists)
      for (const double number : list) total += number;
    views.push_back(total);
  }
  return views;
}

double typical_error(const ReleasedTable& table, std::size_t view) {
  if (view == 0) return 5;
  double largest = 0;
  for (const auto& error : table.aggregates[view - 1].error95)
    if (error && std::isfinite(*error)) largest = std::max(largest, *error);
  return largest > 0 ? largest : 5;
}

}  // namespace

Result<AuditReport> audit_statement(const StatementAudit& asked, RandomSource& random) {
  DISCREET_TRY(const catalog::Policy policy, load_policy(asked.policy));
  DISCREET_TRY(Data with, Data::open(policy, nullptr));
  DISCREET_TRY(Data without, Data::open(policy, nullptr));
  if (with.is_remote())
    return Error{ErrorCode::Refused,
                 "audit of a statement changes its own copy of the data, so it reads files only; "
                 "export the tables to Parquet."};
  DISCREET_TRY(const sql::PlannedQuestion planned, sql::Planner(policy, with).plan(asked.sql));
  if (planned.releases.size() != 1)
    return refused("An audit takes a statement that makes one private release; this one makes " +
                   std::to_string(planned.releases.size()) + ".");
  const sql::Release& release = planned.releases.front();
  DISCREET_TRY(const ReleaseJob job, ReleaseJob::make(release, asked.claim));

  std::vector<const catalog::Table*> tables;
  for (const catalog::Table& table : policy.tables())
    if (!table.is_public() &&
        std::find(release.tables.begin(), release.tables.end(), table.name) != release.tables.end())
      tables.push_back(&table);
  // Tables that learn their unit from others first, while those others still have it.
  std::stable_sort(tables.begin(), tables.end(), [](const auto* a, const auto* b) {
    return a->unit.joins.size() > b->unit.joins.size();
  });
  std::string unit = asked.unit;
  for (const catalog::Table* table : tables) {
    DISCREET_TRY_VOID(load_rows(with.local(), table->name));
    DISCREET_TRY_VOID(load_rows(without.local(), table->name));
    if (unit.empty() && table->unit.kind != catalog::Unit::Kind::Row) {
      DISCREET_TRY(unit, busiest_unit(with.local(), *table));
    }
    DISCREET_TRY_VOID(take_out(without.local(), *table, unit));
  }

  DISCREET_TRY(const ReleasedTable sample, job.run(with.local(), random));
  const std::size_t views = 1 + release.aggregates.size();
  std::vector<double> steps;
  for (std::size_t view = 0; view < views; ++view) steps.push_back(typical_error(sample, view) / 5);
  std::vector<std::vector<std::int64_t>> outputs[2];
  outputs[0].resize(views);
  outputs[1].resize(views);
  for (std::uint64_t i = 0; i < asked.trials; ++i)
    for (int side = 0; side < 2; ++side) {
      DISCREET_TRY(const ReleasedTable table,
                   job.run(side == 0 ? with.local() : without.local(), random));
      const std::vector<double> seen = views_of(table);
      for (std::size_t view = 0; view < views; ++view)
        outputs[side][view].push_back(
            std::llround(std::clamp(seen[view] / steps[view], -1e15, 1e15)));
    }

  AuditOptions options;
  options.delta = asked.claim.delta.value();
  options.confidence = 1 - 1e-7 / static_cast<double>(views);  // all looks together
  AuditReport best{asked.claim.epsilon.value(), options.delta, -1, "", false};
  for (std::size_t view = 0; view < views; ++view) {
    const AuditResult found = audit_outputs(outputs[0][view], outputs[1][view], options);
    if (found.lower_bound <= best.lower_bound) continue;
    best.lower_bound = found.lower_bound;
    best.event = fmt::format(
        "{}: {}", view == 0 ? "number of groups" : "total of " + release.aggregates[view - 1].text,
        found.event);
  }
  best.refuted = best.lower_bound > best.claimed;
  return best;
}

}  // namespace discreet::cli
