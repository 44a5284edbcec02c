#include "catalog/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace discreet::catalog {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kTown = R"(
[tables.patients]
source = "town/patients.parquet"
unit   = "patient_id"
[tables.patients.columns]
age    = { range = [0, 120] }
ward   = { values = ["ICU", "ER", "Maternity"] }
zip    = {}
ssn    = { hidden = true }
born   = { range = [1900-01-01, 2026-12-31] }
[tables.visits]
source = "town/visits.parquet"
unit   = "patient_id -> patients.patient_id"
max_rows_per_unit = 20
[tables.tests]
source = "town/tests.parquet"
unit   = "visit_id -> visits.visit_id"
[tables.wards]
source = "town/wards.csv"
public = true
[budgets.default]
epsilon = 4.0
delta   = 1e-7
[analysts.alice]
budget   = { epsilon = 1.0, delta = 1e-8, of = "default" }
)";

Result<Policy> parse(const std::string& text) {
  return Policy::parse(text, "folder/p.toml", {.sources_exist = false});
}

/// What is wrong with a policy that has `addition` after a good beginning of 6 lines.
std::string complaint(const std::string& addition) {
  const auto policy = parse(
      "[budgets.default]\nepsilon = 1\n[tables.people]\nsource = \"people.csv\"\nunit = "
      "\"person_id\"\n\n" +
      addition);
  return policy ? "" : policy.error().message;
}

TEST(PolicyTest, ReadsTheDesignsExample) {
  const auto policy = parse(kTown);
  ASSERT_TRUE(policy) << policy.error().message;
  ASSERT_EQ(policy->tables().size(), 4u);
  const Table& patients = *policy->table("patients");
  EXPECT_EQ(patients.unit.kind, Unit::Kind::Column);
  EXPECT_EQ(patients.unit.column, "patient_id");
  EXPECT_EQ(patients.unit.people, "patients.patient_id");
  EXPECT_EQ(patients.source.kind, SourceKind::Parquet);
  EXPECT_THAT(patients.source.location, ::testing::EndsWith("/folder/town/patients.parquet"));
  EXPECT_EQ(as_number(patients.column("age").range->upper), 120);
  EXPECT_EQ(patients.column("ward").values.size(), 3u);
  EXPECT_TRUE(patients.column("ssn").hidden);
  EXPECT_FALSE(patients.column("never_listed").hidden);
  EXPECT_EQ(to_string(patients.column("born").range->lower), "1900-01-01");
  EXPECT_EQ(policy->table("visits")->max_rows_per_unit, 20u);
  EXPECT_TRUE(policy->table("wards")->is_public());
  EXPECT_EQ(policy->budget("default")->amount.epsilon->value(), 4.0);
  EXPECT_EQ(policy->analyst("alice")->share->delta->value(), 1e-8);
  EXPECT_THAT(policy->ledger_store(), ::testing::EndsWith("/folder/ledger.sqlite"));
  EXPECT_EQ(policy->bounds(), BoundsRule::Auto);
  EXPECT_THAT(policy->warnings(), IsEmpty());
}

TEST(PolicyTest, FollowsLinksToTheTableThatOwnsTheUnit) {
  const auto policy = parse(kTown).value();
  const Unit& visits = policy.table("visits")->unit;
  EXPECT_EQ(visits.column, "patient_id");
  EXPECT_THAT(visits.joins, IsEmpty());
  EXPECT_EQ(visits.owner_table, "patients");
  EXPECT_EQ(visits.people, "patients.patient_id");
  const Unit& tests = policy.table("tests")->unit;
  EXPECT_EQ(tests.column, "") << "the visit is not the patient";
  ASSERT_EQ(tests.joins.size(), 1u) << "visits has the patient as a column, so one join is enough";
  EXPECT_EQ(tests.joins[0].table, "visits");
  EXPECT_EQ(tests.joined_column, "patient_id");
  EXPECT_EQ(tests.links.size(), 2u);
  EXPECT_EQ(tests.people, "patients.patient_id");
}

