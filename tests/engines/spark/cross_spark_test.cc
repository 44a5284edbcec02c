// Spark gives the integers that the embedded engine gives, to the last digit: for the whole corpus
// of tests/sql, and for random statements over random rows.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "engines/corpus.h"
#include "engines/spark/spark_server.h"
#include "engines/spark/spark_world.h"

namespace discreet::testing {
namespace {

class CrossSparkTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { worlds_ = std::make_unique<CorpusWorlds>(spark_); }
  static void TearDownTestSuite() { worlds_.reset(); }
  static inline SparkWorld spark_;
  static inline std::unique_ptr<CorpusWorlds> worlds_;
};
class CrossSparkCorpusTest : public CrossSparkTest,
                             public ::testing::WithParamInterface<std::string> {};

TEST_P(CrossSparkCorpusTest, IsTheSameOnSpark) {
  compare_corpus(GetParam(), worlds_->world(corpus_world(GetParam())));
}
INSTANTIATE_TEST_SUITE_P(, CrossSparkCorpusTest, ::testing::ValuesIn(corpus_files()),
                         [](const auto& file) {
                           return file.param.substr(0, file.param.find('.'));
                         });

TEST_F(CrossSparkTest, RandomStatementsOverRandomRowsAgreeToTheLastDigit) {
  compare_random_statements(spark_, 60);
}

/// The comparison can fail: a row more on one side is seen.
TEST_F(CrossSparkTest, ADifferenceIsNoticed) {
  TwoWorlds both(spark_, "changed", corpus_file("hospital.toml"), corpus_file("hospital.sql"));
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
