// Spark gives the integers that the embedded engine gives, to the last digit: for the whole corpus
// of tests/sql, and for random statements over random rows.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "engines/corpus.h"
#include "engines/duckdb/parquet_tables.h"
#include "engines/spark/engine.h"
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
  TwoWorlds& both = worlds_->world(corpus_world(GetParam()));
  compare_corpus(GetParam(), both);
  EXPECT_GT(both.read_over_files(), 0U) << "a near Spark's files should be read here";
}
INSTANTIATE_TEST_SUITE_P(, CrossSparkCorpusTest, ::testing::ValuesIn(corpus_files()),
                         [](const auto& file) {
                           return file.param.substr(0, file.param.find('.'));
                         });

TEST_F(CrossSparkTest, RandomStatementsOverRandomRowsAgreeToTheLastDigit) {
  compare_random_statements(spark_, 60);
}

/// Whose files are read here, and whose are not.
TEST_F(CrossSparkTest, OnlyPlainTablesAreReadFromTheirFiles) {
  SparkServer& server = spark_server();
  server.run("DROP DATABASE IF EXISTS plain CASCADE");
  server.run("CREATE DATABASE plain");
  const std::string rows =
      "SELECT id % 7 AS person, CAST(id AS INT) AS amount, CAST(id % 3 AS STRING) AS word FROM "
      "range(100)";
  server.run("CREATE TABLE plain.whole USING parquet AS " + rows);
  server.run("CREATE VIEW plain.alias AS SELECT * FROM plain.whole");
  server.run("CREATE VIEW plain.some AS SELECT * FROM plain.whole WHERE amount < 50");
  server.run(
      "CREATE VIEW plain.swapped AS SELECT amount AS person, person AS amount FROM plain.whole");
  server.run("CREATE TABLE plain.parted USING parquet PARTITIONED BY (word) AS " + rows);
  server.run("CREATE TABLE plain.columnar USING orc AS " + rows);
  server.run("CREATE TABLE plain.padded (person BIGINT, word CHAR(5)) USING parquet");
  server.run("INSERT INTO plain.padded SELECT id, 'a' FROM range(10)");
  server.run("CREATE TABLE plain.empty (person BIGINT, amount INT) USING parquet");
  const auto open = [&](const std::string& table) {
    return SparkEngine::open(spark::Address::parse(server.address(table)).value(), {}).value();
  };
  const auto engine = open("plain.whole");
  const auto files = [&](const std::string& table) {
    EXPECT_TRUE(engine->plain_files("plain." + table, false).value().files.empty())
        << "before identity()";
    EXPECT_TRUE(engine->identity("plain." + table));
    return engine->plain_files("plain." + table, false).value();
  };
  EXPECT_FALSE(files("whole").files.empty());
  EXPECT_EQ(files("alias").files, engine->plain_files("plain.whole", false).value().files);
  for (const char* other : {"some", "swapped", "columnar", "padded", "empty"})
    EXPECT_TRUE(files(other).files.empty()) << other;
  // As many rows as Spark has.
  ParquetTables tables(DuckDb::open({}).value());
  const std::vector<ParquetTables::Column> columns = {
      {"person", "BIGINT"}, {"amount", "INTEGER"}, {"word", "VARCHAR"}};
  ASSERT_TRUE(
      tables.show("whole", columns, engine->plain_files("plain.whole", false).value()).value());
  EXPECT_EQ(text_rows(tables.engine(), "SELECT count(*), sum(person), sum(amount) FROM whole"),
            text_rows(tables.engine(), "SELECT 100, 295, 4950"));
}

