// PostgreSQL gives the integers that the embedded engine gives, to the last digit: for the whole
// corpus of tests/sql, and for random statements over random rows.
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "curator/twin_rows.h"
#include "engines/postgres_server.h"
#include "engines/random_statements.h"
#include "engines/two_worlds.h"
#include "sql/planner.h"
#include "support/seeded_random.h"

namespace discreet::testing {
namespace {

const std::string kCorpus = DISCREET_SQL_CORPUS;

std::string read_file(const std::string& name) {
  std::ifstream file(kCorpus + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The statements of a corpus file, whatever it says becomes of them.
std::vector<std::string> statements(const std::string& file) {
  std::vector<std::string> all;
  std::istringstream input(read_file(file));
  std::string current, line;
  bool in_case = false, plain = false;
  const auto finish = [&] {
    if (in_case && !current.empty()) all.push_back(current);
    current.clear();
    in_case = plain = false;
  };
  while (std::getline(input, line)) {
    if (line.starts_with("#")) continue;
    if (line.empty()) {
      finish();
    } else if (line == "> plain") {
      plain = true;
    } else if (line.starts_with("> ")) {
      finish();
      in_case = true;
    } else if (!plain) {
      current += (current.empty() ? "" : "\n") + line;
    }
  }
  finish();
  return all;
}

class CrossEngineTest : public ::testing::Test {
 protected:
  static void TearDownTestSuite() { worlds().clear(); }

 public:
  static std::map<std::string, std::unique_ptr<TwoWorlds>>& worlds() {
    static std::map<std::string, std::unique_ptr<TwoWorlds>> all;
    return all;
  }
};

TwoWorlds& world(const std::string& name) {
  auto& place = CrossEngineTest::worlds()[name];
  if (!place)
    place = std::make_unique<TwoWorlds>(name, read_file(name + ".toml"), read_file(name + ".sql"));
  return *place;
}

void run_corpus(const std::string& file, const std::string& name) {
  TwoWorlds& both = world(name);
  const auto all = statements(file);
  EXPECT_GT(all.size(), 10U);
  std::size_t same = 0;
  const std::size_t before = both.statements_run(), rows = both.rows_compared();
  for (const auto& statement : all)
    same += both.compare(statement) == TwoWorlds::Verdict::Same ? 1 : 0;
  std::cout << file << ": " << all.size() << " statements, " << same << " planned alike, "
            << both.statements_run() - before << " engine statements, "
            << both.rows_compared() - rows << " rows equal\n";
}

TEST_F(CrossEngineTest, AnswersOfTheCorpusAreTheSameOnPostgres) {
  run_corpus("answers.test", "hospital");
}
TEST_F(CrossEngineTest, PlansOfTheCorpusAreTheSameOnPostgres) {
  run_corpus("plans.test", "hospital");
}
TEST_F(CrossEngineTest, GoogleSqlFormIsTheSameOnPostgres) {
  run_corpus("googlesql.test", "hospital");
}
TEST_F(CrossEngineTest, RefusalsAreTheSameOnPostgres) {
  run_corpus("refusals.test", "hospital");
}
TEST_F(CrossEngineTest, TpcHIsTheSameOnPostgres) {
  run_corpus("tpch.test", "tpch");
}

/// A twin is made from the same rows, wherever they are.
TEST_F(CrossEngineTest, TwinsSeeTheSameRowsOnPostgres) {
  TwoWorlds& both = world("hospital");
  std::size_t tables = 0;
  for (const catalog::Table& table : both.near_policy().tables()) {
    const auto near = TwinRows::plan(table, both.near());
    const auto far = TwinRows::plan(*both.far_policy().table(table.name), both.far());
    ASSERT_EQ(near.has_value(), far.has_value()) << table.name;
    if (!near) continue;
    ++tables;
    const auto here = near->read(both.near());
    const auto there = far->read(both.far());
    ASSERT_TRUE(here && there) << table.name << ": " << last_words();
    EXPECT_EQ(here->rows(), there->rows()) << table.name;
    ASSERT_EQ(here->columns.size(), there->columns.size()) << table.name;
    for (std::size_t i = 0; i < here->columns.size(); ++i) {
      EXPECT_EQ(here->columns[i].name, there->columns[i].name) << table.name;
      // Units with several rows keep one at random, so only tables of single rows are all alike.
      if (table.max_rows_per_unit == 1)
        EXPECT_EQ(here->columns[i].texts.size(), there->columns[i].texts.size())
            << table.name << "." << here->columns[i].name;
    }
  }
  EXPECT_GT(tables, 1U);
}

/// Rows that only PostgreSQL can have must not make a statement fail either.
TEST_F(CrossEngineTest, NoRowMakesAStatementFailOnPostgres) {
  TwoWorlds both("hostile", read_file("hospital.toml"), read_file("hospital.sql"));
  postgres_server().run(R"(
    INSERT INTO hostile.patients VALUES
      (2147483647, -2147483648, '', '', '', 'NaN', NULL, 'infinity', NULL, 9223372036854775807),
      (-2147483648, 2147483647, NULL, NULL, NULL, 'infinity', NULL, '-infinity', true, -9223372036854775808),
      (0, 0, '💣', 'ICU', 'not a number', '-infinity', NULL, '5874897-12-31', false, 0),
      (NULL, 40, 'F', 'ER', '10001', 1e308, NULL, '4713-01-01 BC', true, -1),
      (9, 40, 'F', 'ER', '10001', 5e-324, NULL, NULL, true, 1);
    INSERT INTO hostile.visits VALUES
      (9223372036854775807, 9, 'infinity', 99999999.99, 2147483647, 'ICU', '', 9223372036854775807, 'infinity'),
      (-9223372036854775808, 9, '-infinity', 'NaN', -2147483648, NULL, NULL, -9223372036854775808, '-infinity'),
      (0, NULL, '5874897-12-31', 0, 0, 'ER', '0', 0, '294276-12-31 23:59:59'),
      (1000001, 2147483647, NULL, NULL, NULL, NULL, NULL, NULL, '4713-01-01 BC');
    INSERT INTO hostile.tests VALUES (2147483647, 9223372036854775807, NULL, 1e308, NULL),
      (-2147483648, NULL, '', '-infinity', ''), (0, 0, 'x', 'NaN', 'x'), (1, 1, 'x', 5e-324, 'x');
    INSERT INTO hostile.survey VALUES (2147483647, NULL, NULL, -2147483648), (-2147483648, '', '', 2147483647))");
  std::size_t run = 0;
  for (const char* file : {"answers.test", "plans.test", "googlesql.test"})
    for (const auto& statement : statements(file)) {
      const auto planned = sql::Planner(both.far_policy(), both.far()).plan(statement);
      if (!planned || planned->releases.size() > 1) continue;
      for (const auto& release : planned->releases) {
        std::vector<std::string> all{release.partials_sql, release.rows_sql};
        if (release.totals_sql) all.push_back(*release.totals_sql);
        for (const auto& stream : release.streams) all.push_back(stream.sql);
        for (const auto& sql : all) {
          auto rows = both.far().engine().query(sql);
          bool ok = rows.has_value();
          while (ok) {
            const auto chunk = rows->next();
            ok = chunk.has_value();
            if (!ok || !chunk->has_value()) break;
          }
          EXPECT_TRUE(ok) << statement << "\n" << sql << "\n" << last_words();
          ++run;
        }
      }
    }
  std::cout << run << " engine statements over hostile rows\n";
  EXPECT_GT(run, 100U);
}

TEST_F(CrossEngineTest, RandomStatementsOverRandomRowsAgreeToTheLastDigit) {
  const char* asked = std::getenv("DISCREET_ENGINE_CASES");
  const int cases = asked == nullptr ? 150 : std::atoi(asked);
  const char* seed = std::getenv("DISCREET_ENGINE_SEED");
  SeededRandom random(seed == nullptr ? 20261115 : static_cast<std::uint64_t>(std::atoll(seed)));
  RandomStatements generate(random);
  TwoWorlds both("fuzz", RandomStatements::policy(), generate.tables());
  int planned = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i)
    planned += both.compare(generate.next()) == TwoWorlds::Verdict::Same ? 1 : 0;
  std::cout << cases << " statements, " << planned << " planned, " << both.statements_run()
            << " engine statements, " << both.rows_compared() << " rows equal\n";
  EXPECT_GT(planned * 3, cases) << "the generator writes too much that is refused";
}

/// The comparison can fail: a row more on one side is seen.
TEST_F(CrossEngineTest, ADifferenceIsNoticed) {
  TwoWorlds both("changed", read_file("hospital.toml"), read_file("hospital.sql"));
  postgres_server().run("UPDATE changed.visits SET cost = cost + 0.01 WHERE visit_id = 5");
  ::testing::TestPartResultArray failures;
  {
    ::testing::ScopedFakeTestPartResultReporter catching(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &failures);
    both.compare("SELECT ward, sum(cost) FROM visits GROUP BY ward");
  }
  EXPECT_GT(failures.size(), 0);
}

}  // namespace
}  // namespace discreet::testing
