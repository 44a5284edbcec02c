// Columns of a Spark's own files that it sends, and that are read here: the same rows, once, and
// only what was asked for.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "engines/corpus.h"
#include "engines/duckdb/parquet_tables.h"
#include "engines/spark/engine.h"
#include "engines/spark/spark_server.h"
#include "engines/spark/spark_world.h"

namespace discreet::testing {
namespace {

class SentFilesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { worlds_ = std::make_unique<CorpusWorlds>(spark_); }
  static void TearDownTestSuite() { worlds_.reset(); }
  static inline SparkWorld spark_{"files=sent"};
  static inline std::unique_ptr<CorpusWorlds> worlds_;

  void SetUp() override {
    spark_server().run("DROP DATABASE IF EXISTS sent CASCADE");
    spark_server().run("CREATE DATABASE sent");
  }
  static std::unique_ptr<SparkEngine> open(SparkEngineSettings settings = {}) {
    settings.operator_log = [](std::string_view words) { last_words() = words; };
    return SparkEngine::open(
               spark::Address::parse(spark_server().address("sent.t?files=sent")).value(),
               std::move(settings))
        .value();
  }
  static PlainFiles files(RemoteEngine& engine) {
    EXPECT_TRUE(engine.describe("sent.t"));  // as a question begins: files are listed anew
    EXPECT_TRUE(engine.identity("sent.t"));
    const auto found = engine.plain_files("sent.t", false);
    EXPECT_TRUE(found) << found.error().message << last_words();
    return found.value_or(PlainFiles());
  }
  static constexpr char kRows[] =
      "SELECT id AS person, CAST(id % 100 AS INT) AS cost, concat('kind ', id * 7919 % 10007) AS "
      "kind FROM range(200000)";
  std::vector<ParquetTables::Column> columns_ = {
      {"person", "BIGINT"}, {"cost", "INTEGER"}, {"kind", "VARCHAR"}};
};
class SentFilesCorpusTest : public SentFilesTest,
                            public ::testing::WithParamInterface<std::string> {};

TEST_P(SentFilesCorpusTest, IsTheSameFromFilesThatWereSent) {
  TwoWorlds& both = worlds_->world(corpus_world(GetParam()));
  compare_corpus_over_files(GetParam(), both);
  EXPECT_GT(both.read_over_files(), 0U) << "files should have been sent";
}
INSTANTIATE_TEST_SUITE_P(, SentFilesCorpusTest, ::testing::ValuesIn(corpus_files()),
                         [](const auto& file) {
                           return file.param.substr(0, file.param.find('.'));
                         });

TEST_F(SentFilesTest, WhatAStatementNamesIsSentAndIsSentOnce) {
  spark_server().run(
      std::string("CREATE TABLE sent.t USING parquet AS SELECT /*+ REPARTITION(3) */ "
                  "* FROM (") +
      kRows + ")");
  const auto engine = open();
  const PlainFiles first = files(*engine);
  ASSERT_EQ(first.files.size(), 3U);
  ASSERT_NE(first.partial, nullptr);
  for (const char* column : {"person", "cost", "kind"}) EXPECT_FALSE(first.partial->has(column));
  ParquetTables tables(DuckDb::open({}).value());
  const std::string sum = R"(SELECT count(*), sum("cost") FROM t WHERE "person" < 100000)";
  const auto show = [&](const PlainFiles& shown, const std::string& statement) {
    return tables.show("t", columns_, shown).value() &&
           tables.bring("t", shown, {statement}).value();
  };
  ASSERT_TRUE(show(first, sum));
  EXPECT_EQ(text_rows(tables.engine(), sum), text_rows(tables.engine(), "SELECT 100000, 4950000"));
  EXPECT_TRUE(first.partial->has("cost") && first.partial->has("person"));
  EXPECT_FALSE(first.partial->has("kind"));
  // What is not there is not read as something else.
  auto rows = tables.engine().query("SELECT max(kind) FROM t");
  EXPECT_FALSE(rows && rows->next());
  // Another connection has the same copies, and needs Spark for what is new alone.
  const auto other = engine->connect().value();
  const PlainFiles again = files(*other);
  EXPECT_EQ(again.files, first.files);
  EXPECT_TRUE(again.partial->has("cost"));
  ASSERT_TRUE(show(again, R"(SELECT max("kind"), count(DISTINCT "kind") FROM t)"));
  EXPECT_EQ(text_rows(tables.engine(), R"(SELECT max("kind"), count(DISTINCT "kind") FROM t)"),
            text_rows(tables.engine(), "SELECT 'kind 9999', 10007"));
  // New rows are a new file, and nothing else is sent again.
  spark_server().run("INSERT INTO sent.t SELECT /*+ COALESCE(1) */ 1, 1, 'y' FROM range(10)");
  const PlainFiles more = files(*other);
  ASSERT_EQ(more.files.size(), 4U);
  for (const auto& file : first.files)
    EXPECT_NE(std::ranges::find(more.files, file), more.files.end()) << file;
  EXPECT_FALSE(more.partial->has("cost"));
  ASSERT_TRUE(show(more, sum));
  EXPECT_EQ(text_rows(tables.engine(), sum), text_rows(tables.engine(), "SELECT 100010, 4950010"));
  // Other rows are other files.
  spark_server().run("INSERT OVERWRITE sent.t SELECT id, 1, 'x' FROM range(10)");
  const PlainFiles anew = files(*other);
  EXPECT_NE(anew.files, first.files);
  EXPECT_FALSE(anew.partial->has("cost"));
  ASSERT_TRUE(show(anew, sum));
  EXPECT_EQ(text_rows(tables.engine(), sum), text_rows(tables.engine(), "SELECT 10, 10"));
}

TEST_F(SentFilesTest, MuchComesInSeveralStatements) {
  spark_server().run(std::string("CREATE TABLE sent.t USING parquet AS ") + kRows);
  SparkEngineSettings settings;
  settings.bytes_at_once = 300'000;
  const auto engine = open(settings);
  const PlainFiles sent = files(*engine);
  ASSERT_NE(sent.partial, nullptr);
  ParquetTables tables(DuckDb::open({}).value());
  const std::string all = R"(SELECT sum("person" * "cost"), sum(length("kind")), count(*) FROM t)";
  ASSERT_TRUE(tables.show("t", columns_, sent).value());
  ASSERT_TRUE(tables.bring("t", sent, {all}).value());
  EXPECT_EQ(text_rows(tables.engine(), all),
            texts(*engine,
                  "SELECT CAST(sum(person * cost) AS STRING), CAST(sum(length(kind)) AS STRING), "
                  "CAST(count(*) AS STRING) FROM sent.t"));
}

TEST_F(SentFilesTest, WhatIsTooLargeIsNotSent) {
  spark_server().run(std::string("CREATE TABLE sent.t USING parquet AS ") + kRows);
  SparkEngineSettings settings;
  settings.file_bytes_max = 1000;
  EXPECT_TRUE(files(*open(settings)).files.empty());
  settings = {};
  settings.bytes_at_once = 1;
  EXPECT_TRUE(files(*open(settings)).files.empty());
}

/// What Parquet says of a file is longer than what is asked for at first.
TEST_F(SentFilesTest, FilesOfManyColumnsAreSent) {
  std::string columns, named;
  for (int i = 0; i < 900; ++i) {
    columns += fmt::format("{}id * {} AS a_long_name_of_a_column_{}", i > 0 ? ", " : "", i + 1, i);
    columns_.push_back({fmt::format("a_long_name_of_a_column_{}", i), "BIGINT"});
  }
  columns_.erase(columns_.begin(), columns_.begin() + 3);
  spark_server().run("CREATE TABLE sent.t USING parquet AS SELECT " + columns + " FROM range(50)");
  const auto engine = open();
  const PlainFiles sent = files(*engine);
  ASSERT_NE(sent.partial, nullptr);
  ParquetTables tables(DuckDb::open({}).value());
  const std::string sum =
      R"(SELECT sum("a_long_name_of_a_column_0"), sum("a_long_name_of_a_column_899") FROM t)";
  ASSERT_TRUE(tables.show("t", columns_, sent).value());
  ASSERT_TRUE(tables.bring("t", sent, {sum}).value());
  EXPECT_EQ(text_rows(tables.engine(), sum), text_rows(tables.engine(), "SELECT 1225, 1102500"));
}

TEST_F(SentFilesTest, FoldersMayHaveAnyName) {
  const std::string folder = (spark_server().folder() / "a b,c'd%20é=f;g").string();
  for (const std::string& name : {folder.substr(0, folder.rfind("=f")), folder}) {
    spark_server().run("DROP TABLE IF EXISTS sent.t");
    std::string quoted;
    for (const char c : name) quoted += c == '\'' ? "\\'" : std::string(1, c);
    spark_server().run("CREATE TABLE sent.t USING parquet LOCATION '" + quoted +
                       "' AS SELECT id AS person, CAST(id AS INT) AS cost, 'x' AS kind FROM "
                       "range(10)");
    const auto engine = open();
    const PlainFiles sent = files(*engine);
    // A name with "=" might be a partition's.
    ASSERT_EQ(sent.files.empty(), name == folder) << name;
    if (sent.files.empty()) continue;
    ParquetTables tables(DuckDb::open({}).value());
    const std::string sum = R"(SELECT sum("cost") FROM t)";
    ASSERT_TRUE(tables.show("t", columns_, sent).value());
    ASSERT_TRUE(tables.bring("t", sent, {sum}).value()) << last_words();
    EXPECT_EQ(text_rows(tables.engine(), sum), text_rows(tables.engine(), "SELECT 45"));
  }
}

TEST_F(SentFilesTest, PartitionsAreSent) {
  spark_server().run(
      "CREATE TABLE sent.t USING parquet PARTITIONED BY (kind) AS SELECT id AS person, CAST(id * 3 "
      "AS INT) AS cost, element_at(array('red', 'a/b=c', 'x y%2F', \"it's\", NULL, 'é'), "
      "CAST(id % 6 + 1 AS INT)) AS kind FROM range(600)");
  const auto engine = open();
  const PlainFiles sent = files(*engine);
  ASSERT_NE(sent.partial, nullptr) << last_words();
  EXPECT_EQ(sent.constants.size(), 1U);
  ParquetTables tables(DuckDb::open({}).value());
  const std::string all = R"(SELECT "kind", sum("cost") FROM t GROUP BY "kind" ORDER BY "kind")";
  ASSERT_TRUE(tables.show("t", columns_, sent).value());
  ASSERT_TRUE(tables.bring("t", sent, {all}).value()) << last_words();
  EXPECT_EQ(text_rows(tables.engine(), all),
            texts(*engine,
                  "SELECT kind, CAST(sum(cost) AS STRING) FROM sent.t GROUP BY kind ORDER BY kind "
                  "NULLS LAST"));
}

}  // namespace
}  // namespace discreet::testing
