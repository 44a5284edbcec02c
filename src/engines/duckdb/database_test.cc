#include "engines/duckdb/database.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engines/duckdb/appender.h"
#include "support/own_temporary_folder.h"

namespace discreet {
namespace {

DuckDb memory(OperatorLog log = nullptr) {
  return DuckDb::open({.threads = 2, .operator_log = std::move(log)}).value();
}

DuckDbChunk only_chunk(DuckDb& database, const std::string& sql) {
  auto rows = database.query(sql).value();
  auto chunk = rows.next().value();
  EXPECT_TRUE(chunk.has_value());
  return std::move(*chunk);
}

TEST(DuckDbTest, TheLibraryIsRecentEnough) {
  int major = 0;
  int minor = 0;
  ASSERT_EQ(std::sscanf(DuckDb::library_version().c_str(), "v%d.%d", &major, &minor), 2);
  EXPECT_GE(std::make_pair(major, minor), std::make_pair(1, 4));
}

TEST(DuckDbTest, EveryTypeArrivesExactly) {
  DuckDb database = memory();
  auto rows =
      database
          .query(
              "SELECT true AS b, (-128)::TINYINT AS i8, (-300)::SMALLINT AS i16, 70000::INTEGER "
              "AS i32, (-9223372036854775808)::BIGINT AS i64, 4294967295::UINTEGER AS u32, "
              "18446744073709551615::UBIGINT AS u64, "
              "'-170141183460469231731687303715884105728'::HUGEINT AS i128, "
              "0.1::DOUBLE AS d, 0.5::FLOAT AS f, 'short' AS s, "
              "'a text longer than twelve bytes' AS t, DATE '2026-11-15' AS day, "
              "TIMESTAMP '1970-01-01 00:00:01' AS moment, NULL::BIGINT AS nothing")
          .value();
  std::vector<DuckDbType> types;
  for (const auto& column : rows.columns()) types.push_back(column.type);
  using T = DuckDbType;
  EXPECT_EQ(types, (std::vector<T>{T::Bool, T::Int64, T::Int64, T::Int64, T::Int64, T::Int64,
                                   T::HugeInt, T::HugeInt, T::Double, T::Double, T::Varchar,
                                   T::Varchar, T::Date, T::Timestamp, T::Int64}));
  EXPECT_EQ(rows.columns()[12].name, "day");

  const DuckDbChunk chunk = std::move(*rows.next().value());
  ASSERT_EQ(chunk.size(), 1u);
  EXPECT_TRUE(chunk.boolean(0, 0));
  EXPECT_EQ(chunk.int64s(1)[0], -128);
  EXPECT_EQ(chunk.int64s(2)[0], -300);
  EXPECT_EQ(chunk.int64s(3)[0], 70000);
  EXPECT_EQ(chunk.int64s(4)[0], std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(chunk.int64s(5)[0], 4294967295);
  EXPECT_TRUE(chunk.int128(6, 0) == (Int128{1} << 64) - 1);
  EXPECT_TRUE(chunk.int128(7, 0) == static_cast<Int128>(UInt128{1} << 127));
  EXPECT_EQ(chunk.doubles(8)[0], 0.1);
  EXPECT_EQ(chunk.doubles(9)[0], 0.5);
  EXPECT_EQ(chunk.varchar(10, 0), "short");
  EXPECT_EQ(chunk.varchar(11, 0), "a text longer than twelve bytes");
  EXPECT_EQ(chunk.int64s(12)[0], 20772);
  EXPECT_EQ(chunk.int64s(13)[0], 1'000'000);
  EXPECT_TRUE(chunk.is_null(14, 0));
  EXPECT_FALSE(chunk.is_null(4, 0));
  EXPECT_FALSE(rows.next().value().has_value());
  EXPECT_FALSE(rows.next().value().has_value());
}

TEST(DuckDbTest, ASumOfLargeIntegersDoesNotWrap) {
  DuckDb database = memory();
  const auto chunk = only_chunk(
      database, "SELECT sum(x) FROM (VALUES (9223372036854775807), (9223372036854775807)) v(x)");
  EXPECT_TRUE(chunk.int128(0, 0) == Int128{2} * std::numeric_limits<std::int64_t>::max());
}

TEST(DuckDbTest, AColumnReadAsAnotherTypeIsOurBug) {
  DuckDb database = memory();
  const auto chunk = only_chunk(database, "SELECT 'x' AS t, 1 AS i");
  EXPECT_THROW((void)chunk.int64s(0), InvariantViolation);
  EXPECT_THROW((void)chunk.varchar(1, 0), InvariantViolation);
  EXPECT_THROW((void)chunk.boolean(1, 0), InvariantViolation);
  EXPECT_THROW((void)chunk.doubles(1), InvariantViolation);
  EXPECT_THROW((void)chunk.varchar(0, 1), InvariantViolation);
}

TEST(DuckDbTest, MillionsOfRowsStreamInOrder) {
  DuckDb database = memory();
  auto rows = database.query("SELECT range AS i FROM range(3000000)").value();
  std::int64_t expected = 0;
  while (auto chunk = rows.next().value())
    for (const std::int64_t i : chunk->int64s(0)) ASSERT_EQ(i, expected++);
  EXPECT_EQ(expected, 3'000'000);
}

TEST(DuckDbTest, AnInexactTypeIsRefusedWithTheColumnsName) {
  DuckDb database = memory();
  for (const char* sql : {"SELECT 1.5::DECIMAL(4,1) AS price", "SELECT [1] AS price",
                          "SELECT 'a'::BLOB AS price", "SELECT 1::UHUGEINT AS price"}) {
    const auto rows = database.query(sql);
    ASSERT_FALSE(rows) << sql;
    EXPECT_EQ(rows.error().code, ErrorCode::Refused);
    EXPECT_NE(rows.error().message.find("\"price\""), std::string::npos) << rows.error().message;
  }
}

// DuckDB quotes the offending value; whoever asked must not see it, the operator may.
TEST(DuckDbTest, ARowValueInABackendMessageReachesOnlyTheOperatorsLog) {
  std::string log;
  DuckDb database = memory([&log](std::string_view message) { log += message; });
  ASSERT_TRUE(database.execute("CREATE TABLE t AS SELECT 'SECRET' AS v"));
  auto rows = database.query("SELECT v::INTEGER FROM t");
  Error error = rows ? rows->next().error() : rows.error();
  EXPECT_EQ(error.code, ErrorCode::Unavailable);
  EXPECT_EQ(error.message.find("SECRET"), std::string::npos) << error.message;
  EXPECT_NE(log.find("SECRET"), std::string::npos) << log;

  log.clear();
  const auto executed = database.execute("CREATE TABLE u AS SELECT v::INTEGER AS i FROM t");
  ASSERT_FALSE(executed);
  EXPECT_EQ(executed.error(), error) << "the same sentence whatever the rows";
  EXPECT_NE(log.find("SECRET"), std::string::npos) << log;
}

TEST(DuckDbTest, AStreamThatFailsMidwayNeverLooksComplete) {
  DuckDb database = memory();
  ASSERT_TRUE(
      database.execute("CREATE TABLE t AS SELECT CASE WHEN i = 900000 THEN 'x' ELSE '1' END AS v "
                       "FROM range(1000000) r(i)"));
  auto rows = database.query("SELECT v::INTEGER FROM t");
  ASSERT_TRUE(rows);
  bool failed = false;
  for (;;) {
    auto chunk = rows->next();
    failed = !chunk;
    if (failed || !chunk->has_value()) break;
  }
  EXPECT_TRUE(failed);
  EXPECT_FALSE(rows->next()) << "asking again must not read as the end";
}

TEST(DuckDbTest, ANewQueryEndsAnOpenStreamWithAnError) {
  DuckDb database = memory();
  auto rows = database.query("SELECT range FROM range(3000000)").value();
  ASSERT_TRUE(rows.next().value().has_value());
  ASSERT_TRUE(database.execute("SELECT 1"));
  std::size_t seen = 0;
  bool failed = false;
  for (;;) {
    auto chunk = rows.next();
    failed = !chunk;
    if (failed || !chunk->has_value()) break;
    seen += (*chunk)->size();
  }
  EXPECT_TRUE(failed) << "ended quietly after " << seen << " rows";
}

TEST(DuckDbTest, InterruptStopsALongQuery) {
  DuckDb database = memory();
  std::atomic<bool> done = false;
  std::thread stopper([&] {
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      database.interrupt();
    }
  });
  const auto result = database.execute(
      "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3");
  done = true;
  stopper.join();
  EXPECT_FALSE(result);
}

TEST(DuckDbTest, RowsOutliveTheirConnection) {
  auto rows = [] {
    DuckDb database = memory();
    return database.query("SELECT range FROM range(10)").value();
  }();
  EXPECT_EQ(rows.next().value()->size(), 10u);
}

TEST(DuckDbTest, ASecondConnectionSeesTheSameTables) {
  DuckDb first = memory();
  ASSERT_TRUE(first.execute("CREATE TABLE t AS SELECT 7 AS x"));
  DuckDb second = first.connect().value();
  EXPECT_EQ(only_chunk(second, "SELECT x FROM t").int64s(0)[0], 7);
}

TEST(DuckDbTest, ExtensionsStayOffWhateverAStatementSays) {
  DuckDb database = memory();
  for (const char* option : {"autoinstall_known_extensions", "autoload_known_extensions"}) {
    EXPECT_FALSE(database.execute(std::string("SET ") + option + " = true"));
    EXPECT_EQ(only_chunk(database, std::string("SELECT current_setting('") + option + "')::VARCHAR")
                  .varchar(0, 0),
              "false");
  }
}

TEST(DuckDbTest, SettingsAreTaken) {
  DuckDb database = DuckDb::open({.threads = 1, .memory_max_mib = 256}).value();
  const auto chunk = only_chunk(
      database,
      "SELECT current_setting('threads')::BIGINT, current_setting('memory_limit')::VARCHAR");
  EXPECT_EQ(chunk.int64s(0)[0], 1);
  EXPECT_EQ(chunk.varchar(1, 0), "256.0 MiB");
}

TEST(DuckDbTest, BadSettingsAreRefused) {
  EXPECT_EQ(DuckDb::open({.threads = 0}).error().code, ErrorCode::InvalidParameter);
  EXPECT_EQ(DuckDb::open({.memory_max_mib = 0}).error().code, ErrorCode::InvalidParameter);
  EXPECT_EQ(DuckDb::open({.read_only = true}).error().code, ErrorCode::InvalidParameter);
  std::string log;
  const auto missing =
      DuckDb::open({.path = "/nonexistent/folder/x.duckdb",
                    .operator_log = [&log](std::string_view message) { log += message; }});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::Unavailable);
  EXPECT_FALSE(log.empty());
}

TEST(DuckDbTest, AFileKeepsItsRowsAndReadOnlyRefusesWrites) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("discreet_duckdb_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = folder / "rows.duckdb";
  {
    DuckDb database = DuckDb::open({.path = path}).value();
    ASSERT_TRUE(database.execute("CREATE TABLE t AS SELECT 5 AS x"));
  }
  {
    DuckDb database = DuckDb::open({.path = path, .read_only = true}).value();
    EXPECT_EQ(only_chunk(database, "SELECT x FROM t").int64s(0)[0], 5);
    EXPECT_FALSE(database.execute("INSERT INTO t VALUES (6)"));
  }
  std::filesystem::remove_all(folder);
}

TEST(DuckDbTest, QuotingSurvivesHostileText) {
  DuckDb database = memory();
  const std::string nasty = "it's \"quoted\"; DROP TABLE t --";
  ASSERT_TRUE(database.execute("CREATE TABLE " + sql_identifier(nasty) + " AS SELECT " +
                               sql_literal(nasty) + " AS x"));
  EXPECT_EQ(only_chunk(database, "SELECT x FROM " + sql_identifier(nasty)).varchar(0, 0), nasty);
}

TEST(DuckDbAppenderTest, RowsArriveAsAppended) {
  DuckDb database = memory();
  ASSERT_TRUE(database.execute(
      "CREATE TABLE t (b BOOLEAN, i INTEGER, l BIGINT, d DOUBLE, s VARCHAR, day DATE)"));
  auto appender = DuckDbAppender::make(database, "t").value();
  constexpr int kRows = 5000;  // more than two chunks
  for (int row = 0; row < kRows; ++row) {
    appender.append(row % 2 == 0).append(row).append(std::int64_t{row} << 33).append(row / 4.0);
    if (row % 3 == 0)
      appender.append_null();
    else
      appender.append("a fairly long string, number " + std::to_string(row));
    ASSERT_TRUE(appender.append(row).end_row());
  }
  ASSERT_TRUE(appender.close());
  auto rows = database.query("SELECT * FROM t ORDER BY i").value();
  int row = 0;
  while (auto chunk = rows.next().value())
    for (std::size_t i = 0; i < chunk->size(); ++i, ++row) {
      ASSERT_EQ(chunk->boolean(0, i), row % 2 == 0);
      ASSERT_EQ(chunk->int64s(1)[i], row);
      ASSERT_EQ(chunk->int64s(2)[i], std::int64_t{row} << 33);
      ASSERT_EQ(chunk->doubles(3)[i], row / 4.0);
      ASSERT_EQ(chunk->is_null(4, i), row % 3 == 0);
      if (row % 3 != 0) {
        ASSERT_EQ(chunk->varchar(4, i), "a fairly long string, number " + std::to_string(row));
      }
      ASSERT_EQ(chunk->int64s(5)[i], row);
    }
  EXPECT_EQ(row, kRows);
}

TEST(DuckDbAppenderTest, WrongTypesAndCountsAreOurBugs) {
  DuckDb database = memory();
  ASSERT_TRUE(database.execute("CREATE TABLE t (i INTEGER, s VARCHAR)"));
  auto appender = DuckDbAppender::make(database, "t").value();
  EXPECT_THROW(appender.append("text"), InvariantViolation);
  EXPECT_THROW(appender.append(std::int64_t{1} << 40), InvariantViolation);
  EXPECT_THROW((void)appender.end_row(), InvariantViolation);
  appender.append(1).append("one");
  EXPECT_THROW(appender.append(2), InvariantViolation);
  EXPECT_THROW(appender.append_null(), InvariantViolation);
}

TEST(DuckDbAppenderTest, AMissingTableOrOddTypeIsRefused) {
  DuckDb database = memory();
  EXPECT_EQ(DuckDbAppender::make(database, "absent").error().code, ErrorCode::Unavailable);
  ASSERT_TRUE(database.execute("CREATE TABLE odd (x DECIMAL(4,2))"));
  EXPECT_EQ(DuckDbAppender::make(database, "odd").error().code, ErrorCode::Refused);
}

TEST(DuckDbAppenderTest, AConstraintViolationIsReportedWithoutItsValue) {
  std::string log;
  DuckDb database = memory([&log](std::string_view message) { log += message; });
  ASSERT_TRUE(database.execute("CREATE TABLE t (i INTEGER PRIMARY KEY)"));
  auto appender = DuckDbAppender::make(database, "t").value();
  ASSERT_TRUE(appender.append(4711).end_row());
  ASSERT_TRUE(appender.append(4711).end_row());
  const auto closed = appender.close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().message.find("4711"), std::string::npos);
  EXPECT_NE(log.find("4711"), std::string::npos) << log;
}