/// Partitions have the values that Spark gives them, whatever they hold.
TEST_F(CrossSparkTest, PartitionsAreReadFromTheirFiles) {
  SparkServer& server = spark_server();
  server.run("DROP DATABASE IF EXISTS parted CASCADE");
  server.run("CREATE DATABASE parted");
  server.run(
      "CREATE TABLE parted.t USING parquet PARTITIONED BY (word, year, day, flag) AS SELECT id AS "
      "person, CAST(id * 3 AS INT) AS amount, element_at(array('red', 'a/b=c', 'x y%2F', \"it's\", "
      "'NULL', '', NULL, 'é'), CAST(id % 8 + 1 AS INT)) AS word, CAST(nullif(id % 5 - 2, 0) AS "
      "SMALLINT) AS year, CASE WHEN id % 3 > 0 THEN DATE '2024-02-28' + CAST(id % 3 AS INT) END AS "
      "day, nullif(id % 2 = 0, id % 9 = 0) AS flag FROM range(400)");
  const auto engine =
      SparkEngine::open(spark::Address::parse(server.address("parted.t")).value(), {}).value();
  ASSERT_TRUE(engine->identity("parted.t"));
  const auto files = engine->plain_files("parted.t", false).value();
  EXPECT_GT(files.files.size(), 100U);
  EXPECT_EQ(files.constants.size(), 4U);
  ParquetTables tables(DuckDb::open({}).value());
  ASSERT_TRUE(tables
                  .show("t",
                        {{"person", "BIGINT"},
                         {"amount", "INTEGER"},
                         {"word", "VARCHAR"},
                         {"year", "SMALLINT"},
                         {"day", "DATE"},
                         {"flag", "BOOLEAN"}},
                        files)
                  .value());
  EXPECT_EQ(text_rows(tables.engine(),
                      "SELECT CAST(person AS VARCHAR), CAST(amount AS VARCHAR), word, CAST(year AS "
                      "VARCHAR), CAST(day AS VARCHAR), CAST(flag AS VARCHAR) FROM t ORDER BY "
                      "t.person"),
            texts(*engine,
                  "SELECT CAST(person AS STRING), CAST(amount AS STRING), word, CAST(year AS "
                  "STRING), CAST(day AS STRING), CAST(flag AS STRING) FROM parted.t ORDER BY "
                  "parted.t.person"));
  // One that lies elsewhere has no name to go by.
  server.run(fmt::format(
      "ALTER TABLE parted.t ADD PARTITION (word = 'x', year = 1, day = DATE '2024-01-01', flag = "
      "true) LOCATION '{}'",
      (server.folder() / "warehouse/plain.db/whole").string()));
  server.run("REFRESH TABLE parted.t");
  ASSERT_TRUE(engine->identity("parted.t"));
  EXPECT_TRUE(engine->plain_files("parted.t", false).value().files.empty());
}

/// A statement that was taken once is asked about again when columns are no longer the same.
TEST_F(CrossSparkTest, WhatWasTakenIsTakenWhileColumnsStay) {
  SparkServer& server = spark_server();
  server.run("DROP DATABASE IF EXISTS taken CASCADE");
  server.run("CREATE DATABASE taken");
  const auto make = [&](const std::string& column) {
    server.run("DROP TABLE IF EXISTS taken.t");
    server.run("CREATE TABLE taken.t USING parquet AS SELECT id AS " + column + " FROM range(9)");
  };
  make("one");
  const auto engine =
      SparkEngine::open(spark::Address::parse(server.address("taken.t")).value(), {}).value();
  const std::string sum = "SELECT sum(one) FROM taken.t", bad = "SELECT sum(two) FROM taken.t";
  ASSERT_TRUE(engine->describe("taken.t"));
  for (int time = 0; time < 2; ++time) {
    EXPECT_TRUE(engine->check(sum));
    EXPECT_FALSE(engine->check(bad));
    ASSERT_TRUE(engine->describe("taken.t"));
  }
  make("two");
  ASSERT_TRUE(engine->describe("taken.t"));
  EXPECT_FALSE(engine->check(sum));
  EXPECT_TRUE(engine->check(bad));
  server.run("DROP TABLE taken.t");
  EXPECT_FALSE(engine->describe("taken.t"));
  EXPECT_FALSE(engine->check(bad));
}

/// What was cancelled here is not asked of Spark instead.
TEST_F(CrossSparkTest, CancellingStopsTheReadingOfFilesAndWhatWouldFollow) {
  TwoWorlds both(spark_, "cancelled", corpus_file("hospital.toml"), corpus_file("hospital.sql"));
  ASSERT_TRUE(both.far().snapshot({"visits"}));
  Engine& engine = both.far().engine();
  ASSERT_TRUE(engine.begin());
  const auto files = engine.over_files({{"visits"}, {"SELECT person FROM visits"}});
  ASSERT_TRUE(files && *files != nullptr);
  // Hours of work if nobody stops it.
  const auto visited = (*files)->visit("SELECT i AS one FROM visits, range(1000000000000) t(i)",
                                       {"one"}, [&](const EngineChunk&, std::size_t) {
                                         engine.cancel();
                                         return true;
                                       });
  EXPECT_FALSE(visited.has_value());
  EXPECT_FALSE(engine.query("SELECT 1"));
  engine.end();
  EXPECT_TRUE(engine.query("SELECT 1"));
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