TEST(PolicyTest, RefusesUnknownKeysWithTheLineAndTheNearestKey) {
  EXPECT_THAT(
      complaint("[tables.t]\nsource = \"t.csv\"\nuint = \"id\"\n"),
      AllOf(HasSubstr("folder/p.toml:9: unknown key 'uint' in [tables.t]; did you mean 'unit'?"),
            HasSubstr("folder/p.toml:7: table 't' does not say who is protected")));
  EXPECT_THAT(complaint("[table.t]\n"),
              HasSubstr(":7: unknown key 'table' in the policy; did you mean 'tables'?"));
  EXPECT_THAT(complaint("[tables.people.columns]\nage = { rage = [0, 1] }\n"),
              HasSubstr(":8: unknown key 'rage' in column 'age'"));
  EXPECT_THAT(complaint("[analysts.a]\nbudget = { eps = 1 }\n"), HasSubstr("unknown key 'eps'"));
}

TEST(PolicyTest, RefusesImpossibleRangesAndKeys) {
  const auto column = [](const std::string& body) {
    return complaint("[tables.people.columns]\nx = { " + body + " }\n");
  };
  EXPECT_THAT(column("range = [120, 0]"), HasSubstr("the lower end comes first"));
  EXPECT_THAT(column("range = [1, 1]"), HasSubstr("no more than one value"));
  EXPECT_THAT(column("range = [0, inf]"), HasSubstr("must be finite"));
  EXPECT_THAT(column("range = [nan, 1.0]"), HasSubstr("must be finite"));
  EXPECT_THAT(column("range = [0]"), HasSubstr("two ends"));
  EXPECT_THAT(column("range = [\"a\", \"b\"]"), HasSubstr("ranges are of numbers or dates"));
  EXPECT_THAT(column("range = [0, 2026-01-01]"), HasSubstr("of one kind"));
  EXPECT_THAT(column("range = 5"), HasSubstr("must be a list"));
  EXPECT_THAT(column("values = []"), HasSubstr("is empty"));
  EXPECT_THAT(column("values = [\"a\", 1]"), HasSubstr("of one kind"));
  EXPECT_THAT(column("values = [\"a\", \"a\"]"), HasSubstr("twice"));
  EXPECT_THAT(column("grid = 0"), HasSubstr("positive"));
  EXPECT_THAT(column("hidden = \"yes\""), HasSubstr("true or false"));
  EXPECT_EQ(column("range = [0, 0.5]"), "");
  EXPECT_EQ(column("range = [\"2020-01-01\", \"2021-01-01\"]"), "");
  EXPECT_EQ(column("values = [1, 2.5]"), "");
}

TEST(PolicyTest, RefusesLinksThatLeadNowhere) {
  const auto table = [](const std::string& unit) {
    return complaint("[tables.visits]\nsource = \"v.csv\"\nunit = \"" + unit + "\"\n");
  };
  EXPECT_EQ(table("person_id -> people.person_id"), "");
  EXPECT_THAT(table("person_id -> peopel.person_id"),
              HasSubstr("unknown table 'peopel'; did you mean 'people'?"));
  EXPECT_THAT(table("person_id -> people"), HasSubstr("does not read"));
  EXPECT_THAT(table("-> people.person_id"), HasSubstr("does not read"));
  EXPECT_THAT(table(""), HasSubstr("does not read"));
  EXPECT_THAT(table("visit_id -> visits.visit_id"), HasSubstr("circle"));
  EXPECT_THAT(table("person_id"), AllOf(HasSubstr("unit = \"person_id -> people.person_id\""),
                                        HasSubstr("people = \"visits\"")));
  EXPECT_THAT(
      complaint("[tables.a]\nsource = \"a.csv\"\nunit = \"b_id -> b.b_id\"\n[tables.b]\nsource "
                "= \"b.csv\"\nunit = \"a_id -> a.a_id\"\n"),
      HasSubstr("circle"));
  EXPECT_THAT(
      complaint(
          "[tables.w]\nsource = \"w.csv\"\npublic = true\n[tables.v]\nsource = \"v.csv\"\nunit "
          "= \"w_id -> w.id\"\n"),
      HasSubstr("public and protects nobody"));
  EXPECT_THAT(
      complaint(
          "[tables.w]\nsource = \"w.csv\"\nunit = \"row\"\n[tables.v]\nsource = \"v.csv\"\nunit "
          "= \"w_id -> w.id\"\n"),
      HasSubstr("give 'w' its key instead: unit = \"id\""));
}

TEST(PolicyTest, TwoKindsOfPeopleMayShareAColumnNameOnceNamed) {
  const auto policy = parse(
      "[tables.patients]\nsource = \"p.csv\"\nunit = \"id\"\n[tables.students]\nsource = "
      "\"s.csv\"\nunit = \"id\"\npeople = \"students\"\n[budgets.default]\nepsilon = 1\n");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_NE(policy->table("patients")->unit.people, policy->table("students")->unit.people);
}