using DuckDbSpillTest = OwnTemporaryFolder;

/// More rows than there is memory for.
bool fill(DuckDb& database) {
  return database
      .execute("CREATE TABLE t AS SELECT hash(i) AS a, hash(i + 1) AS b FROM range(6000000) t(i)")
      .has_value();
}

TEST_F(DuckDbSpillTest, RowsThatDoNotFitMemoryLieInAFolderOfTheirOwnersAlone) {
  const auto ours = folder_ / ("discreet-" + std::to_string(geteuid()));
  {
    DuckDb database = DuckDb::open({.threads = 1, .memory_max_mib = 48}).value();
    EXPECT_TRUE(std::filesystem::is_empty(ours));
    ASSERT_TRUE(fill(database));
    EXPECT_EQ(std::filesystem::status(ours).permissions(), std::filesystem::perms::owner_all);
    EXPECT_FALSE(std::filesystem::is_empty(*std::filesystem::directory_iterator(ours)));
    EXPECT_FALSE(std::filesystem::exists(".tmp"));
    EXPECT_EQ(only_chunk(database, "SELECT count(DISTINCT a) FROM t").int64s(0)[0], 6000000);
  }
  EXPECT_TRUE(std::filesystem::is_empty(ours));
}

TEST_F(DuckDbSpillTest, WithoutSuchAFolderNothingIsWritten) {
  const auto spills = [] {
    DuckDb database = DuckDb::open({.threads = 1, .memory_max_mib = 48}).value();
    EXPECT_EQ(only_chunk(database, "SELECT 1").int64s(0)[0], 1);
    return fill(database);
  };
  // What another user might have made.
  const auto ours = folder_ / ("discreet-" + std::to_string(geteuid()));
  std::filesystem::create_directory(ours);
  std::filesystem::permissions(ours, std::filesystem::perms::all);
  EXPECT_FALSE(spills());
  EXPECT_TRUE(std::filesystem::is_empty(ours));
  std::filesystem::remove(ours);
  std::filesystem::create_directory_symlink("/tmp", ours);
  EXPECT_FALSE(spills());
  setenv("TMPDIR", "/nowhere/at/all", 1);
  EXPECT_FALSE(spills());
  EXPECT_FALSE(std::filesystem::exists(".tmp"));
}

}  // namespace
}  // namespace discreet
