#include "sql/dialect.h"

#include <gtest/gtest.h>

#include "sql/parse.h"

namespace discreet::sql {
namespace {

TEST(DialectTest, LiftedTextKeepsItsLengthSoPositionsStayTrue) {
  const std::string statement =
      "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*, "
      "contribution_bounds_per_group => (0, 2)) FROM t";
  const auto lifted = lift_dialect(statement).value();
  EXPECT_EQ(lifted.text.size(), statement.size());
  EXPECT_EQ(lifted.text.find("FROM t"), statement.find("FROM t"));
  ASSERT_EQ(lifted.clauses.size(), 1u);
  EXPECT_EQ(lifted.clauses[0].options.epsilon, 0.5);
  EXPECT_EQ(lifted.text.find("DIFFERENTIAL_PRIVACY"), std::string::npos);
}

TEST(DialectTest, StringsCommentsAndQuotedNamesAreLeftAlone) {
  for (const std::string text : {"SELECT 'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (x = 1)'",
                                 "SELECT 1 -- SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (x = 1)",
                                 "SELECT 1 /* SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (x = 1) */",
                                 "SELECT \"SELECT WITH DIFFERENTIAL_PRIVACY\" FROM t"}) {
    const auto lifted = lift_dialect(text);
    ASSERT_TRUE(lifted.has_value()) << text;
    EXPECT_EQ(lifted->text, text);
    EXPECT_TRUE(lifted->clauses.empty());
  }
}

TEST(DialectTest, EveryOptionIsRead) {
  const auto lifted =
      lift_dialect(
          "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e-2, delta = 1E-9, "
          "max_rows_contributed = 4, privacy_unit_column = \"My Id\", "
          "min_privacy_units_per_group = 10, group_selection_strategy = PUBLIC_GROUPS) 1")
          .value();
  const auto& options = lifted.clauses.at(0).options;
  EXPECT_EQ(options.epsilon, 0.01);
  EXPECT_EQ(options.delta, 1e-9);
  EXPECT_EQ(options.max_rows_contributed, 4u);
  EXPECT_EQ(options.privacy_unit_column, "My Id");
  EXPECT_EQ(options.min_privacy_units_per_group, 10u);
  EXPECT_EQ(options.group_selection, GroupSelection::PublicGroups);
}

TEST(DialectTest, ZeroBytesAndBrokenTextAreRefused) {
  EXPECT_FALSE(lift_dialect(std::string("SELECT 1\0", 9)).has_value());
  EXPECT_FALSE(lift_dialect("SELECT 'open").has_value());
  EXPECT_FALSE(lift_dialect("SELECT '\xff'").has_value());
  EXPECT_FALSE(lift_dialect("SELECT '\xc0\xaf'").has_value());
  EXPECT_FALSE(lift_dialect("SELECT '\xed\xa0\x80'").has_value());
  EXPECT_TRUE(lift_dialect("SELECT '\xc2\xb1 \xf0\x9f\x92\xa3'").has_value());
}

TEST(ParseTest, NormalisedTextIgnoresSpacingCaseAndComments) {
  const auto text = [](const std::string& sql) {
    return parse_statement(Source(sql)).value().normalised_text;
  };
  EXPECT_EQ(text("SELECT  Count(*)\nFROM T -- all\n;"), text("select count ( * ) from t"));
  EXPECT_NE(text("SELECT 'A'"), text("SELECT 'a'"));
  EXPECT_NE(text("SELECT \"A\""), text("SELECT a"));
  // libpg_query's own deparser drops the value of negative constants, so these would be one
  // question.
  EXPECT_NE(text("SELECT 1 WHERE x > -5"), text("SELECT 1 WHERE x > -6"));
}

TEST(ParseTest, NegativeConstantsKeepTheirValue) {
  const auto statement = parse_statement(Source("SELECT -5, - 7, -2147483648")).value();
  const auto number = [&](std::size_t i) {
    const auto* literal = std::get_if<LiteralExpr>(&statement.query->targets[i].expr->node);
    return literal == nullptr ? std::string("not a constant")
                              : std::get<LiteralExpr::Number>(literal->value).text;
  };
  EXPECT_EQ(number(0), "-5");
  EXPECT_EQ(number(1), "-7");
  EXPECT_EQ(number(2), "-2147483648");
}

TEST(ParseTest, SettingsAndExplainAreTold) {
  const auto set = parse_statement(Source("SET discreet.epsilon = 0.5")).value();
  EXPECT_EQ(set.kind, StatementKind::Set);
  EXPECT_EQ(set.setting, "discreet.epsilon");
  EXPECT_EQ(set.value, "0.5");
  EXPECT_EQ(parse_statement(Source("SHOW discreet.epsilon")).value().kind, StatementKind::Show);
  EXPECT_TRUE(parse_statement(Source("EXPLAIN (FORMAT JSON) SELECT 1")).value().explain_json);
}

TEST(ParseTest, DeepNestingIsRefusedNotACrash) {
  std::string text = "SELECT ";
  for (int i = 0; i < 5000; ++i) text += "(1 + ";
  text += "1";
  for (int i = 0; i < 5000; ++i) text += ")";
  EXPECT_FALSE(parse_statement(Source(text)).has_value());
}

}  // namespace
}  // namespace discreet::sql
