// CUBE, ROLLUP and GROUPING SETS from text to answer: right without noise, consistent with it,
// charged once, and private.
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "curator_fixture.h"
#include "statement_audit.h"

namespace discreet {
namespace {

class GroupingSetsTest : public CuratorFixture {
 protected:
  static double number(const std::optional<std::string>& text) {
    double value = NAN;
    if (text) std::from_chars(text->data(), text->data() + text->size(), value);
    return value;
  }
  static Question with_delta(const std::string& sql, double epsilon, double delta = 1e-6) {
    Question question = ask(sql, epsilon);
    question.delta = Delta::make(delta).value();
    return question;
  }
  std::string refusal(const std::string& sql, const std::string& budgets = kUnlimited) {
    const auto answer = open(budgets).answer(ask(sql, 1));
    return answer ? "answered" : answer.error().message;
  }
};

TEST_F(GroupingSetsTest, WithoutNoiseTheRowsAreThoseOfDuckDb) {
  for (const std::string sql :
       {"SELECT sex, age > 50 AS older, grouping(sex, age > 50) AS g, count(*) AS n, sum(height), "
        "avg(height), count(age) FROM people GROUP BY CUBE (sex, age > 50) HAVING count(*) > 0 "
        "ORDER BY 1, 2, 3",
        "SELECT coalesce(answer, 'all') AS a, score, count(*) AS n FROM survey GROUP BY "
        "ROLLUP (answer, score) HAVING count(*) > 0 ORDER BY 1, 2",
        "SELECT answer, score, sum(other) FROM survey WHERE other > 2 GROUP BY GROUPING SETS "
        "((answer), (score), ()) HAVING sum(other) > 0 ORDER BY 1, 2"}) {
    const auto answer = open().answer(with_delta(sql, 1e7));
    ASSERT_TRUE(answer) << answer.error().message;
    const TextRows rows = exactly(sql, answer->columns.size());
    ASSERT_EQ(answer->rows.size(), rows.size()) << sql;
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::size_t i = 0; i < rows[row].size(); ++i) {
        const auto &ours = answer->rows[row][i], &theirs = rows[row][i];
        if (ours == theirs) continue;
        // A whole table behind sets that do not hold it is rounded, a unit here or there.
        const double slack = sql.find("SETS") != std::string::npos ? 1.01 : 0.02;
        EXPECT_NEAR(number(ours), number(theirs), slack)
            << sql << " row " << row << " column " << i;
      }
  }
}

// State, county and town of a public table: a hierarchy, with places where nobody lives.
TEST_F(GroupingSetsTest, AGeographyIsRolledUpAlongItsPublicTable) {
  const std::string places =
      "SELECT * FROM (VALUES ('Aville', 'North', 'Upper'), ('Btown', 'South', 'Upper'), ('Cham', "
      "'South', 'Upper'), ('Dorf', 'South', 'Lower'), ('Eck', 'East', 'Lower')) t(town, county, "
      "state)";
  ASSERT_TRUE(
      plain_.execute("COPY (" + places + ") TO " + sql_literal((folder_ / "places.csv").string())));
  ASSERT_TRUE(plain_.execute("CREATE TABLE places AS " + places));
  const std::string policy =
      std::string("[tables.places]\nsource = \"places.csv\"\npublic = true\nkey = \"town\"\n") +
      kUnlimited;
  const std::string from =
      " FROM people p JOIN places q ON p.town = q.town GROUP BY ROLLUP (q.state, q.county, q.town)";
  const std::string sql = "SELECT q.state, q.county, q.town, count(*) AS n" + from;
  const std::string sorted = " HAVING count(*) > 0 ORDER BY 1, 2, 3";
  const auto exact = open(policy).answer(with_delta(sql + sorted, 1e7));
  ASSERT_TRUE(exact) << exact.error().message;
  EXPECT_EQ(exact->rows, exactly(sql + sorted, 4));

  // The places are public, so the errors are known before anything is paid.
  const auto explained = open(policy).explain(with_delta(sql, 1));
  ASSERT_TRUE(explained) << explained.error().message;
  int told = 0;
  for (const std::string& notice : explained->notices)
    told += notice.find("count(*) ±") != std::string::npos;
  EXPECT_EQ(told, 4);

  const auto answer = open(policy).answer(with_delta(sql + " ORDER BY 1, 2, 3", 1));
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->rows.size(), 5u + 4 + 2 + 1);
  double towns = 0, counties = 0, states = 0, all = 0;
  for (const auto& row : answer->rows) {
    EXPECT_GE(number(row[3]), 0);
    (row[2] ? towns : row[1] ? counties : row[0] ? states : all) += number(row[3]);
  }
  EXPECT_EQ(towns, all);
  EXPECT_EQ(counties, all);
  EXPECT_EQ(states, all);
  // Rolled up the wrong way round, the county would be no level.
  const auto wrong = curator_->answer(with_delta(
      "SELECT q.county, count(*) FROM people p JOIN places q ON p.town = q.town GROUP BY "
      "GROUPING SETS ((q.state, q.county), (q.county))",
      1));
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("coarsest to the finest"), std::string::npos)
      << wrong.error().message;
}

