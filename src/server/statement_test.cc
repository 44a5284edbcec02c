#include "server/statement.h"

#include <gtest/gtest.h>

namespace discreet::server {
namespace {

StatementKind kind(const std::string& sql) {
  const auto statement = classify(sql);
  EXPECT_TRUE(statement) << sql;
  return statement ? statement->kind : StatementKind::Empty;
}

TEST(StatementTest, QuestionsAreToldFromEverythingElse) {
  EXPECT_EQ(kind("select count(*) from people"), StatementKind::Question);
  EXPECT_EQ(kind("with x as (select 1) select count(*) from x, people"), StatementKind::Question);
  EXPECT_EQ(kind("select count(*) from people where name = 'pg_class'"), StatementKind::Question);
  EXPECT_EQ(kind("select 1"), StatementKind::Catalog);
  EXPECT_EQ(kind("select version()"), StatementKind::Catalog);
  EXPECT_EQ(kind("SELECT * FROM pg_catalog.pg_class"), StatementKind::Catalog);
  EXPECT_EQ(kind("select * from discreet.budget"), StatementKind::Catalog);
  EXPECT_EQ(kind("SELECT * FROM unnest(current_schemas(true))"), StatementKind::Catalog);
  EXPECT_EQ(kind("select n from (select count(*) as n from people) x"), StatementKind::Question);
  EXPECT_EQ(kind("drop table people"), StatementKind::Question);  // which the planner refuses
  EXPECT_EQ(kind(" -- nothing\n ; "), StatementKind::Empty);
  EXPECT_EQ(kind("begin isolation level serializable"), StatementKind::Begin);
  EXPECT_EQ(kind("rollback to savepoint a"), StatementKind::Accepted);
  EXPECT_EQ(kind("explain (format json) select 1"), StatementKind::Explain);
}

TEST(StatementTest, SemicolonsInsideStringsAndCommentsDoNotSplit) {
  EXPECT_EQ(split_statements("select 'a;b' /* ; */; select \"c;d\" -- ;\n;;"),
            (std::vector<std::string>{"select 'a;b' /* ; */", " select \"c;d\" -- ;\n"}));
  EXPECT_TRUE(split_statements(" ; ").empty());
}

TEST(StatementTest, SettingsHaveNamesAndValues) {
  const auto set = classify("SET SESSION Discreet.Epsilon TO '0.5'").value();
  EXPECT_EQ(set.setting, "discreet.epsilon");
  EXPECT_EQ(set.value, "0.5");
  EXPECT_EQ(classify("set discreet.epsilon = 1e-3").value().value, "1e-3");
  EXPECT_EQ(classify("set time zone 'UTC'").value().setting, "timezone");
  EXPECT_FALSE(classify("set x = default").value().has_value);
  EXPECT_EQ(classify("show transaction isolation level").value().setting, "transaction_isolation");
  EXPECT_FALSE(classify("set"));
}

TEST(StatementTest, CopyGivesOutQuestionsOnly) {
  const auto copy =
      classify("COPY (select f(1) from people) TO STDOUT WITH (FORMAT csv, HEADER)").value();
  EXPECT_EQ(copy.kind, StatementKind::Copy);
  EXPECT_EQ(copy.sql, "select f(1) from people");
  EXPECT_TRUE(copy.copy.csv && copy.copy.header);
  EXPECT_EQ(copy.copy.delimiter, ',');
  EXPECT_FALSE(classify("copy people to stdout"));
  EXPECT_FALSE(classify("copy (select 1) to '/tmp/x'"));
  EXPECT_FALSE(classify("copy (select 1) to program 'sh'"));
  EXPECT_FALSE(classify("copy people from stdin"));
  EXPECT_FALSE(classify("copy (drop table x) to stdout").has_value() &&
               classify("copy (drop table x) to stdout")->inner != StatementKind::Question);
}

TEST(StatementTest, ParametersAreCountedOutsideStrings) {
  EXPECT_EQ(parameter_count("select $2, '$7', $1"), 2U);
  EXPECT_EQ(parameter_count("select 1"), 0U);
}

TEST(StatementTest, AnErrorFallsApartIntoMessageHintAndPosition) {
  const auto parts = parts_of(
      {ErrorCode::Refused, "the result would be rows (at character 8: age). Aggregate them."});
  EXPECT_EQ(parts.message, "the result would be rows: age");
  EXPECT_EQ(parts.hint, "Aggregate them.");
  EXPECT_EQ(parts.position, 8);
  EXPECT_EQ(parts_of({ErrorCode::Refused, "no position. None."}).message, "no position. None.");
}

}  // namespace
}  // namespace discreet::server
