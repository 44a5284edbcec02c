// Statistical tests as whole statements: right without noise, one draw for all parts of a result,
// and people with more rows than the policy says are left out. The draws themselves are audited in
// tests/privacy.
#include <charconv>
#include <cmath>

#include "curator_fixture.h"
#include "statement_audit.h"

namespace discreet {
namespace {

double number(const std::optional<std::string>& text) {
  double value = NAN;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

double part(const std::string& text, const std::string& name) {
  const auto at = text.find("\"" + name + "\": ");
  EXPECT_NE(at, std::string::npos) << name << " in " << text;
  return at == std::string::npos ? NAN : number(text.substr(at + name.size() + 4));
}

class InferenceStatementTest : public CuratorFixture {
 protected:
  std::vector<double> numbers(const std::string& sql, double epsilon = 1e6) {
    const auto answer = open().answer(ask(sql, epsilon));
    EXPECT_TRUE(answer) << sql << "\n" << (answer ? "" : answer.error().message);
    std::vector<double> all;
    if (answer)
      for (const auto& cell : answer->rows.at(0)) all.push_back(number(cell));
    return all;
  }
  void expect_same(const std::string& ours, const std::string& theirs, double tolerance) {
    const auto found = numbers(ours);
    const auto rows = exactly(theirs, found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double wanted = number(rows.at(0)[i]);
      EXPECT_NEAR(found[i], wanted, tolerance * (1 + std::abs(wanted))) << ours << " column " << i;
    }
  }
};

TEST_F(InferenceStatementTest, RegressionsAreThoseOfTheEngineWithoutNoise) {
  expect_same(
      "SELECT regr_slope(height, age), regr_intercept(height, age), regr_r2(height, age), "
      "regr_count(height, age), regr_avgx(height, age), regr_avgy(height, age), "
      "regr_sxx(height, age), regr_syy(height, age), regr_sxy(height, age) FROM people",
      "SELECT regr_slope(height, age), regr_intercept(height, age), regr_r2(height, age), "
      "regr_count(height, age), regr_avgx(height, age), regr_avgy(height, age), "
      "regr_sxx(height, age), regr_syy(height, age), regr_sxy(height, age) FROM people",
      1e-3);
}

TEST_F(InferenceStatementTest, EstimatesAreThoseOfTheEngineWithoutNoise) {
  expect_same(
      "SELECT (t_test(age, 40)).estimate, (t_test(age, sex = 'F')).estimate, "
      "(prop_test(age > 30)).estimate, (prop_test(age > 30, sex = 'F')).estimate, "
      "(corr_test(height, age)).estimate, (t_test(age, 40)).rows FROM people",
      "SELECT avg(age), avg(age) FILTER (sex = 'F') - avg(age) FILTER (sex <> 'F'), "
      "avg((age > 30)::int), avg((age > 30)::int) FILTER (sex = 'F') - "
      "avg((age > 30)::int) FILTER (sex <> 'F'), corr(height, age), count(*) FROM people",
      2e-3);
}

TEST_F(InferenceStatementTest, StatisticsAreTheTextbooksWithoutNoise) {
  // Ages are 0 .. 100 once each: mean 50, variance 858.5; t = (50 - 44) / sqrt(858.5 / 101).
  const auto t = numbers(
      "SELECT (t_test(age, 44)).statistic, (t_test(age, 44)).p_value, (t_test(age, 44)).df "
      "FROM people");
  EXPECT_NEAR(t.at(0), 6 / std::sqrt(858.5 / 101), 0.01);
  EXPECT_NEAR(t.at(1), 0.042, 0.02);
  EXPECT_NEAR(t.at(2), 100, 0.1);
  const auto q = numbers(
      "SELECT (median_interval(age)).estimate, (median_interval(age)).low, "
      "(median_interval(age)).high FROM people");
  EXPECT_NEAR(q.at(0), 50, 1.1);
  EXPECT_NEAR(q.at(1), 40, 3);  // the 41st of 101 is rejected at 95 %
  EXPECT_NEAR(q.at(2), 60, 3);
}

TEST_F(InferenceStatementTest, OneDrawServesAllPartsAndErrorColumns) {
  Question question =
      ask("SELECT t_test(age, 40) AS all_of_it, (t_test(age, 40)).estimate AS e, "
          "(t_test(age, 40)).low AS l, (t_test(age, 40)).high AS h FROM people",
          1);
  question.errors = true;
  const auto answer = open().answer(question);
  ASSERT_TRUE(answer) << answer.error().message;
  const auto& row = answer->rows.at(0);
  std::vector<std::string> names;
  for (const auto& column : answer->columns) names.push_back(column.name);
  const auto at = [&](const std::string& name) {
    return row.at(
        static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  };
  EXPECT_EQ(part(*at("all_of_it"), "estimate"), number(at("e")));
  EXPECT_NEAR(number(at("e_error95")),
              std::max(number(at("h")) - number(at("e")), number(at("e")) - number(at("l"))), 1e-3);
  EXPECT_EQ(spent(), 1);
}

TEST_F(InferenceStatementTest, ExplainSaysMechanismAndErrorWithoutCharge) {
  const auto explained = open().explain(ask("SELECT t_test(age, 40) FROM people", 1));
  ASSERT_TRUE(explained) << explained.error().message;
  EXPECT_EQ(explained->columns.at(0).mechanism, "K-norm");
  ASSERT_TRUE(explained->columns.at(0).error95);
  EXPECT_GT(*explained->columns.at(0).error95, 0);
  EXPECT_EQ(spent(), 0);
}

// Person 9 has eight rows where the policy says one: their rows are left out as a whole.
TEST_F(StatementAuditTest, TestsLeaveOutPeopleWithMoreRowsThanThePolicySays) {
  DuckDb engine = engine_with(std::string(kRows) +
                              "INSERT INTO people SELECT 9, 3, 'M', 'here', 'Wide' FROM range(7);");
  for (const char* text :
       {"SELECT t_test(x, sex) FROM people", "SELECT prop_test(x > 1, sex) FROM people",
        "SELECT corr_test(x, person_x) FROM (SELECT person, x, x * x AS person_x FROM people) t"}) {
    const auto planned = plan(text);
    const auto job =
        ReleaseJob::make(planned.releases.front(), {Epsilon::make(1e5).value(), Delta::zero()});
    ASSERT_TRUE(job) << job.error().message;
    SeededRandom random(20261122);
    const auto table = job->run(engine, random);
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(part(std::get<std::string>(table->aggregates.at(0).values.at(0)), "rows"), 40)
        << text;
  }
}

}  // namespace
}  // namespace discreet
