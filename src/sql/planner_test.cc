#include "sql/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sql/bounded_totals.h"
#include "sql/bounds.h"
#include "sql/emit.h"
#include "sql/engine_dialect.h"
#include "sql/explain.h"

namespace discreet::sql {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* const kPolicy = R"(
bounds = "auto"
[tables.people]
source = "p.parquet"
unit = "id"
[tables.people.columns]
age = { range = [0, 120] }
height = { range = [0.5, 2.5] }
town = {}
ssn = { hidden = true }
[tables.trips]
source = "t.parquet"
unit = "person -> people.id"
[tables.towns]
source = "w.csv"
public = true
key = "town"
[tables.cards]
source = "c.parquet"
unit = "id -> people.id"
max_rows_per_unit = 1
[tables.readings]
source = "r.parquet"
unit = "row"
[tables.readings.columns]
value = { range = [0, 9] }
[budgets.default]
epsilon = 1.0
delta = 1e-7
)";

class PlannerTest : public testing::Test {
 protected:
  PlannerTest()
      : policy_(catalog::Policy::parse(kPolicy, "test.toml", {.sources_exist = false}).value()),
        planner_(policy_, schema_) {
    schema_.add("people", {{"id", "BIGINT"},
                           {"age", "INTEGER"},
                           {"height", "DOUBLE"},
                           {"town", "VARCHAR"},
                           {"ssn", "VARCHAR"},
                           {"tags", "VARCHAR[]"}});
    schema_.add("trips", {{"person", "BIGINT"}, {"km", "DECIMAL(10,1)"}});
    schema_.add("cards", {{"id", "BIGINT"}, {"town", "VARCHAR"}, {"points", "INTEGER"}});
    schema_.add("readings", {{"value", "INTEGER"}, {"place", "VARCHAR"}});
    schema_.add("towns", {{"town", "VARCHAR"}, {"size", "INTEGER"}});
  }
  PlannedQuestion plan(const std::string& text) { return planner_.plan(text).value(); }
  std::string refusal(const std::string& text) {
    const auto planned = planner_.plan(text);
    return planned ? "planned" : planned.error().message;
  }

  catalog::Policy policy_;
  FixedSchema schema_;
  Planner planner_;
};

TEST_F(PlannerTest, RefusalsNameThePieceItsPlaceAndARemedy) {
  const auto message = refusal("SELECT count(*) FROM people WHERE random() < 0.5");
  EXPECT_THAT(message, HasSubstr("at character 35: random"));
  EXPECT_THAT(message, HasSubstr("constant"));
}

TEST_F(PlannerTest, AHiddenColumnReachesNoStatementAndLooksAbsent) {
  auto absent = refusal("SELECT count(zzz) FROM people");
  for (auto at = absent.find("zzz"); at != std::string::npos; at = absent.find("zzz"))
    absent.replace(at, 3, "ssn");
  EXPECT_EQ(refusal("SELECT count(ssn) FROM people"), absent);
  const auto question = plan("SELECT count(*) FROM (SELECT * FROM people) t");
  EXPECT_THAT(question.releases.at(0).partials_sql, Not(HasSubstr("ssn")));
}

TEST_F(PlannerTest, AColumnOfANestedTypeCannotBeNamed) {
  EXPECT_THAT(refusal("SELECT count(tags) FROM people"), HasSubstr("type that cannot be used"));
  EXPECT_EQ(plan("SELECT count(*) FROM people").releases.size(), 1u);
}

TEST_F(PlannerTest, ValuesAreClampedIntegersInTheStatement) {
  const auto release =
      plan("SELECT sum(age), sum(km) FROM people JOIN trips ON id = person").releases.at(0);
  EXPECT_THAT(release.partials_sql,
              HasSubstr("CASE WHEN v1 < 0 THEN 0 WHEN v1 > 120 THEN 120 ELSE v1 END"));
  EXPECT_EQ(release.values.at(0).origin, BoundsOrigin::Declared);
  EXPECT_EQ(release.values.at(0).upper, 120);
  EXPECT_EQ(release.values.at(1).origin, BoundsOrigin::Technical);
  EXPECT_EQ(release.values.at(1).grid, (Grid{Grid::Base::Ten, 1}));
}

