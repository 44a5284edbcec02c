// With an enormous epsilon the noise vanishes, and private answers must be those of plain DuckDB:
// whatever differs is a mistake in planning, adding up or estimating, not privacy.
#include <gmock/gmock.h>

#include <charconv>
#include <cmath>

#include "curator_fixture.h"

namespace discreet {
namespace {

std::vector<std::string> pieces(const std::string& text) {  // of a list, or the text itself
  std::vector<std::string> found(1);
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ' ') continue;
    if (c == ',')
      found.emplace_back();
    else
      found.back() += c;
  }
  return found;
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool same(const std::string& left, const std::string& right) {
  const auto a = pieces(left), b = pieces(right);
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = number(a[i]), y = number(b[i]);
    if (x && y ? std::abs(*x - *y) > 1e-3 + 1e-5 * std::abs(*y) : a[i] != b[i]) return false;
  }
  return true;
}

class ExactAnswersTest : public CuratorFixture {
 protected:
  /// `plain` is what DuckDB is asked where the private dialect means something it has no words for.
  void expect_exact(const std::string& sql, std::string plain = "", double epsilon = 1e6) {
    if (plain.empty()) plain = sql;
    const auto answer = open().answer(ask(sql, epsilon));
    ASSERT_TRUE(answer) << sql << "\n" << answer.error().message;
    const TextRows rows = exactly(plain, answer->columns.size());
    ASSERT_EQ(answer->rows.size(), rows.size()) << sql;
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::size_t i = 0; i < rows[row].size(); ++i) {
        const std::string ours = answer->rows[row][i].value_or("NULL");
        const std::string theirs = rows[row][i].value_or("NULL");
        EXPECT_TRUE(same(ours, theirs)) << sql << "\nrow " << row << ", column " << i << ": "
                                        << ours << " instead of " << theirs;
      }
  }
};

constexpr const char* kAggregates[] = {
    "count(*)",
    "sum({x})",
    "avg({x})",
    "var_pop({x})",
    "var_samp({x})",
    "stddev_pop({x})",
    "stddev_samp({x})",
    "covar_pop({x}, {y})",
    "covar_samp({x}, {y})",
    "corr({x}, {y})",
    "count(DISTINCT {x})",
    "min({x})",
    "max({x})",
    "count({x}) - count(*) FILTER (WHERE {x} > 3)",
};

std::string with(std::string text, const std::string& x, const std::string& y) {
  for (std::size_t at; (at = text.find("{x}")) != std::string::npos;) text.replace(at, 3, x);
  for (std::size_t at; (at = text.find("{y}")) != std::string::npos;) text.replace(at, 3, y);
  return text;
}

TEST_F(ExactAnswersTest, EveryAggregateOfRowsThatAreUnits) {
  for (const char* aggregate : kAggregates)
    expect_exact("SELECT " + with(aggregate, "score", "other") + " FROM survey");
}

TEST_F(ExactAnswersTest, EveryAggregateOfPeopleWithOneRow) {
  for (const char* aggregate : kAggregates)
    expect_exact("SELECT " + with(aggregate, "age", "height") + " FROM people");
  // Correlations read products of higher powers, from rows that are added up while they stream.
  expect_exact("SELECT corr(age, age / 3 + height / 40) FROM people");
  expect_exact(
      "SELECT sex, corr(age % 10, (age + height) % 10) FROM people GROUP BY sex HAVING "
      "count(*) > 3 ORDER BY sex");
}

TEST_F(ExactAnswersTest, EveryAggregateOfPeopleWithSeveralRows) {
  for (const char* aggregate : kAggregates)
    expect_exact("SELECT " + with(aggregate, "cost", "cost % 7") + " FROM visits");
}

TEST_F(ExactAnswersTest, SeveralAggregatesShareOneStatement) {
  expect_exact("SELECT count(*), sum(age), avg(age), stddev_samp(age), avg(height) FROM people");
  expect_exact(
      "SELECT count(*), sum(cost), avg(cost), max(cost), corr(cost, cost % 7) FROM visits");
  expect_exact("SELECT avg(score) + 1, sum(score) * 1.0 / count(*), min(other) FROM survey");
}

