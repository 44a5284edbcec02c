// Audits of whole statements: ReleaseJob::run on data with and without the person who has most
// rows. False-alarm rate 1e-7 for each audit.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "curator/release_job.h"
#include "engines/duckdb/database.h"
#include "sql/planner.h"
#include "support/seeded_random.h"

namespace discreet {

inline constexpr char kAuditPolicy[] = R"(
[tables.people]
source = "people.csv"
unit = "person"
max_rows_per_unit = 1
[tables.people.columns]
x = { range = [0, 3] }
sex = { values = ["F", "M"] }
[tables.visits]
source = "visits.csv"
unit = "person -> people.person"
[tables.visits.columns]
x = { range = [0, 3] }
sex = { values = ["F", "M"] }
[tables.calls]
source = "calls.csv"
unit = "person -> people.person"
[tables.calls.columns]
x = { range = [0, 3] }
[tables.days]
source = "days.csv"
unit = "person -> people.person"
[tables.days.columns]
d = { range = [0, 29] }
x = { range = [0, 3] }
[tables.answers]
source = "answers.csv"
unit = "row"
[tables.answers.columns]
x = { range = [0, 3] }
y = { range = [0, 3] }
[budgets.default]
epsilon = "unlimited"
delta = "unlimited"
)";

// Forty others have a row each, enough for the search to find a bound of about one row. Person 9
// has one row of people, eight visits in two towns of their own, most calls, and the last answer.
inline constexpr char kRows[] = R"(
CREATE TABLE people AS SELECT i AS person, i % 3 AS x, CASE i WHEN 9 THEN 'F' ELSE 'M' END AS sex,
  CASE i WHEN 9 THEN 'here' ELSE 'there' END AS town,
  CASE i % 3 WHEN 0 THEN 'Wide' WHEN 1 THEN 'Long' ELSE 'Broad' END AS street FROM range(41) t(i);
CREATE TABLE visits AS SELECT person, 3 AS x, sex, town FROM people WHERE person <> 9;
INSERT INTO visits SELECT 9, 3, 'F', CASE WHEN i < 4 THEN 'here' ELSE 'away' END FROM range(8) t(i);
CREATE TABLE calls AS SELECT i % 6 + 4 AS person, CASE WHEN i % 6 = 5 THEN 3 - i // 12 ELSE 0 END AS x
  FROM range(24) t(i) WHERE i % 6 = 5 OR i < 1;
CREATE TABLE days AS SELECT i AS person, d, CASE i WHEN 9 THEN 3 ELSE 1 END AS x
  FROM range(41) t(i), range(30) u(d);
CREATE TABLE answers AS SELECT CASE i WHEN 9 THEN 3 ELSE 0 END AS x,
  CASE WHEN i % 2 = 1 THEN i // 3 END AS y FROM range(10) t(i);
)";
inline constexpr char kWithoutNine[] =
    "DELETE FROM people WHERE person = 9; DELETE FROM visits WHERE person = 9; "
    "DELETE FROM calls WHERE person = 9; DELETE FROM days WHERE person = 9; DELETE FROM answers "
    "WHERE x = 3;";

inline DuckDb engine_with(const std::string& rows) {
  DuckDbSettings settings;
  settings.threads = 1;
  DuckDb engine = DuckDb::open(std::move(settings)).value();
  EXPECT_TRUE(engine.execute(rows));
  return engine;
}