TEST_F(PlannerTest, ARealIsPutOnAFineBinaryGrid) {
  const auto value = plan("SELECT avg(height) FROM people").releases.at(0).values.at(0);
  EXPECT_EQ(value.grid.base, Grid::Base::Two);
  EXPECT_GE(value.grid.digits, 38);
  EXPECT_DOUBLE_EQ(static_cast<double>(value.lower) * value.grid.unit(), 0.5);
  EXPECT_DOUBLE_EQ(static_cast<double>(value.upper) * value.grid.unit(), 2.5);
}

TEST_F(PlannerTest, ProductsOfBoundedValuesFitSixtyTwoBits) {
  for (const char* sql :
       {"SELECT var_pop(height) FROM people", "SELECT corr(age, height) FROM people",
        "SELECT stddev(age * 1000000) FROM people"}) {
    const auto question = plan(sql);
    for (const Value& value : question.releases.at(0).values) {
      EXPECT_LE(value.upper, std::int64_t{1} << 31) << sql;
      EXPECT_GE(value.lower, -(std::int64_t{1} << 31)) << sql;
    }
  }
}

TEST_F(PlannerTest, SharedValuesAndFeaturesAreComputedOnce) {
  const auto release =
      plan("SELECT count(*), sum(age), avg(age), sum(age) + 1 FROM people").releases.at(0);
  EXPECT_EQ(release.values.size(), 1u);
  EXPECT_EQ(release.features.size(), 3u);  // rows, count of age, sum of age
  EXPECT_EQ(release.aggregates.size(), 3u);
}

TEST_F(PlannerTest, OutputColumnsSayWhatTheyAreComputedFrom) {
  const auto question =
      plan("SELECT town, count(*) AS n, sum(age) / count(*) AS mean FROM people GROUP BY town");
  ASSERT_EQ(question.columns.size(), 3u);
  EXPECT_TRUE(question.columns[0].from.empty());
  EXPECT_EQ(question.columns[1].from, (std::vector<std::string>{"a1"}));
  EXPECT_TRUE(question.columns[1].is_plain);
  EXPECT_EQ(question.columns[2].from, (std::vector<std::string>{"a2", "a1"}));
  EXPECT_FALSE(question.columns[2].is_plain);
}

TEST_F(PlannerTest, AFinalStatementReadsNoPrivateTable) {
  for (const char* sql :
       {"SELECT town, count(*) FROM people GROUP BY town HAVING count(*) > 5 ORDER BY 2 LIMIT 3",
        "SELECT count(*) FROM people WHERE age > (SELECT avg(age) FROM people)",
        "WITH t AS (SELECT town, count(*) AS n FROM people GROUP BY town) SELECT w.size, t.n FROM "
        "t JOIN towns w ON w.town = t.town"}) {
    const auto question = plan(sql);
    EXPECT_THAT(question.final_sql, Not(HasSubstr("\"people\""))) << sql;
    EXPECT_THAT(question.final_sql, HasSubstr("released_")) << sql;
  }
}

TEST_F(PlannerTest, WhatOnlyPicksColumnsIsSeen) {
  const auto picked = [&](const char* sql) { return plan(sql).picked; };
  using Columns = std::vector<std::size_t>;  // keys, aggregates, their errors
  EXPECT_EQ(picked("SELECT count(*) FROM people"), (Columns{0, 1}));
  EXPECT_EQ(picked("SELECT count(*) AS n, town FROM people GROUP BY town"), (Columns{1, 0, 2}));
  EXPECT_EQ(picked("SELECT sum(age), town, count(*) FROM people GROUP BY town"),
            (Columns{1, 0, 2, 3, 4}));
  EXPECT_EQ(picked("SELECT n FROM (SELECT town AS t, count(*) AS n FROM people GROUP BY town) x"),
            (Columns{1, 2}));
  for (const char* sql :
       {"SELECT town, count(*) FROM people GROUP BY town ORDER BY town",
        "SELECT town, count(*) FROM people GROUP BY town LIMIT 3",
        "SELECT town, count(*) FROM people GROUP BY town HAVING count(*) > 5",
        "SELECT DISTINCT n FROM (SELECT town, count(*) AS n FROM people GROUP BY town) x",
        "SELECT count(*) + 1 FROM people", "SELECT 1, count(*) FROM people",
        "SELECT town, count(*) FROM people GROUP BY ROLLUP (town)",
        "SELECT sum(n) FROM (SELECT town, count(*) AS n FROM people GROUP BY town) x",
        "SELECT town FROM towns"})
    EXPECT_FALSE(picked(sql).has_value()) << sql;
}

