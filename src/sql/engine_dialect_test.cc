#include "sql/engine_dialect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sql/bounds.h"
#include "sql/emit.h"
#include "sql/postgres_phrases_internal.h"

namespace discreet::sql {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<EngineDialect> dialect() {
  PostgresTable table{"\"s\".\"t\"",
                      {{"a", "integer", false},
                       {"b", "numeric(10,2)", false},
                       {"c", "character varying(5)", false},
                       {"d", "timestamp with time zone", false},
                       {"e", "mood", true},
                       {"f", "jsonb", false}}};
  return make_postgres_dialect({{"t", table}});
}

TEST(PostgresDialectTest, EverySubqueryInFromGetsANameOnce) {
  const auto d = dialect();
  const std::string sql =
      "SELECT k1 FROM (SELECT * FROM (SELECT 1 AS k1), (SELECT 2 AS k2)) JOIN ((SELECT 3) UNION "
      "ALL "
      "(SELECT 4)) ON k1 IS DISTINCT FROM (k2) WHERE k1 IN (SELECT 5) AND ') FROM (' <> \"FROM (\"";
  const std::string named = d->statement(sql);
  EXPECT_EQ(
      named,
      "SELECT k1 FROM (SELECT * FROM (SELECT 1 AS k1) AS t1, (SELECT 2 AS k2) AS t2) AS t3 JOIN "
      "((SELECT 3) UNION ALL (SELECT 4)) AS t4 ON k1 IS DISTINCT FROM (k2) WHERE k1 IN (SELECT "
      "5) AND ') FROM (' <> \"FROM (\"");
  EXPECT_EQ(d->statement(named), named);
}

TEST(PostgresDialectTest, TypesHaveTheirNames) {
  EXPECT_EQ(dialect()->statement("SELECT CAST(x AS DOUBLE), CAST(y AS HUGEINT), 'DOUBLE'"),
            "SELECT CAST(x AS double precision), CAST(y AS numeric), 'DOUBLE'");
}

TEST(PostgresDialectTest, ColumnsAreReadAsPlansKnowThem) {
  Scan scan{"t", {{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"e", 5}}, std::nullopt};
  EXPECT_EQ(dialect()->scan(scan, [](ColumnId) { return true; }),
            "SELECT \"a\" AS c1, nullif(\"b\", 'NaN') AS c2, CAST(\"c\" AS text) "
            "COLLATE \"C\" AS c3, (\"d\" AT TIME ZONE 'UTC') AS c4, CAST(\"e\" AS text) COLLATE "
            "\"C\" AS c5 FROM \"s\".\"t\"");
}

TEST(PostgresDialectTest, PlansSeeTheTypesThatTheEmbeddedEngineHas) {
  PostgresTable table{"t",
                      {{"a", "integer", false},
                       {"b", "numeric(10,2)", false},
                       {"u", "uuid", false},
                       {"e", "mood", true},
                       {"n", "numeric", false},
                       {"j", "jsonb", false}}};
  const auto schema = table.schema();
  EXPECT_EQ(schema[0].engine_type, "INTEGER");
  EXPECT_EQ(schema[1].engine_type, "DECIMAL(10,2)");
  EXPECT_EQ(schema[2].engine_type, "VARCHAR");
  EXPECT_EQ(schema[3].engine_type, "VARCHAR");
  EXPECT_FALSE(parse_engine_type(schema[4].engine_type));
  EXPECT_FALSE(parse_engine_type(schema[5].engine_type));
}

TEST(PostgresDialectTest, ArithmeticThatMayOverflowIsGuarded) {
  const auto d = dialect();
  const auto a = use_column(1, integer_type()), b = use_column(2, integer_type());
  const auto x = use_column(3, double_type());
  const auto text = [&](const ScalarPtr& one) { return emit_scalar(*one, nullptr, d.get()); };
  EXPECT_THAT(text(apply(integer_type(), -1, Function::Multiply, {a, b})),
              HasSubstr("least(greatest((CAST(CAST(c1 AS bigint) AS numeric) * CAST(CAST(c2 AS "
                        "bigint) AS numeric))"));
  EXPECT_THAT(text(apply(integer_type(), -1, Function::Divide, {a, b})), HasSubstr("nullif("));
  EXPECT_THAT(text(apply(double_type(), -1, Function::Multiply, {x, x})), HasSubstr("ln(abs(c3))"));
  // A whole number as a real is far from the ends.
  const auto half = make_scalar(double_type(), -1, Constant{0.5});
  EXPECT_EQ(text(apply(double_type(), -1, Function::Multiply, {a, half})),
            "(CAST(CAST(c1 AS bigint) AS double precision) * CAST('0.5' AS double precision))");
}

TEST(PostgresDialectTest, NestedExpressionsAreWrittenOnce) {
  const auto d = dialect();
  ScalarPtr chain = use_column(3, double_type());
  const auto y = use_column(4, double_type());
  for (int i = 0; i < 20; ++i) chain = apply(double_type(), -1, Function::Multiply, {chain, y});
  EXPECT_LT(emit_scalar(*chain, nullptr, d.get()).size(), 40'000U);
}

TEST(PostgresDialectTest, ReleasedTablesTravelInsideTheStatement) {
  const InlineTable table{
      "released_1",
      {{"k1", text_type()}, {"a1", integer_type()}},
      {{std::string("it's"), std::int64_t{-3}}, {std::monostate{}, std::monostate{}}}};
  EXPECT_EQ(
      dialect()->with_tables("SELECT 1", {table}),
      "WITH released_1(k1, a1) AS (VALUES (CAST(CAST('it''s' AS text) AS text), CAST(CAST(-3 AS "
      "bigint) AS bigint)), (CAST(NULL AS text), CAST(NULL AS bigint))) SELECT 1");
  EXPECT_THAT(dialect()->with_tables("SELECT 1", {{"released_1", {{"k1", text_type()}}, {}}}),
              HasSubstr("SELECT CAST(NULL AS text) WHERE false"));
}

// Guards repeat what they guard, so nested ones would double the text and the time at every level.
TEST(EngineDialectTest, NestedExpressionsEndInTimeOrAreTooLong) {
  const std::unique_ptr<EngineDialect> dialects[] = {nullptr, make_postgres_dialect({}),
                                                     make_spark_dialect({})};
  const Function of_one[] = {Function::Negate, Function::Abs, Function::Round, Function::Trunc,
                             Function::Sign,   Function::Ln,  Function::Sqrt,  Function::Exp};
  const Function of_two[] = {Function::Add,      Function::Subtract, Function::Multiply,
                             Function::Divide,   Function::Modulo,   Function::Power,
                             Function::Greatest, Function::Least,    Function::Coalesce,
                             Function::NullIf,   Function::Equal};
  constexpr int kDepth = 60;
  FactsTable facts;
  int too_long = 0;
  for (const auto& dialect : dialects)
    for (const Type type : {integer_type(), double_type()}) {
      const auto x = use_column(1, type);
      const auto write = [&](Function function, bool first, bool second) {
        ScalarPtr nested = x;
        for (int depth = 0; depth < kDepth; ++depth)
          nested = apply(type, -1, function,
                         first && second ? std::vector{nested}
                         : first         ? std::vector{nested, x}
                                         : std::vector{x, nested});
        try {
          static_cast<void>(emit_scalar(*nested, &facts, dialect.get()));
        } catch (const TooLong&) {
          ++too_long;
        }
      };
      for (const Function function : of_one) write(function, true, true);
      for (const Function function : of_two) {
        write(function, true, false);
        write(function, false, true);
      }
    }
  EXPECT_GT(too_long, 0);  // sqrt and power on Spark
  EXPECT_LT(too_long, 30);
}

}  // namespace
}  // namespace discreet::sql