TEST_F(ExactAnswersTest, AnEnormousEpsilonIsTakenByEveryMechanism) {
  for (const char* table : {"survey", "visits"}) {
    const std::string x = std::string(table) == "survey" ? "score" : "cost";
    expect_exact("SELECT count(*), sum(" + x + "), avg(" + x + "), var_pop(" + x + "), corr(" + x +
                     ", " + x + " % 7), min(" + x + "), max(" + x + "), count(DISTINCT " + x +
                     ") FROM " + table,
                 "", 1e20);
  }
  expect_exact("SELECT median(age) FROM people", "", 1e20);
  expect_exact("SELECT mode() WITHIN GROUP (ORDER BY sex) FROM people",
               "SELECT mode(sex) FROM people", 1e20);
  expect_exact("SELECT town, count(*), avg(age) FROM people GROUP BY town ORDER BY town", "", 1e20);
}

TEST_F(ExactAnswersTest, InGoogleSqlsFormAnAverageIsTheMeanOfUnitsMeans) {
  const std::string form = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 2) ";
  expect_exact(form + "AVG(cost) FROM visits",
               "SELECT avg(m) FROM (SELECT avg(cost) AS m FROM visits GROUP BY person_id)");
  expect_exact(form +
                   "kind, AVG(cost) FROM visits WHERE kind <> 'never' GROUP BY kind ORDER BY kind "
                   "LIMIT 1",
               "SELECT kind, avg(m) FROM (SELECT kind, avg(cost) AS m FROM visits GROUP BY kind, "
               "person_id) GROUP BY kind ORDER BY kind LIMIT 1");
  expect_exact(form + "AVG(age) FROM people", "SELECT avg(age) FROM people");
}

TEST_F(ExactAnswersTest, ALeastNumberOfUnitsChoosesAmongPublicGroupsToo) {
  Question question =
      ask("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (min_privacy_units_per_group = 50) "
          "sex, COUNT(*) FROM people GROUP BY sex",
          1e6);
  question.delta = Delta::make(1e-6).value();
  const auto answer = open().answer(question);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->rows.size(), 1U);  // 34 are F, 67 are M, nobody is X
  EXPECT_EQ(answer->rows[0][0], "M");
  EXPECT_EQ(answer->cost.delta, 1e-6);
  question.sql.replace(question.sql.find("OPTIONS ("), 9,
                       "OPTIONS (group_selection_strategy = PUBLIC_GROUPS, ");
  EXPECT_FALSE(curator_->answer(question));
}

TEST_F(ExactAnswersTest, UnitsAreCountedOnce) {
  expect_exact("SELECT count(DISTINCT person_id) FROM people");
  expect_exact("SELECT count(DISTINCT person_id) FROM visits");
  expect_exact("SELECT count(DISTINCT person_id) FILTER (WHERE cost > 90) FROM visits");
}

TEST_F(ExactAnswersTest, QuantilesOfOddManyDifferentValuesAreThoseValues) {
  expect_exact("SELECT median(age) FROM people");
  expect_exact(
      "SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY age) FROM people",
      "SELECT quantile_cont(age, [0.25, 0.5, 0.75]) FROM people");
  expect_exact("SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY age) FROM people",
               "SELECT quantile_disc(age, 0.9) FROM people");
  // With the ends: the least and the greatest.
  expect_exact("SELECT approx_quantiles(age, 4) FROM people",
               "SELECT quantile_cont(age, [0, 0.25, 0.5, 0.75, 1]) FROM people");
  expect_exact("SELECT percentile_disc(1) WITHIN GROUP (ORDER BY age) FROM people",
               "SELECT max(age) FROM people");
  expect_exact("SELECT median(score) FROM survey");
}

TEST_F(ExactAnswersTest, ModesAndHistogramsOverPublicValues) {
  expect_exact("SELECT mode() WITHIN GROUP (ORDER BY sex) FROM people",
               "SELECT mode(sex) FROM people");
  expect_exact("SELECT mode() WITHIN GROUP (ORDER BY kind) FROM visits",
               "SELECT mode(kind) FROM visits");
  const std::string bins =
      "SELECT [count(*) FILTER (WHERE {x} < 20), count(*) FILTER (WHERE {x} >= 20 AND {x} < 65), "
      "count(*) FILTER (WHERE {x} >= 65)] FROM ";
  expect_exact("SELECT histogram(age, ARRAY[0, 20, 65, 100]) FROM people",
               with(bins, "age", "") + "people");
  expect_exact("SELECT histogram(cost, ARRAY[0, 20, 65, 100]) FROM visits",
               with(bins, "cost", "") + "visits");
}