TEST(PolicyTest, RefusesOneSourceUnderTwoNamesSoThatNothingIsBothPublicAndPrivate) {
  EXPECT_THAT(complaint("[tables.copy]\nsource = \"./people.csv\"\npublic = true\n"),
              HasSubstr("same source"));
  EXPECT_THAT(complaint("[tables.w]\nsource = \"w.csv\"\npublic = true\nunit = \"id\"\n"),
              HasSubstr("public and has a unit"));
}

TEST(PolicyTest, RefusesMissingSourcesAndUnknownKinds) {
  const auto missing = Policy::parse(kTown, "folder/p.toml");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message,
              HasSubstr("folder/p.toml:3: source \"town/patients.parquet\" is not there"));
  EXPECT_THAT(complaint("[tables.t]\nsource = \"t.xls\"\nunit = \"row\"\n"),
              HasSubstr("neither .parquet nor .csv"));
  EXPECT_THAT(complaint("[tables.t]\nsource = \"mysql://x\"\nunit = \"row\"\n"),
              HasSubstr("does not know"));
  EXPECT_EQ(complaint("[tables.t]\nsource = \"spark://h:15002/db.t\"\nunit = \"row\"\n"), "");
  EXPECT_EQ(complaint("[tables.t]\nsource = \"postgres://host/db\"\nunit = \"row\"\n"), "");
}

TEST(PolicyTest, SaysWhichTablesAnAnalystDoesNotSeeForLackOfAnother) {
  const auto policy =
      parse(kTown + "[analysts.bob]\ntables = [\"tests\", \"visits\", \"wards\"]\n");
  ASSERT_TRUE(policy) << policy.error().message;
  ASSERT_EQ(policy->warnings().size(), 2u);
  EXPECT_THAT(policy->warnings()[0],
              AllOf(HasSubstr("'bob'"), HasSubstr("'visits'"), HasSubstr("'patients'")));
  EXPECT_THAT(policy->warnings()[1], HasSubstr("'tests'"));
}