TEST_F(PlannerTest, DeclaredBoundsCanBeInsistedOn) {
  std::string strict(kPolicy);
  strict.replace(strict.find("\"auto\""), 6, "\"declared\"");
  const auto policy = catalog::Policy::parse(strict, "test.toml", {.sources_exist = false}).value();
  const Planner planner(policy, schema_);
  EXPECT_TRUE(planner.plan("SELECT sum(age) FROM people").has_value());
  const auto refused = planner.plan("SELECT sum(km) FROM trips");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("insists on declared bounds"));
  EXPECT_TRUE(planner.plan("SELECT sum(km, contribution_bounds_per_row => (0, 10)) FROM trips")
                  .has_value());
}

TEST_F(PlannerTest, ThePureSqlFormClipsAndLimitsGroups) {
  const auto release =
      plan("SELECT town, count(*), sum(age) FROM people GROUP BY town").releases.at(0);
  const std::vector<std::pair<std::int64_t, std::int64_t>> clip(release.features.size(), {0, 5});
  const auto sql = bounded_totals_sql(release, {.groups_max = 3, .clip = clip, .key = "k'y"});
  EXPECT_THAT(sql, HasSubstr("place <= 3"));
  EXPECT_THAT(sql, HasSubstr("'k''y'"));
  EXPECT_THAT(sql, HasSubstr("least(greatest(f1, 0), 5)"));
}

TEST_F(PlannerTest, OnlyACountOfAllRowsIsKnownFromATablesSize) {
  for (const char* all :
       {"SELECT count(*) FROM readings", "SELECT count(*), count(*) + 1 FROM readings",
        "SELECT count(*) FROM (SELECT value + 1 AS v FROM readings) t",
        "SELECT count(*) FROM readings HAVING count(*) > 3"})
    EXPECT_EQ(plan(all).releases.at(0).counted_table, "readings") << all;
  for (const char* some :
       {"SELECT count(*) FROM readings WHERE value > 3", "SELECT count(value) FROM readings",
        "SELECT count(*) FILTER (WHERE value > 3) FROM readings",
        "SELECT count(*), count(*) FILTER (WHERE value > 3) FROM readings",
        "SELECT count(*), sum(value) FROM readings", "SELECT avg(value) FROM readings",
        "SELECT value, count(*) FROM readings GROUP BY value",
        "SELECT count(*) FROM (SELECT * FROM readings WHERE value > 3) t",
        "SELECT count(*) FROM readings JOIN towns ON place = town",
        // Rows of nobody are not counted.
        "SELECT count(*) FROM people", "SELECT count(*) FROM cards"})
    EXPECT_FALSE(plan(some).releases.at(0).counted_table.has_value()) << some;
}

TEST_F(PlannerTest, ExplainTellsKeysBoundsAndNotices) {
  const auto question =
      plan("SELECT town, sum(km) FROM people JOIN trips ON id = person GROUP BY town");
  const auto text = explain_text(question);
  EXPECT_THAT(text, HasSubstr("key k1 private"));
  EXPECT_THAT(text, HasSubstr("found privately"));
  EXPECT_THAT(text, HasSubstr("scan trips"));
  EXPECT_THAT(explain_json(question), HasSubstr("\"kind\": \"private\""));
}

/// Column 1 lies between 0 and 120.
FactsTable column_of_ages() {
  FactsTable facts;
  Facts age;
  age.lower = 0;
  age.upper = 120;
  facts.set(1, age);
  return facts;
}