TEST_F(ExactAnswersTest, PublicKeysAnswerEmptyGroupsToo) {
  expect_exact(
      "SELECT sex, count(*) FROM people GROUP BY sex ORDER BY sex",
      "SELECT v.sex, count(p.sex) FROM (VALUES ('F'), ('M'), ('X')) v(sex) LEFT JOIN people p "
      "USING (sex) GROUP BY 1 ORDER BY 1");
  expect_exact(
      "SELECT kind, count(*), count(DISTINCT person_id) FROM visits GROUP BY kind ORDER BY kind",
      "SELECT v.kind, count(p.kind), count(DISTINCT p.person_id) FROM (VALUES ('check'), "
      "('never'), ('repair')) v(kind) LEFT JOIN visits p USING (kind) GROUP BY 1 ORDER BY 1");
  expect_exact("SELECT sex, avg(age) FROM people GROUP BY sex HAVING count(*) > 0 ORDER BY sex");
  expect_exact("SELECT sex, median(height) AS m FROM people GROUP BY sex ORDER BY sex LIMIT 0");
}

TEST_F(ExactAnswersTest, PrivateKeysNameTheGroupsThatManyShare) {
  expect_exact("SELECT town, count(*), avg(age) FROM people GROUP BY town ORDER BY town");
  expect_exact(
      "SELECT p.town, v.kind, sum(v.cost) FROM visits v JOIN people p ON v.person_id = "
      "p.person_id WHERE v.kind <> 'never' GROUP BY 1, 2 ORDER BY 1, 2");
  expect_exact("SELECT DISTINCT town FROM people ORDER BY town");
}

TEST_F(ExactAnswersTest, JoinsFollowTheLinks) {
  expect_exact(
      "SELECT count(*), sum(v.cost) FROM visits v JOIN people p ON v.person_id = "
      "p.person_id WHERE p.age < 50");
  expect_exact(
      "SELECT p.sex, sum(v.cost) FROM visits v JOIN people p ON v.person_id = p.person_id "
      "GROUP BY p.sex HAVING count(*) > 1 ORDER BY p.sex");
}

TEST_F(ExactAnswersTest, FilterHavingOrderAndLimitMeanWhatTheyMean) {
  expect_exact(
      "SELECT count(*) FILTER (WHERE age < 30), avg(height) FILTER (WHERE sex = 'F'), "
      "count(*) FROM people");
  expect_exact(
      "SELECT sum(cost) FILTER (WHERE kind = 'check'), count(*) FROM visits WHERE cost > 10");
  expect_exact(
      "SELECT answer, count(*) AS n FROM survey GROUP BY answer HAVING count(*) > 60 "
      "ORDER BY n DESC");
  expect_exact("SELECT answer, count(*) AS n FROM survey GROUP BY answer ORDER BY n DESC LIMIT 1");
}

// The sum is released around a centre, times the count of all rows: a row whose value is missing
// must add nothing to it.
TEST_F(ExactAnswersTest, ASumBesideACountOfRowsAddsNothingForMissingValues) {
  for (const char* sql :
       {"SELECT count(*), sum(CASE WHEN cost > 30 THEN cost END) FROM visits",
        "SELECT kind, count(*), sum(nullif(cost, 50)), sum(cost) FROM visits GROUP BY kind "
        "HAVING count(*) > 0 ORDER BY kind",
        "SELECT count(*) FILTER (WHERE cost < 60), sum(nullif(cost, 7)) FILTER (WHERE cost < 60), "
        "sum(cost) FILTER (WHERE cost > 90) FROM visits",
        "SELECT count(*), sum(nullif(cost, 50)), avg(nullif(cost, 7)) FROM visits"})
    expect_exact(sql);
}

}  // namespace
}  // namespace discreet