// Counts that are public anyway: by county, by state (which they imply) and in all.
TEST_F(GroupingSetsTest, PublicCountsAreKeptExactlyAtEveryLevelTheyTell) {
  const std::string places =
      "SELECT * FROM (VALUES ('Aville', 'North', 'Upper'), ('Btown', 'South', 'Upper'), ('Cham', "
      "'South', 'Upper'), ('Dorf', 'South', 'Lower'), ('Eck', 'East', 'Lower')) t(town, county, "
      "state)";
  const auto copy = [&](const std::string& rows, const std::string& file) {
    ASSERT_TRUE(plain_.execute("COPY (" + rows + ") TO " + sql_literal((folder_ / file).string())));
  };
  copy(places, "places.csv");
  copy(
      "SELECT * FROM (VALUES ('North', 'Upper', 40), ('South', 'Upper', 7), ('South', 'Lower', "
      "0), ('East', 'Lower', 3)) t(county, state, population)",
      "counties.csv");
  copy("SELECT * FROM (VALUES ('Upper', 47), ('Lower', 3)) t(state, population)", "states.csv");
  copy("SELECT * FROM (VALUES ('Upper', 48), ('Lower', 3)) t(state, population)", "wrong.csv");
  copy("SELECT * FROM (VALUES ('North', 40), ('South', 7), ('East', 3)) t(county, population)",
       "doubtful.csv");
  copy("SELECT * FROM (VALUES ('F', 25), ('M', 25), ('X', 0)) t(sex, population)", "sexes.csv");
  copy("SELECT * FROM (VALUES ('F', 25)) t(sex, population)", "women.csv");
  std::string policy;
  for (const std::string table :
       {"places", "counties", "states", "wrong", "doubtful", "sexes", "women"})
    policy += "[tables." + table + "]\nsource = \"" + table + ".csv\"\npublic = true\n" +
              (table == "places" ? "key = \"town\"\n" : "");
  policy += kUnlimited;
  const auto asked = [&](const std::string& counts) {
    return "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (" + counts +
           ") q.state, q.county, q.town, sex, count(*) AS n FROM people p JOIN places q ON p.town "
           "= q.town GROUP BY GROUPING SETS ((q.state, q.county, q.town, sex), (q.state, "
           "q.county), "
           "(q.state), ()) ORDER BY 1, 2, 3, 4";
  };
  const auto question =
      with_delta(asked("public_counts = 'counties, states.population', public_total = 50"), 0.1);
  open(policy);
  const auto answer = curator_->answer(question);
  ASSERT_TRUE(answer) << answer.error().message;
  std::map<std::string, double> found;
  double cells = 0;
  const auto errors = answer->with_error_columns();
  for (std::size_t i = 0; i < answer->rows.size(); ++i) {
    const auto& row = answer->rows[i];
    const double n = number(row[4]);
    EXPECT_GE(n, 0);
    EXPECT_EQ(n, std::round(n));
    if (row[3])
      cells += n;
    else
      found[row[0].value_or("") + "/" + row[1].value_or("")] = n;
    const double error = number(errors.rows[i].back());
    if (row[3])
      EXPECT_GT(error, 0);
    else
      EXPECT_EQ(error, 0);
  }
  const std::map<std::string, double> known{
      {"Upper/North", 40}, {"Upper/South", 7}, {"Lower/South", 0}, {"Lower/East", 3},
      {"Upper/", 47},      {"Lower/", 3},      {"/", 50}};
  EXPECT_EQ(found, known);
  EXPECT_EQ(cells, 50);
  const auto explained = curator_->explain(question);
  ASSERT_TRUE(explained) << explained.error().message;
  int exact = 0;
  for (const std::string& notice : explained->notices)
    exact += notice.find("(public, exact)") != std::string::npos;
  EXPECT_EQ(exact, 3);

  // What no table could keep is refused before it is paid.
  const double before = spent();
  for (const auto& [counts, why] : std::vector<std::pair<std::string, std::string>>{
           {"public_counts = 'counties, wrong'", "do not add up to the same numbers"},
           {"public_counts = 'counties', public_total = 51", "do not add up to the same numbers"},
           {"public_counts = 'states, sexes'", "must tell the counts of all others"},
           {"public_counts = 'doubtful'", "several places"},
           {"public_counts = 'women'", "says nothing about"},
           {"public_counts = 'people'", "there is no public table"},
           {"public_counts = 'places'", "which column"}}) {
    const auto wrong = curator_->answer(with_delta(asked(counts), 0.1));
    ASSERT_FALSE(wrong) << counts;
    EXPECT_NE(wrong.error().message.find(why), std::string::npos) << wrong.error().message;
  }
  EXPECT_EQ(spent(), before);
}

