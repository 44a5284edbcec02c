// Rows that are read by pages, each as one word, are the rows: NULLs, sizes that do not fit a word,
// empty pages, and tables that have no pages.
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engines/postgres/engine.h"
#include "engines/postgres_server.h"

namespace discreet::testing {
namespace {

using Row = std::tuple<std::int64_t, bool, std::int64_t>;  // unit, whether there is a value, value

class PagesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    postgres_server().run("DROP SCHEMA IF EXISTS pages CASCADE; CREATE SCHEMA pages");
  }
  void SetUp() override { open({}); }
  void open(PostgresEngineSettings settings, const std::string& more = "") {
    settings.operator_log = [this](auto words) { log_ += words; };
    engine_ = PostgresEngine::open(
                  postgres::Address::parse(postgres_server().address() + more).value(), settings)
                  .value();
  }

  /// Some 400 pages, so that several statements are needed.
  void make(const std::string& unit, const std::string& value) {
    postgres_server().run(
        fmt::format("DROP TABLE IF EXISTS pages.t CASCADE; CREATE TABLE pages.t AS SELECT {} AS "
                    "unit, {} AS v, repeat('x', 40) AS pad FROM generate_series(1, 30000) i",
                    unit, value));
  }

  /// Rows without a unit are counted and not kept. `by_pages`: as in a question.
  std::map<Row, int> read(const std::string& sql, bool by_pages, std::uint64_t* rows = nullptr) {
    std::map<Row, int> all;
    if (by_pages) {
      EXPECT_TRUE(engine_->begin().has_value()) << log_;
    }
    const auto visited =
        engine_->visit(sql, {"unit", "v"}, [&](const EngineChunk& chunk, std::size_t) {
          for (std::size_t row = 0; row < chunk.size(); ++row) {
            if (chunk.is_null(0, row)) continue;
            const bool there = !chunk.is_null(1, row);
            const std::int64_t value = !there                              ? 0
                                       : chunk.type(1) == EngineType::Bool ? chunk.boolean(1, row)
                                                                           : chunk.int64s(1)[row];
            ++all[{chunk.int64s(0)[row], there, value}];
          }
          return true;
        });
    if (by_pages) engine_->end();
    EXPECT_TRUE(visited.has_value()) << log_;
    if (visited && rows != nullptr) *rows = visited->rows;
    return all;
  }

  static constexpr char kMarked[] = "SELECT unit, v FROM pages.t/*pages of pages.t*/";

  std::string log_;
  std::unique_ptr<PostgresEngine> engine_;
};

TEST_F(PagesTest, WordsGiveTheRowsThatHaveAUnit) {
  for (const char* value :
       {"CASE WHEN i % 7 = 0 THEN NULL WHEN i % 5 = 0 THEN -2147483648 WHEN i % 5 = 1 THEN "
        "2147483647 ELSE i - 15000 END",
        "CAST(CASE WHEN i % 7 = 0 THEN NULL WHEN i % 5 = 0 THEN -32768 ELSE i END AS smallint)",
        "CASE WHEN i % 7 > 0 THEN i % 3 = 0 END"}) {
    make("CASE WHEN i % 11 > 0 THEN CAST(i % 997 AS bigint) END", value);
    postgres_server().run("DELETE FROM pages.t WHERE unit BETWEEN 10 AND 20 OR ctid < '(50,0)'");
    std::uint64_t rows = 0, all_rows = 0;
    const auto words = read(kMarked, true, &rows), plain = read(kMarked, false, &all_rows);
    EXPECT_EQ(words, plain) << value;
    EXPECT_GT(plain.size(), 900U);
    EXPECT_LT(rows, all_rows) << "rows without a unit came: not by pages";
  }
}

TEST_F(PagesTest, RowsThatDoNotFitAWordComeInAnotherWay) {
  // In the first pages, in the middle, in the last ones; too large, or negative.
  for (const int at : {3, 15'000, 29'999})
    for (const char* odd : {"9223372036854775807", "-9223372036854775808", "-1", "1073741824"}) {
      make(fmt::format("CASE WHEN i = {} THEN CAST({} AS bigint) ELSE i % 997 END", at, odd), "i");
      EXPECT_EQ(read(kMarked, true), read(kMarked, false)) << at << " " << odd;
    }
}