TEST(BoundsTest, IntervalsFollowArithmetic) {
  const FactsTable facts = column_of_ages();
  const auto x = use_column(1, integer_type());
  const auto whole = [](std::int64_t value) {
    return make_scalar(integer_type(), -1, Constant{value});
  };
  const auto range = [&](Function function, ScalarPtr other) {
    const auto known = facts.of(*apply(integer_type(), -1, function, {x, std::move(other)}));
    return std::pair(known.lower, known.upper);
  };
  EXPECT_EQ(range(Function::Add, whole(-20)), std::pair(-20.0, 100.0));
  EXPECT_EQ(range(Function::Subtract, x), std::pair(-120.0, 120.0));
  EXPECT_EQ(range(Function::Multiply, x), std::pair(0.0, 14400.0));
  EXPECT_EQ(range(Function::Multiply, whole(-2)), std::pair(-240.0, 0.0));
  EXPECT_EQ(range(Function::Divide, whole(10)), std::pair(0.0, 12.0));
  EXPECT_EQ(range(Function::Divide, x), std::pair(-120.0, 120.0));
  EXPECT_EQ(range(Function::Modulo, whole(7)), std::pair(0.0, 6.0));
}

TEST(BoundsTest, NestedExpressionsTakeATimeThatGrowsWithTheirLength) {
  const FactsTable facts = column_of_ages();
  // With two looks at every argument the first of these would outlast the sun.
  ScalarPtr negated = use_column(1, integer_type()), summed = negated, compared = negated;
  for (int depth = 0; depth < 100; ++depth) {
    const auto one = make_scalar(integer_type(), -1, Constant{std::int64_t{1}});
    negated = apply(integer_type(), -1, Function::Negate, {negated});
    summed = apply(integer_type(), -1, Function::Add, {summed, one});
    compared = apply(integer_type(), -1, Function::Greatest, {compared, one});
  }
  EXPECT_EQ(facts.of(*negated).upper, 120);
  EXPECT_EQ(facts.of(*summed).upper, 220);
  EXPECT_EQ(facts.of(*compared).lower, 1);
}

TEST(BoundsTest, ConditionsNarrowWhatTheySpeakOf) {
  FactsTable facts;
  const auto x = use_column(1, integer_type());
  const auto y = use_column(2, text_type());
  facts.assume(*apply(boolean_type(), -1, Function::Greater,
                      {x, make_scalar(integer_type(), -1, Constant{std::int64_t{17}})}));
  facts.assume(*apply(boolean_type(), -1, Function::Greater,
                      {make_scalar(integer_type(), -1, Constant{std::int64_t{65}}), x}));
  facts.assume(*apply(boolean_type(), -1, Function::In,
                      {y, make_scalar(text_type(), -1, Constant{std::string("a")}),
                       make_scalar(text_type(), -1, Constant{std::string("b")})}));
  EXPECT_EQ(facts.of(*x).lower, 18);
  EXPECT_EQ(facts.of(*x).upper, 64);
  EXPECT_EQ(facts.of(*y).values->size(), 2u);
}

TEST(EmitTest, OverflowIsGuardedOnceAndTextIsQuoted) {
  const auto x = use_column(1, integer_type());
  const auto product = apply(integer_type(), -1, Function::Multiply,
                             {x, apply(integer_type(), -1, Function::Add, {x, x})});
  EXPECT_EQ(emit_scalar(*product),
            "TRY((CAST(c1 AS BIGINT) * (CAST(c1 AS BIGINT) + CAST(c1 AS BIGINT))))");
  EXPECT_EQ(quote_text("it's"), "'it''s'");
  EXPECT_EQ(quote_name("a\"b"), "\"a\"\"b\"");
}

TEST_F(PlannerTest, BoundsPerGroupAreBoundsEnough) {
  const std::string sum =
      "SELECT WITH DIFFERENTIAL_PRIVACY SUM(km, contribution_bounds_per_group => (0, 9)) FROM "
      "trips";
  EXPECT_TRUE(plan(sum).notices.empty());
  EXPECT_THAT(plan("SELECT sum(km) FROM trips").notices.at(0), HasSubstr("found privately"));
  std::string strict = kPolicy;
  strict.replace(strict.find("\"auto\""), 6, "\"declared\"");
  const auto policy = catalog::Policy::parse(strict, "test.toml", {.sources_exist = false}).value();
  EXPECT_TRUE(Planner(policy, schema_).plan(sum));
  EXPECT_TRUE(Planner(policy, schema_).plan("SELECT count(km) FROM trips"));
  EXPECT_FALSE(Planner(policy, schema_).plan("SELECT sum(km) FROM trips"));
}