TEST_F(GroupingSetsTest, EveryTableAddsUpAndNoCountIsNegative) {
  const auto answer = open().answer(
      with_delta("SELECT sex, age, count(*), sum(height) FROM people GROUP BY CUBE (sex, age)", 1));
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->rows.size(), 3u * 101 + 3 + 101 + 1);
  std::map<std::string, double> by_sex[2], by_age[2], from_cells[2][2];
  double total[2] = {0, 0}, from_total[2] = {0, 0};
  for (const auto& row : answer->rows)
    for (const int column : {0, 1}) {
      const double value = number(row[2 + static_cast<std::size_t>(column)]);
      EXPECT_GE(value, 0);
      EXPECT_EQ(value, std::round(value));
      if (row[0] && row[1]) {
        from_cells[column][0][*row[0]] += value;
        from_cells[column][1][*row[1]] += value;
        from_total[column] += value;
      } else if (row[0]) {
        by_sex[column][*row[0]] = value;
      } else if (row[1]) {
        by_age[column][*row[1]] = value;
      } else {
        total[column] = value;
      }
    }
  for (const int column : {0, 1}) {
    EXPECT_EQ(by_sex[column], from_cells[column][0]);
    EXPECT_EQ(by_age[column], from_cells[column][1]);
    EXPECT_EQ(total[column], from_total[column]);
  }
}

TEST_F(GroupingSetsTest, IsChargedOnceAndAnsweredAgainForNothing) {
  open("[budgets.default]\nepsilon = 1.5\ndelta = 1e-5\n");
  const auto question =
      with_delta("SELECT sex, count(*) FROM people GROUP BY ROLLUP (sex) ORDER BY 1", 1);
  const auto first = curator_->answer(question);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_GT(first->cost.rho, 0);
  EXPECT_EQ(spent(), 1);
  const auto again = curator_->answer(question);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->rows, first->rows);
  EXPECT_EQ(spent(), 1);
}

TEST_F(GroupingSetsTest, ExplainTellsTheErrorOfEveryGroupingSetBeforeItIsPaid) {
  open();
  const auto question =
      with_delta("SELECT sex, count(*) AS n FROM people GROUP BY ROLLUP (sex)", 1);
  const auto explained = curator_->explain(question);
  ASSERT_TRUE(explained) << explained.error().message;
  ASSERT_EQ(explained->columns.back().mechanism, "joint tables, discrete Gaussian");
  int sets = 0;
  for (const std::string& notice : explained->notices) sets += notice.starts_with("grouping set (");
  EXPECT_EQ(sets, 2);
  // The answer's own errors are the same.
  Question with_errors = question;
  with_errors.errors = true;
  const auto answer = curator_->answer(with_errors);
  ASSERT_TRUE(answer) << answer.error().message;
  double worst = 0;
  for (const auto& row : answer->rows) worst = std::max(worst, number(row.back()));
  EXPECT_NEAR(worst, *explained->columns.back().error95, 0.01);  // printed to four digits
}

