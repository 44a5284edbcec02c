// Spark gives the integers that the embedded engine gives, to the last digit: for the whole corpus
// of tests/sql, and for random statements over random rows.
#include <cstdlib>
#include <iostream>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "engines/corpus.h"
#include "engines/random_statements.h"
#include "engines/spark/spark_server.h"
#include "engines/spark/spark_world.h"
#include "support/seeded_random.h"

namespace discreet::testing {
namespace {

class CrossSparkTest : public ::testing::Test {
 protected:
  static void TearDownTestSuite() { worlds().clear(); }

 public:
  static std::map<std::string, std::unique_ptr<TwoWorlds>>& worlds() {
    static std::map<std::string, std::unique_ptr<TwoWorlds>> all;
    return all;
  }
  static TwoWorlds& world(const std::string& name) {
    static SparkWorld spark;
    auto& place = worlds()[name];
    if (!place)
      place = std::make_unique<TwoWorlds>(spark, name, corpus_file(name + ".toml"),
                                          corpus_file(name + ".sql"));
    return *place;
  }
};

TEST_F(CrossSparkTest, AnswersOfTheCorpusAreTheSameOnSpark) {
  compare_corpus("answers.test", world("hospital"));
}
TEST_F(CrossSparkTest, PlansOfTheCorpusAreTheSameOnSpark) {
  compare_corpus("plans.test", world("hospital"));
}
TEST_F(CrossSparkTest, GoogleSqlFormIsTheSameOnSpark) {
  compare_corpus("googlesql.test", world("hospital"));
}
TEST_F(CrossSparkTest, RefusalsAreTheSameOnSpark) {
  compare_corpus("refusals.test", world("hospital"));
}
TEST_F(CrossSparkTest, TpcHIsTheSameOnSpark) {
  compare_corpus("tpch.test", world("tpch"));
}

TEST_F(CrossSparkTest, RandomStatementsOverRandomRowsAgreeToTheLastDigit) {
  const char* asked = std::getenv("DISCREET_ENGINE_CASES");
  const int cases = asked == nullptr ? 60 : std::atoi(asked);
  const char* seed = std::getenv("DISCREET_ENGINE_SEED");
  SeededRandom random(seed == nullptr ? 20261115 : static_cast<std::uint64_t>(std::atoll(seed)));
  RandomStatements generate(random);
  SparkWorld spark;
  TwoWorlds both(spark, "fuzz", RandomStatements::policy(), generate.tables());
  int planned = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i)
    planned += both.compare(generate.next()) == TwoWorlds::Verdict::Same ? 1 : 0;
  std::cout << cases << " statements, " << planned << " planned, " << both.statements_run()
            << " engine statements, " << both.rows_compared() << " rows equal\n";
  EXPECT_GT(planned * 3, cases) << "the generator writes too much that is refused";
}

/// The comparison can fail: a row more on one side is seen.
TEST_F(CrossSparkTest, ADifferenceIsNoticed) {
  SparkWorld spark;
  TwoWorlds both(spark, "changed", corpus_file("hospital.toml"), corpus_file("hospital.sql"));
  spark_server().run("INSERT INTO changed.visits SELECT * FROM changed.visits LIMIT 1");
  ASSERT_TRUE(both.far().snapshot({"visits"}));
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