inline sql::PlannedQuestion plan(const std::string& text) {
  static const auto policy =
      catalog::Policy::parse(kAuditPolicy, "policy.toml", {.sources_exist = false}).value();
  sql::FixedSchema schema;
  const std::vector<sql::SchemaColumn> columns = {
      {"person", "BIGINT"}, {"x", "BIGINT"}, {"sex", "VARCHAR"}, {"town", "VARCHAR"}};
  auto with_street = columns;
  with_street.push_back({"street", "VARCHAR"});
  schema.add("people", with_street);
  schema.add("calls", {{"person", "BIGINT"}, {"x", "BIGINT"}});
  schema.add("visits", columns);
  schema.add("days", {{"person", "BIGINT"}, {"d", "BIGINT"}, {"x", "BIGINT"}});
  schema.add("answers", {{"x", "BIGINT"}, {"y", "BIGINT"}});
  auto planned = sql::Planner(policy, schema).plan(text);
  EXPECT_TRUE(planned) << planned.error().message;
  return std::move(planned).value();
}

// What the release shows of person 9, as a number: all keys in the order in which they leave, and
// the first group's value to `grain`. Coarser than the release, which only weakens the audit.
inline std::int64_t outcome(const ReleasedTable& table, double grain) {
  std::int64_t code = 0;
  for (const auto& tuple : table.keys)
    for (const Cell& key : tuple)
      if (const auto* text = std::get_if<std::string>(&key)) code = code * 16 + text->front() % 16;
  const auto& values = table.aggregates.front().values;
  if (values.empty()) return -1;
  const auto* number = std::get_if<double>(&values.front());
  const double value =
      number ? *number : static_cast<double>(std::get<std::int64_t>(values.front()));
  return code * 256 + std::llround(std::clamp(value / grain, -100.0, 100.0));
}

// Engine statements are exact and the same in every run: their rows are kept in tables, which
// makes a run several times as fast and changes nothing that is audited.
inline sql::Release kept_in_tables(sql::Release release, DuckDb& with, DuckDb& without,
                                   const std::string& prefix = "kept") {
  int count = 0;
  const auto keep = [&](std::string& statement) {
    const std::string name = prefix + "_" + std::to_string(++count);
    for (DuckDb* engine : {&with, &without})
      EXPECT_TRUE(engine->execute("CREATE OR REPLACE TABLE " + name + " AS " + statement));
    statement = "FROM " + name;
  };
  keep(release.partials_sql);
  keep(release.rows_sql);
  if (release.totals_sql) keep(*release.totals_sql);
  for (auto& stream : release.streams) keep(stream.sql);
  return release;
}

class StatementAuditTest : public ::testing::Test {
 protected:
  using Outcome = std::function<std::int64_t(const ReleasedTable&)>;

  double audit(const sql::Release& planned, ApproxDp claim, double grain = 1) {
    return audit(planned, claim, [grain](const ReleasedTable& t) { return outcome(t, grain); });
  }
  double audit(const sql::Release& planned, ApproxDp claim, const Outcome& shown,
               std::uint64_t trials = 2400) {
    const sql::Release release = kept_in_tables(planned, with_, without_);
    const auto job = ReleaseJob::make(release, claim);
    EXPECT_TRUE(job) << job.error().message;
    const auto run_on = [&](DuckDb& engine) {
      return [&](RandomSource& random) {
        const auto table = job->run(engine, random);
        EXPECT_TRUE(table) << table.error().message;
        return shown(*table);
      };
    };
    AuditOptions options;
    options.trials = trials;
    options.confidence = 1 - 1e-7;
    options.delta = claim.delta.value();
    SeededRandom random(20261117);
    const auto found = audit_epsilon(run_on(with_), run_on(without_), options, random);
    std::cout << "at least " << found.lower_bound << " (" << found.event << ")\n";
    return found.lower_bound;
  }

  double audit(const std::string& text, double grain = 1, double delta = 0) {
    std::cout << text << ": ";
    const auto planned = plan(text);
    EXPECT_EQ(planned.releases.size(), 1U);
    return audit(planned.releases.front(), claim(delta), grain);
  }

  static ApproxDp claim(double delta = 0) {
    return {Epsilon::make(1).value(), Delta::make(delta).value()};
  }

  DuckDb with_ = engine_with(kRows);
  DuckDb without_ = engine_with(std::string(kRows) + kWithoutNine);
};

}  // namespace discreet
