// Streams from terms to totals: right without noise, paid once, bounded by the earliest rows.
#include "curator/continual.h"

#include "curator/workload.h"
#include "curator_fixture.h"

namespace discreet {
namespace {

class ContinualTest : public CuratorFixture {
 protected:
  Continual streams(const std::string& budgets = kUnlimited) {
    policy_.emplace(
        catalog::Policy::parse(kClinicTables + budgets, folder_ / "discreet.toml").value());
    return Continual::open(*policy_, clock_, random_, nullptr).value();
  }
  static StreamTerms daily(double epsilon) {
    StreamTerms terms;
    terms.name = "daily";
    terms.sql = "SELECT visit_id, count(*), sum(cost) FROM visits GROUP BY visit_id";
    terms.periods = 30;
    terms.every = 10;
    terms.rows_per_unit = 100;
    terms.budget = {Epsilon::make(epsilon).value(), Delta::make(1e-6).value()};
    return terms;
  }
};

TEST_F(ContinualTest, WithoutNoiseTotalsAreThoseOfDuckDb) {
  Continual made = streams();
  ASSERT_TRUE(made.start(daily(1e10)));
  for (const std::uint32_t period : {0u, 3u, 29u}) {
    const auto totals = made.release("default", "daily", period);
    ASSERT_TRUE(totals) << totals.error().message;
    const TextRows rows = exactly("SELECT count(*), sum(cost) FROM visits WHERE visit_id < " +
                                      std::to_string((period + 1) * 10),
                                  2);
    EXPECT_NEAR(totals->columns[0].total, std::stod(*rows[0][0]), 0.5);
    EXPECT_NEAR(totals->columns[1].total, std::stod(*rows[0][1]), 1);
  }
}

TEST_F(ContinualTest, OnlyTheEarliestRowsOfAPersonCount) {
  Continual made = streams();
  StreamTerms terms = daily(1e7);
  terms.rows_per_unit = 2;
  ASSERT_TRUE(made.start(terms));
  const auto totals = made.release("default", "daily", 29).value();
  const TextRows rows = exactly(
      "SELECT count(*), sum(cost) FROM (SELECT *, row_number() OVER (PARTITION BY person_id ORDER "
      "BY "
      "visit_id) AS n FROM visits) WHERE n <= 2",
      2);
  EXPECT_NEAR(totals.columns[0].total, std::stod(*rows[0][0]), 0.5);
  EXPECT_NEAR(totals.columns[1].total, std::stod(*rows[0][1]), 1);
}

TEST_F(ContinualTest, IsPaidOnceAndEveryPeriodStaysAsItWasReleased) {
  const std::string budgets = "[budgets.default]\nepsilon = 1.5\ndelta = 1e-5\n";
  std::vector<double> seen;
  {
    Continual made = streams(budgets);
    const auto started = made.start(daily(1));
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_GT(started->front().error95, 0);
    for (std::uint32_t period = 0; period < 5; ++period)
      seen.push_back(made.release("default", "daily", period).value().columns[0].total);
    EXPECT_EQ(made.ledger().balance("default")->spent.epsilon.value(), 1);
  }
  // Another process, later.
  Continual made = streams(budgets);
  ASSERT_TRUE(made.start(daily(1)));
  for (std::uint32_t period = 5; period-- > 0;)
    EXPECT_EQ(made.release("default", "daily", period)->columns[0].total, seen[period]);
  EXPECT_EQ(made.show("default", "daily")->size(), 5u);
  EXPECT_EQ(made.ledger().balance("default")->spent.epsilon.value(), 1);
  EXPECT_TRUE(made.ledger().verify());
  StreamTerms other = daily(1);
  other.periods = 31;
  EXPECT_FALSE(made.start(other));
  EXPECT_FALSE(made.release("default", "daily", 30));
  EXPECT_FALSE(made.release("default", "weekly", 0));
}

TEST_F(ContinualTest, WhatCannotBeAStreamIsRefusedBeforeItIsPaid) {
  Continual made = streams();
  const auto refused = [&](const std::string& sql, std::uint64_t rows) {
    StreamTerms terms = daily(1);
    terms.sql = sql;
    terms.rows_per_unit = rows;
    return !made.start(terms);
  };
  EXPECT_TRUE(refused("SELECT visit_id, count(*) FROM visits GROUP BY visit_id", 0));
  EXPECT_TRUE(refused("SELECT kind, count(*) FROM visits GROUP BY kind", 5));
  EXPECT_TRUE(refused("SELECT visit_id, median(cost) FROM visits GROUP BY visit_id", 5));
  EXPECT_TRUE(refused("SELECT count(*) FROM visits", 5));
  EXPECT_EQ(made.ledger().verify()->charges, 0u);
}

TEST(WorkloadTest, JoinsWhatCountsTheSameRowsAndLeavesTheRest) {
  const auto statements =
      split_statements(
          "SELECT sex, count(*) FROM people GROUP BY sex;\n"
          "select ward, sex, COUNT(*) as n, sum(age) from people group by ward, sex; -- finer\n"
          "SELECT median(age) FROM people; SELECT count(*) FROM people WHERE age > 3;\n"
          "SELECT count(*) FROM people;")
          .value();
  ASSERT_EQ(statements.size(), 5u);
  const auto parts = join_statements(statements).value();
  ASSERT_EQ(parts.size(), 3u);
  const auto joint = std::find_if(parts.begin(), parts.end(),
                                  [](const auto& part) { return part.members.size() == 3; });
  ASSERT_NE(joint, parts.end());
  EXPECT_EQ(joint->sql,
            "SELECT grouping(sex, ward) AS workload_set, sex AS workload_key1, ward AS "
            "workload_key2, count ( * ) AS workload_value1, sum ( age ) AS workload_value2 from "
            "people GROUP BY GROUPING SETS ((sex), (sex, ward), ())");
  EXPECT_EQ(joint->members[0].grouping, 1);
  EXPECT_EQ(joint->members[1].grouping, 0);
  EXPECT_EQ(joint->members[2].grouping, 3);
  EXPECT_EQ(joint->members[1].names, (std::vector<std::string>{"ward", "sex", "n", "sum"}));
  EXPECT_FALSE(split_statements(" ;; "));
}

class WorkloadAnswersTest : public CuratorFixture {};

TEST_F(WorkloadAnswersTest, KeepATotalThatIsPublic) {
  open();
  Question common = ask("", 0.1);
  common.delta = Delta::make(1e-6).value();
  const std::string known = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (public_total = 101) ";
  const auto answers = answer_workload(*curator_, common,
                                       {known + "sex, count(*) FROM people GROUP BY sex",
                                        known + "age, count(*) FROM people GROUP BY age"});
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_EQ(answers->size(), 2u);
  for (const Answer& answer : *answers) {
    int sum = 0;
    for (const auto& row : answer.rows) sum += std::stoi(*row[1]);
    EXPECT_EQ(sum, 101);
  }
  EXPECT_NEAR(spent(), 0.1, 1e-9);
  // A budget of a statement's own is not the workload's to share.
  EXPECT_EQ(join_statements({"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) sex, count(*) "
                             "FROM people GROUP BY sex",
                             "SELECT sex, count(*) FROM people GROUP BY sex"})
                ->size(),
            2u);
}

TEST_F(WorkloadAnswersTest, AddUpAndARefusedStatementCostsNothing) {
  open("[budgets.default]\nepsilon = 3\ndelta = 1e-5\n");
  Question common = ask("", 2);
  common.delta = Delta::make(1e-6).value();
  const std::vector<std::string> refused{"SELECT sex, count(*) FROM people GROUP BY sex",
                                         "SELECT count(*) FROM people", "SELECT * FROM people"};
  EXPECT_FALSE(answer_workload(*curator_, common, refused));
  EXPECT_EQ(spent(), 0);
  const auto answers = answer_workload(
      *curator_, common,
      {"SELECT sex, count(*) FROM people GROUP BY sex", "SELECT count(*) FROM people"});
  ASSERT_TRUE(answers) << answers.error().message;
  double sum = 0;
  for (const auto& row : (*answers)[0].rows) sum += std::stod(*row[1]);
  EXPECT_EQ(std::stod(*(*answers)[1].rows[0][0]), sum);
  EXPECT_EQ(spent(), 2);
}

}  // namespace
}  // namespace discreet