// The errors told are those of the unbiased estimate. Making tables non-negative and whole must not
// make them untrue: of 150 answers, cells that are empty or not, all within the intervals as often
// as they should be. (Five standard errors of 150 answers whose cells might all miss together.)
TEST_F(GroupingSetsTest, IntervalsHoldAfterTheTablesWereMadeWhole) {
  open();
  const std::string sql =
      "SELECT sex, age > 50 AS older, grouping(sex, age > 50) AS g, count(*) AS n FROM people "
      "GROUP "
      "BY CUBE (sex, age > 50) ORDER BY 3, 1, 2";
  const auto exact = curator_->answer(with_delta(sql, 1e7));
  ASSERT_TRUE(exact) << exact.error().message;
  int cells = 0, missed = 0;
  for (int i = 0; i < 150; ++i) {
    const auto answer = curator_->answer(with_delta(sql, 0.3 + i * 1e-6));
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->rows.size(), exact->rows.size());
    for (std::size_t row = 0; row < answer->rows.size(); ++row) {
      ASSERT_TRUE(answer->errors[row][3]);
      ++cells;
      missed += std::fabs(number(answer->rows[row][3]) - number(exact->rows[row][3])) >
                *answer->errors[row][3];
    }
  }
  std::cout << missed << " of " << cells << " cells outside their intervals\n";
  EXPECT_LT(missed, cells * (0.05 + 5 * std::sqrt(0.0475 / 150)));
}

TEST_F(GroupingSetsTest, AKnownTotalIsKeptExactly) {
  const std::string sql =
      "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.05, delta = 1e-6, public_total = 101) "
      "sex, age > 50 AS older, count(*) AS n FROM people GROUP BY CUBE (sex, age > 50)";
  const auto answer = open().answer(ask(sql, 1));
  ASSERT_TRUE(answer) << answer.error().message;
  double whole = 0;
  for (std::size_t row = 0; row < answer->rows.size(); ++row) {
    const auto& cells = answer->rows[row];
    if (cells[0] && cells[1]) whole += number(cells[2]);
    if (cells[0] || cells[1]) continue;
    EXPECT_EQ(cells[2], "101");
    EXPECT_EQ(answer->errors[row][2], 0.0);
  }
  EXPECT_EQ(whole, 101);
}

TEST_F(GroupingSetsTest, RunsOfValuesHaveTheErrorTheyWerePlannedFor) {
  const auto runs = [&](const char* questions) {
    const auto explained = open().explain(
        ask(std::string("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-6") +
                questions + ") age, count(*) FROM people GROUP BY GROUPING SETS ((age))",
            1));
    EXPECT_TRUE(explained) << explained.error().message;
    if (!explained) return std::pair(0.0, 0.0);
    const std::string& note = explained->notices.back();
    const auto after = [&](const char* what) {
      const auto at = note.find(what);
      return at == std::string::npos ? 0 : std::stod(note.substr(at + std::strlen(what)));
    };
    return std::pair(after("count(*) ±"), after("runs of values ±"));
  };
  const auto cells = runs(""), ranges = runs(", questions = 'ranges'"),
             prefixes = runs(", questions = 'prefixes'");
  std::cout << "cells " << cells.first << ", ranges " << ranges.first << " and " << ranges.second
            << ", prefixes " << prefixes.second << '\n';
  EXPECT_GT(ranges.first, cells.first);       // single values pay for it
  EXPECT_LT(ranges.second, 5 * cells.first);  // a third of 101 cells would have 5.8 times the error
  EXPECT_GT(ranges.second, 0);
  EXPECT_GT(prefixes.second, 0);
  // And it is answered.
  const auto answer = curator_->answer(
      ask("SELECT sum(n) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 100, delta = "
          "1e-6, questions = 'ranges') age, count(*) AS n FROM people GROUP BY GROUPING SETS "
          "((age))) t WHERE age BETWEEN 20 AND 29",
          100));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_NEAR(number(answer->rows[0][0]), 10, 1.5);
}

TEST_F(GroupingSetsTest, WhatCannotBeDonePrivatelyIsRefusedWithTheReason) {
  const auto says = [&](const std::string& sql, const std::string& words) {
    const std::string said = refusal(sql);
    EXPECT_NE(said.find(words), std::string::npos) << sql << "\n" << said;
  };
  says("SELECT town, count(*) FROM people GROUP BY ROLLUP (town)", "keys whose values are public");
  says(
      "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (public_total = 101) sex, count(*) FROM people "
      "GROUP BY sex",
      "GROUPING SETS");
  says("SELECT sex, median(age) FROM people GROUP BY ROLLUP (sex)", "only count(*)");
  says("SELECT sex, count(DISTINCT person_id) FROM people GROUP BY ROLLUP (sex)", "only count(*)");
  EXPECT_NE(refusal("SELECT sex, count(*) FROM people GROUP BY ROLLUP (sex)",
                    "[budgets.default]\nepsilon = 4\ndelta = 0\n")
                .find("needs a delta"),
            std::string::npos);
}

