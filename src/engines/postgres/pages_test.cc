#include "engines/postgres/pages_internal.h"

#include <gtest/gtest.h>

namespace discreet {
namespace {

constexpr std::uint32_t kInt8 = 20, kInt2 = 21, kInt4 = 23, kText = 25, kBool = 16;

std::vector<PostgresDecoder> columns(std::initializer_list<std::uint32_t> types) {
  std::vector<PostgresDecoder> made;
  for (const std::uint32_t type : types) made.push_back(*postgres_decoder(type));
  return made;
}

/// As int8send() writes it.
std::string sent(std::int64_t value) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xff);
  return bytes;
}

TEST(PagedStatementTest, OneMarkTakesAConditionAndMoreAreNone) {
  const auto found = PagedStatement::find(
      "SELECT a FROM (SELECT a FROM \"s\".\"t\"/*pages of "
      "\"s\".\"t\"*/) AS t1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->relation(), "\"s\".\"t\"");
  EXPECT_EQ(found->from(7),
            "SELECT a FROM (SELECT a FROM \"s\".\"t\" WHERE ctid >= CAST('(7,0)' AS tid)) AS t1");
  EXPECT_EQ(found->over("p", "p + 1"),
            "SELECT a FROM (SELECT a FROM \"s\".\"t\" WHERE ctid >= CAST(format('(%s,0)', p) AS "
            "tid) AND ctid < CAST(format('(%s,0)', least(p + 1, 4294967295)) AS tid)) AS t1");
  EXPECT_FALSE(PagedStatement::find("SELECT a FROM t"));
  // A constant that looks like the mark: nobody can tell which is which.
  EXPECT_FALSE(PagedStatement::find("SELECT '/*pages of x*/' FROM t/*pages of t*/"));
}

TEST(RowWordTest, OnlyColumnsThatFitAWordHaveOne) {
  EXPECT_TRUE(RowWord::make(columns({kInt8})));
  EXPECT_TRUE(RowWord::make(columns({kInt8, kInt4})));
  EXPECT_TRUE(RowWord::make(columns({kInt4, kInt2})));
  EXPECT_TRUE(RowWord::make(columns({kInt8, kBool})));
  EXPECT_FALSE(RowWord::make(columns({kInt8, kInt8})));
  EXPECT_FALSE(RowWord::make(columns({kInt8, kText})));
  EXPECT_FALSE(RowWord::make(columns({kText, kInt4})));
  EXPECT_FALSE(RowWord::make(columns({kInt8, kInt4, kInt4})));
  EXPECT_FALSE(RowWord::make(columns({})));
}

TEST(RowWordTest, UnitsThatLoseBitsAreNoticed) {
  const auto word = *RowWord::make(columns({kInt8, kInt4}));
  EXPECT_TRUE(word.fits(0));
  EXPECT_TRUE(word.fits((std::int64_t{1} << 30) - 1));
  EXPECT_FALSE(word.fits(std::int64_t{1} << 30));
  EXPECT_FALSE(word.fits(-1));
  EXPECT_FALSE(word.fits(INT64_MIN));
  EXPECT_TRUE(RowWord::make(columns({kInt8}))->fits(INT64_MAX));
}

TEST(RowWordTest, WordsAreTheRows) {
  const auto types = columns({kInt8, kInt4});
  const auto word = *RowWord::make(types);
  PostgresChunk chunk(types, 16);
  const std::int64_t units[] = {0, 1, (1 << 30) - 1, 5, 6, 7};
  const std::int64_t values[] = {0, -1, INT32_MIN, INT32_MAX, 42, std::int64_t{1} << 31};
  std::string words;
  for (std::size_t i = 0; i < 6; ++i) words += sent((units[i] << 33) ^ values[i]);
  word.put(words, chunk);
  const EngineChunk read = chunk.finish();
  ASSERT_EQ(read.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(read.int64s(0)[i], units[i]) << i;
    EXPECT_EQ(read.is_null(1, i), i == 5) << i;
    if (i < 5) {
      EXPECT_EQ(read.int64s(1)[i], values[i]) << i;
    }
  }
}

TEST(RowWordTest, BooleansHaveThreeValues) {
  const auto types = columns({kInt8, kBool});
  const auto word = *RowWord::make(types);
  PostgresChunk chunk(types, 16);
  word.put(sent((9 << 2) ^ 1) + sent(8 << 2) + sent((7 << 2) ^ -1), chunk);
  const EngineChunk read = chunk.finish();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_TRUE(read.boolean(1, 0));
  EXPECT_FALSE(read.boolean(1, 1));
  EXPECT_TRUE(read.is_null(1, 2));
  EXPECT_EQ(read.int64s(0)[2], 7);
}

TEST(PageWordsTest, WhatIsNotSuchARowIsNothing) {
  const std::string eight("\0\0\0\10", 4),
      head = std::string("\0\3", 2) + eight + sent(128) + eight + sent(3);
  const std::string row = head + eight + sent(77);
  const auto read = read_page_words(row);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->page, 128);
  EXPECT_EQ(read->units, 3);
  EXPECT_EQ(read->words, sent(77));
  EXPECT_FALSE(read_page_words(head + eight + sent(77) + "x"));
  EXPECT_FALSE(read_page_words(head + eight + "short"));
  EXPECT_FALSE(read_page_words(head));
  EXPECT_FALSE(read_page_words(""));
}

}  // namespace
}  // namespace discreet