TEST_F(PagesTest, PagesOfPartitionsAreReadTogether) {
  // Of one size, with one that is empty, with one that has all; deeper; and by inheritance.
  constexpr char kColumns[] = "(unit bigint, v int, pad text) ";
  const auto partitions = [&](const std::vector<std::string>& parts) {
    std::string made = fmt::format(
        "DROP TABLE IF EXISTS pages.parts CASCADE; CREATE TABLE pages.parts {} PARTITION BY RANGE "
        "(v)",
        kColumns);
    for (std::size_t i = 0; i < parts.size(); ++i)
      made += fmt::format("; CREATE TABLE pages.p{} PARTITION OF pages.parts FOR VALUES {}", i,
                          parts[i]);
    return made + "; INSERT INTO pages.parts SELECT * FROM pages.t; ANALYZE pages.parts";
  };
  make("CASE WHEN i % 11 > 0 THEN CAST(i % 997 AS bigint) END", "i");
  const auto expected = read(kMarked, false);
  // What has most of its rows in one partition comes at once instead.
  const std::string cases[] = {
      partitions({"FROM (0) TO (9000)", "FROM (9000) TO (21000)", "FROM (21000) TO (99999)"}),
      partitions({"FROM (0) TO (15000)", "FROM (15000) TO (99999)", "FROM (99999) TO (999999)"}),
      partitions({"FROM (0) TO (9)", "FROM (9) TO (19)", "FROM (19) TO (29)", "FROM (29) TO (39)",
                  "FROM (39) TO (49)", "FROM (49) TO (99999)"}),
      partitions({"FROM (0) TO (15000)",
                  "FROM (15000) TO (99999) PARTITION BY HASH (unit); CREATE TABLE pages.h0 "
                  "PARTITION OF pages.p1 FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE "
                  "pages.h1 PARTITION OF pages.p1 FOR VALUES WITH (MODULUS 2, REMAINDER 1)"}),
      fmt::format("DROP TABLE IF EXISTS pages.parts CASCADE; CREATE TABLE pages.parts {}; CREATE "
                  "TABLE pages.q () INHERITS (pages.parts); INSERT INTO pages.parts SELECT * FROM "
                  "pages.t WHERE v < 15000; INSERT INTO pages.q SELECT * FROM pages.t WHERE v >= "
                  "15000; ANALYZE pages.parts; ANALYZE pages.q",
                  kColumns),
  };
  for (const std::string& made : cases) {
    postgres_server().run(made);
    std::uint64_t rows = 0;
    EXPECT_EQ(read("SELECT unit, v FROM pages.parts/*pages of pages.parts*/", true, &rows),
              expected)
        << made;
    EXPECT_LT(rows, 30'000U) << "rows without a unit come row by row only: " << made;
    // Rows that do not fit, in the middle of a partition.
    postgres_server().run("UPDATE pages.parts SET unit = -7 WHERE v = 12000");
    EXPECT_EQ(read("SELECT unit, v FROM pages.parts/*pages of pages.parts*/", true),
              read("SELECT unit, v FROM pages.parts", false))
        << made;
  }
}

TEST_F(PagesTest, WhatHasNoPagesComesAtOnce) {
  make("CASE WHEN i % 11 > 0 THEN CAST(i % 997 AS bigint) END", "i");
  const auto expected = read(kMarked, false);
  postgres_server().run(
      "CREATE VIEW pages.seen AS SELECT * FROM pages.t; CREATE VIEW pages.some AS SELECT DISTINCT "
      "unit, v FROM pages.t; CREATE VIEW pages.none AS SELECT * FROM pages.t WHERE v < 0; CREATE "
      "VIEW pages.nobody AS SELECT * FROM pages.t WHERE unit IS NULL");
  for (const char* relation : {"pages.seen", "pages.some"}) {
    std::uint64_t rows = 0;
    EXPECT_EQ(read(fmt::format("SELECT unit, v FROM {0}/*pages of {0}*/", relation), true, &rows),
              expected)
        << relation;
    EXPECT_LT(rows, 30'000U) << "rows without a unit came: row by row";
  }
  for (const char* relation : {"pages.none", "pages.nobody"})
    EXPECT_TRUE(
        read(fmt::format("SELECT unit, v FROM {0}/*pages of {0}*/", relation), true).empty());
  postgres_server().run("UPDATE pages.t SET unit = -7 WHERE v = 12000");
  EXPECT_EQ(read("SELECT unit, v FROM pages.seen/*pages of pages.seen*/", true),
            read(kMarked, false));
  // More rows than the server should hold.
  open({.rows_at_once = 1000});
  std::uint64_t rows = 0;
  static_cast<void>(read("SELECT unit, v FROM pages.seen/*pages of pages.seen*/", true, &rows));
  EXPECT_EQ(rows, 30'000U);
}

// ... for whatever reason: the rows come, of the state that the question began with.
TEST_F(PagesTest, WhatAServerDoesNotMakeAStringOfComesRowByRow) {
  make("CAST(i % 997 AS bigint)", "i");
  postgres_server().run(
      "CREATE VIEW pages.seen AS SELECT * FROM pages.t; CREATE FUNCTION pages.int8send(bigint) "
      "RETURNS bytea LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '54000', MESSAGE "
      "= 'too long'; END $$");
  const auto expected = read(kMarked, false);
  open({}, "&options=-csearch_path%3Dpages,pg_catalog");
  ASSERT_TRUE(engine_->begin());
  ASSERT_TRUE(engine_->query("SELECT count(*) FROM pages.t"));
  postgres_server().run("DELETE FROM pages.t WHERE unit < 900");
  std::map<Row, int> all;
  const auto visited = engine_->visit("SELECT unit, v FROM pages.seen/*pages of pages.seen*/",
                                      {"unit", "v"}, [&](const EngineChunk& chunk, std::size_t) {
                                        for (std::size_t row = 0; row < chunk.size(); ++row)
                                          ++all[{chunk.int64s(0)[row], true, chunk.int64s(1)[row]}];
                                        return true;
                                      });
  engine_->end();
  ASSERT_TRUE(visited) << log_;
  EXPECT_NE(log_.find("too long"), std::string::npos) << "the string was not asked for";
  EXPECT_EQ(all, expected);
  postgres_server().run("DROP FUNCTION pages.int8send(bigint)");
}

}  // namespace
}  // namespace discreet::testing