TEST(PolicyTest, BudgetsMayBeUnlimitedAndSayItAloud) {
  const auto policy = parse(
      "[tables.t]\nsource = \"t.csv\"\nunit = \"row\"\n[budgets.default]\nepsilon = "
      "\"unlimited\"\ndelta = 1e-6\n");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_FALSE(policy->budget("default")->amount.epsilon);
  ASSERT_EQ(policy->warnings().size(), 1u);
  EXPECT_THAT(policy->warnings()[0], HasSubstr("no limit"));
  for (const char* bad : {"-1", "nan", "inf", "\"lots\"", "true"})
    EXPECT_THAT(complaint(std::string("[budgets.b]\nepsilon = ") + bad + "\n"),
                HasSubstr(":8: epsilon of [budgets.b]"));
  EXPECT_THAT(complaint("[budgets.b]\nepsilon = 1\ndelta = 2\n"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(complaint("[budgets.b]\ndelta = 0.5\n"), HasSubstr("has no epsilon"));
}

TEST(PolicyTest, AGrantAddsOncePerPeriodFromItsStart) {
  const std::string form =
      "[budgets.b]\nepsilon = 1\ngrant = { epsilon = 0.5, delta = 1e-8, every = \"30 "
      "days\", starts = \"2026-01-01\" }\n";
  EXPECT_EQ(complaint(form), "");
  const auto policy = parse("[tables.t]\nsource = \"t.csv\"\nunit = \"row\"\n" + form);
  ASSERT_TRUE(policy) << policy.error().message;
  const RecurringGrant& grant = *policy->budget("b")->grant;
  using std::chrono::days;
  EXPECT_EQ(grant.count_at(grant.starts - days(1)), 0u);
  EXPECT_EQ(grant.count_at(grant.starts), 1u);
  EXPECT_EQ(grant.count_at(grant.starts + days(29)), 1u);
  EXPECT_EQ(grant.count_at(grant.starts + days(30)), 2u);
  EXPECT_THAT(
      complaint("[budgets.b]\nepsilon = 1\ngrant = { epsilon = 1, every = \"1 month\", starts = "
                "2026-01-01 }\n"),
      HasSubstr("hours, days or weeks"));
  EXPECT_THAT(
      complaint("[budgets.b]\nepsilon = 1\ngrant = { epsilon = 1, every = \"0 days\", starts = "
                "2026-01-01 }\n"),
      HasSubstr("hours, days or weeks"));
  EXPECT_THAT(complaint("[budgets.b]\nepsilon = 1\ngrant = { epsilon = 1, every = \"1 day\" }\n"),
              HasSubstr("add starts"));
}

TEST(PolicyTest, RefusesAnalystsOfUnknownBudgetsAndPlainPasswords) {
  EXPECT_THAT(complaint("[analysts.a]\nbudget = { epsilon = 1, of = \"defualt\" }\n"),
              HasSubstr("unknown budget 'defualt'; did you mean 'default'?"));
  const std::string plain = complaint("[analysts.a]\npassword = \"hunter2\"\n");
  EXPECT_THAT(plain, HasSubstr("never write a password"));
  EXPECT_THAT(plain, ::testing::Not(HasSubstr("hunter2")));
  EXPECT_THAT(complaint("[analysts.default]\n"), HasSubstr("both an analyst and a budget"));
  EXPECT_THAT(complaint("[analysts.a]\ntables = [\"peple\"]\n"),
              HasSubstr("did you mean 'people'?"));
  EXPECT_THAT(complaint("[analysts.\"a/b\"]\n"), HasSubstr("analyst name"));
  const std::string key = std::string(43, 'A') + "=";
  EXPECT_EQ(complaint("[analysts.a]\npassword = \"SCRAM-SHA-256$4096:AAAAAAAAAAAAAAAAAAAAAA==$" +
                      key + ":" + key + "\"\n"),
            "");
}

TEST(PolicyTest, RefusesAPolicyWithoutTablesOrBudget) {
  EXPECT_THAT(parse("").error().message, HasSubstr("no tables"));
  EXPECT_THAT(parse("[tables.t]\nsource = \"t.csv\"\nunit = \"row\"\n").error().message,
              HasSubstr("no budget"));
  EXPECT_THAT(parse("[tables.t\n").error().message, StartsWith("folder/p.toml:1: not TOML"));
  EXPECT_EQ(Policy::load("no/such/file.toml").error().code, ErrorCode::NotFound);
}

TEST(PolicyTest, OtherAlphabetsLiveInQuotesAndComments) {
  const auto policy = parse(
      "# Krankenh\u00e4user\n[tables.t]\nsource = \"\u00e4.csv\"\nunit = "
      "\"row\"\n[tables.t.columns]\n\"stra\u00dfe\" = "
      "{ values = [\"M\u00fcnchen \\\" \u2028\", \"\U0001f600\"] } # "
      "\u00ae\n[budgets.default]\nepsilon = 1\n");
  ASSERT_TRUE(policy) << policy.error().message;
  const Column column = policy->table("t")->column("stra\u00dfe");
  ASSERT_EQ(column.values.size(), 2u);
  EXPECT_EQ(std::get<std::string>(column.values[0]), "M\u00fcnchen \" \u2028");
  EXPECT_EQ(std::get<std::string>(column.values[1]), "\U0001f600");
  EXPECT_THAT(complaint("stra\u00dfe = 1\n"), HasSubstr(":7: a character that is not ASCII"));
  EXPECT_THAT(complaint("x = '\u00df'\n"), HasSubstr("\"double quotes\""));
  EXPECT_THAT(complaint("x = \"\xff\"\n"), HasSubstr(":7: this line is not UTF-8"));
  EXPECT_THAT(complaint("x = \"\xed\xa0\x80\"\n"), HasSubstr("not UTF-8"));
}

TEST(PolicyTest, ChecksListedColumnsAgainstTheRealOnes) {
  const auto policy = parse(kTown).value();
  const Table& patients = *policy.table("patients");
  EXPECT_TRUE(
      policy.check_columns(patients, {"patient_id", "age", "ward", "zip", "ssn", "born", "more"}));
  const auto missing =
      policy.check_columns(patients, {"patient_id", "age", "ward", "zip", "snn", "born"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "folder/p.toml:9: table 'patients' has no column 'ssn'; did you mean 'snn'?");
  EXPECT_THAT(policy.check_columns(*policy.table("visits"), {"patient_id"}).error().message,
              HasSubstr("'visit_id', which a link leads to"));
}

}  // namespace
}  // namespace discreet::catalog