TEST_F(GroupingSetsTest, PeopleWithManyRowsCountWithAsManyAsTheStatementSays) {
  const std::string sql =
      "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e6, delta = 1e-6, max_rows_contributed "
      "= 2) kind, count(*) AS n FROM visits GROUP BY ROLLUP (kind) ORDER BY 1";
  const auto answer = open().answer(ask(sql, 1e6));
  ASSERT_TRUE(answer) << answer.error().message;
  const TextRows rows = exactly(
      "SELECT sum(least(2, n)) FROM (SELECT person_id, count(*) AS n FROM visits GROUP BY 1)", 1);
  EXPECT_NEAR(number(answer->rows.back()[1]), number(rows[0][0]), 1);
}

// The audit's person 9 is the only 'F'. Every count that shows them, added up.
std::int64_t shown(const ReleasedTable& table) {
  double sum = 0;
  for (std::size_t row = 0; row < table.keys.size(); ++row)
    if (const auto* sex = std::get_if<std::string>(&table.keys[row][0]); !sex || *sex == "F")
      sum += std::get<double>(table.aggregates[0].values[row]) * (sex ? 2 : 1);
  return std::llround(std::clamp(sum / 2, -200.0, 200.0));
}

TEST_F(GroupingSetsTest, HowManyRowsOfAPersonCountIsFoundWhereNobodySaidIt) {
  open();
  const std::string sql = "SELECT kind, count(*) AS n FROM visits GROUP BY ROLLUP (kind)";
  const auto answer = curator_->answer(with_delta(sql, 1000));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_DOUBLE_EQ(spent(), 1000);
  ASSERT_FALSE(answer->notices.empty());
  EXPECT_NE(answer->notices.front().find("found privately"), std::string::npos);
  // At this budget the bound covers the person with most rows, and the noise is small.
  EXPECT_NEAR(number(answer->rows.back()[1]), 300, 12);
  const auto explained = curator_->explain(with_delta(sql, 1));
  ASSERT_TRUE(explained) << explained.error().message;
  EXPECT_NE(explained->notices.back().find("rows read later"), std::string::npos);
}

TEST_F(StatementAuditTest, GroupingSetsAreOneRelease) {
  const auto people =
      plan("SELECT sex, x, count(*) FROM people GROUP BY CUBE (sex, x)").releases.front();
  EXPECT_LE(audit(people, claim(0.01), shown, 1200), 1);
  const auto visits =
      plan(
          "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 4) sex, count(*) FROM "
          "visits GROUP BY ROLLUP (sex)")
          .releases.front();
  EXPECT_LE(audit(visits, claim(0.01), shown, 1200), 1);
}

// Nobody says how many visits of a person count: a part of epsilon finds a bound, and person 9, who
// has most, may move it. What is shown is the bound, and the counts under it.
TEST_F(StatementAuditTest, GroupingSetsWhoseRowBoundIsFoundPrivately) {
  const auto release =
      plan("SELECT sex, count(*) FROM visits GROUP BY ROLLUP (sex)").releases.front();
  const auto bound = [](const ReleasedTable& table) {
    std::int64_t found = 0;
    for (const std::string& notice : table.notices)
      for (const char c : notice)
        if (c >= '0' && c <= '9') found = (found * 10 + (c - '0')) % 1000003;
    return found;
  };
  int bounds = 0;
  EXPECT_LE(audit(
                release, claim(0.01),
                [&](const ReleasedTable& t) {
                  bounds += t.notices.empty() ? 0 : 1;
                  return bound(t);
                },
                1200),
            1);
  EXPECT_EQ(bounds, 2400);  // every run says which bound it found
  EXPECT_LE(
      audit(
          release, claim(0.01),
          [&](const ReleasedTable& t) { return bound(t) % 10007 * 1000 + shown(t) % 1000; }, 1200),
      1);
}

// The broken twin: the noise is made for one row a person, and eight are counted.
TEST_F(StatementAuditTest, GroupingSetsThatForgetToSampleRowsAreCaught) {
  sql::Release release =
      plan(
          "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 1) sex, count(*) FROM "
          "visits GROUP BY ROLLUP (sex)")
          .releases.front();
  release.bounds.one_row_per_unit = true;
  release.totals_sql =
      "SELECT k1, sum(f1) AS f1, count(*) AS units FROM (" + release.partials_sql + ") GROUP BY k1";
  EXPECT_GT(audit(release, claim(0.01), shown, 1200), 1);
}

}  // namespace
}  // namespace discreet
