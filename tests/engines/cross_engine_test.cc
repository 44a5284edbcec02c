// PostgreSQL gives the integers that the embedded engine gives, to the last digit: for the whole
// corpus of tests/sql, and for random statements over random rows.
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "curator/twin_rows.h"
#include "engines/corpus.h"
#include "engines/postgres_server.h"
#include "engines/postgres_world.h"
#include "engines/two_worlds.h"
#include "sql/planner.h"

namespace discreet::testing {
namespace {

PostgresWorld& postgres_world() {
  static PostgresWorld world;
  return world;
}

class CrossEngineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { worlds_ = std::make_unique<CorpusWorlds>(postgres_world()); }
  static void TearDownTestSuite() { worlds_.reset(); }
  static inline std::unique_ptr<CorpusWorlds> worlds_;
};
class CrossEngineCorpusTest : public CrossEngineTest,
                              public ::testing::WithParamInterface<std::string> {};

TEST_P(CrossEngineCorpusTest, IsTheSameOnPostgres) {
  compare_corpus(GetParam(), worlds_->world(corpus_world(GetParam())));
}
INSTANTIATE_TEST_SUITE_P(, CrossEngineCorpusTest, ::testing::ValuesIn(corpus_files()),
                         [](const auto& file) {
                           return file.param.substr(0, file.param.find('.'));
                         });

/// A twin is made from the same rows, wherever they are.
TEST_F(CrossEngineTest, TwinsSeeTheSameRowsOnPostgres) {
  TwoWorlds& both = worlds_->world("hospital");
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
      if (table.max_rows_per_unit == 1) {
        EXPECT_EQ(here->columns[i].texts.size(), there->columns[i].texts.size())
            << table.name << "." << here->columns[i].name;
      }
    }
  }
  EXPECT_GT(tables, 1U);
}

/// Rows that only PostgreSQL can have must not make a statement fail either.
TEST_F(CrossEngineTest, NoRowMakesAStatementFailOnPostgres) {
  TwoWorlds both(postgres_world(), "hostile", corpus_file("hospital.toml"),
                 corpus_file("hospital.sql"));
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
  for (const char* file : {"answers.test", "plans.test", "googlesql.test", "inference.test"})
    for (const auto& statement : corpus_statements(file)) {
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
  compare_random_statements(postgres_world(), 150);
}

/// The comparison can fail: a row more on one side is seen.
TEST_F(CrossEngineTest, ADifferenceIsNoticed) {
  TwoWorlds both(postgres_world(), "changed", corpus_file("hospital.toml"),
                 corpus_file("hospital.sql"));
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