TEST_F(PlannerTest, OneRowAUnitSurvivesJoinsWithPublicTablesOnTheirKeys) {
  const auto rows = [&](const std::string& from) {
    return plan("SELECT count(*) FROM " + from).releases.at(0).bounds.rows_max;
  };
  EXPECT_EQ(rows("cards"), 1U);
  EXPECT_EQ(rows("cards c JOIN towns t ON c.town = t.town"), 1U);
  EXPECT_EQ(rows("cards c LEFT JOIN towns t ON c.town = t.town"), 1U);
  EXPECT_EQ(rows("cards c, (SELECT max(size) AS most FROM towns) t"), 1U);
  EXPECT_EQ(rows("cards c JOIN towns t ON c.points = t.size"), std::nullopt);
  EXPECT_EQ(rows("cards c, towns t"), std::nullopt);
  EXPECT_EQ(rows("cards c JOIN towns t ON t.town = t.town"), std::nullopt);
}

TEST_F(PlannerTest, CountsAveragesAndVariancesOfAColumnShareTheirSums) {
  const auto release =
      plan("SELECT count(age), avg(age), var_pop(age), sum(age) FROM people").releases.at(0);
  EXPECT_EQ(release.values.size(), 1U);
  EXPECT_EQ(release.features.size(), 3U);
}

/// The same tables, in Spark.
class SparkSchema final : public SchemaProvider {
 public:
  SparkSchema(const SchemaProvider& schema, TableFiles files)
      : schema_(schema),
        dialect_(make_spark_dialect(
            {{"readings", {"`d`.`readings`", {{"value", "integer"}, {"place", "string"}}}},
             {"trips", {"`d`.`trips`", {{"person", "long"}, {"km", "decimal(10,1)"}}}}},
            true, files)) {}
  Result<std::vector<SchemaColumn>> columns(const std::string& table) const override {
    return schema_.columns(table);
  }
  const EngineDialect* dialect() const override { return dialect_.get(); }

 private:
  const SchemaProvider& schema_;
  std::unique_ptr<EngineDialect> dialect_;
};

TEST_F(PlannerTest, WhatIsReadFromSparksFilesDependsOnWhereTheyAre) {
  using enum TableFiles;
  for (const TableFiles files : {Nowhere, WithinReach, Sent, Here}) {
    const SparkSchema spark(schema_, files);
    const Planner planner(policy_, spark);
    const auto over_files = [&](const std::string& text) {
      return planner.plan(text).value().releases.at(0).over_files;
    };
    const auto known = over_files("SELECT avg(value) FROM readings");
    EXPECT_EQ(!known.totals_sql.empty(), files == Sent || files == Here);
    EXPECT_EQ(known.totals_only_again, files == Sent);
    EXPECT_EQ(known.tables, std::vector<std::string>{"readings"});
    // Groups that nobody knows may be too many.
    EXPECT_EQ(over_files("SELECT place, count(*) FROM readings GROUP BY place").totals_sql, "");
    // Rows to be added up per person.
    const auto people = over_files("SELECT sum(km) FROM trips");
    EXPECT_EQ(people.totals_sql, "");
    EXPECT_EQ(!people.rows.sql.empty(), files != Nowhere);
    // What was released before in the question is in no file.
    const auto both = planner
                          .plan(
                              "SELECT count(*) FROM readings WHERE value > (SELECT avg(value) "
                              "FROM readings)")
                          .value();
    ASSERT_EQ(both.releases.size(), 2U);
    EXPECT_TRUE(both.releases[1].over_files.tables.empty());
    EXPECT_EQ(both.releases[1].over_files.totals_sql, "");
  }
}

}  // namespace
}  // namespace discreet::sql
