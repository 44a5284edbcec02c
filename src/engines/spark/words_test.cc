#include "engines/spark/words_internal.h"

#include <gtest/gtest.h>

#include <cmath>

namespace discreet::spark {
namespace {

TEST(SparkRowWordTest, TakesAUnitAndSmallNumbers) {
  EXPECT_TRUE(RowWord::make({{"unit", "long"}}));
  EXPECT_TRUE(RowWord::make({{"unit", "integer"}, {"k1", "byte"}, {"q1", "integer"}}));
  EXPECT_TRUE(
      RowWord::make({{"unit", "long"}, {"k1", "short"}, {"q1", "short"}, {"p1", "boolean"}}));
  EXPECT_FALSE(RowWord::make({}));
  EXPECT_FALSE(RowWord::make({{"unit", "string"}, {"q1", "short"}}));
  EXPECT_FALSE(RowWord::make({{"unit", "long"}, {"q1", "long"}}));
  EXPECT_FALSE(RowWord::make({{"unit", "long"}, {"k1", "string"}}));
  EXPECT_FALSE(RowWord::make({{"unit", "long"}, {"q1", "integer"}, {"q2", "short"}}))
      << "that leaves too few bits for units";
}

/// What Spark's SQL does, in C++.
std::int64_t word(std::int64_t unit, std::vector<std::pair<int, std::int64_t>> parts) {
  for (const auto& [bits, number] : parts) unit = unit << bits | number;
  return unit;
}

TEST(SparkRowWordTest, GivesBackWhatWasPutTogether) {
  auto rows = RowWord::make({{"unit", "long"}, {"k1", "byte"}, {"q1", "short"}, {"p1", "boolean"}});
  ASSERT_TRUE(rows);
  constexpr int kByte = 9, kShort = 17, kFlag = 2;
  const std::int64_t most = (std::int64_t{1} << (63 - kByte - kShort - kFlag)) - 1;
  const std::vector<std::int64_t> words = {
      word(0, {{kByte, 0}, {kShort, 0}, {kFlag, 0}}),         // all NULL
      word(most, {{kByte, 1}, {kShort, 1}, {kFlag, 1}}),      // the least of all, false
      word(7, {{kByte, 256}, {kShort, 65536}, {kFlag, 2}}),   // the largest of all, true
      word(8, {{kByte, 128 + 1}, {kShort, 0}, {kFlag, 2}})};  // 0, NULL, true
  for (int time = 0; time < 2; ++time) {
    const EngineChunk& chunk = rows->put(words);
    ASSERT_EQ(chunk.size(), 4u);
    EXPECT_EQ(std::vector(chunk.int64s(0).begin(), chunk.int64s(0).end()),
              (std::vector<std::int64_t>{0, most, 7, 8}));
    for (const std::size_t column : {1u, 2u, 3u}) EXPECT_TRUE(chunk.is_null(column, 0));
    EXPECT_EQ(chunk.int64s(1)[1], -128);
    EXPECT_EQ(chunk.int64s(2)[1], -32768);
    EXPECT_FALSE(chunk.boolean(3, 1));
    EXPECT_EQ(chunk.int64s(1)[2], 127);
    EXPECT_EQ(chunk.int64s(2)[2], 32767);
    EXPECT_TRUE(chunk.boolean(3, 2));
    EXPECT_EQ(chunk.int64s(1)[3], 0);
    EXPECT_TRUE(chunk.is_null(2, 3));
    EXPECT_FALSE(chunk.is_null(1, 3));
  }
  // The same memory, and no NULL any more.
  const EngineChunk& chunk = rows->put(std::span(words).subspan(1, 2));
  for (const std::size_t column : {1u, 2u, 3u}) EXPECT_FALSE(chunk.has_nulls(column));
}

TEST(SparkRowWordTest, SizesAreReadFromThePlan) {
  EXPECT_EQ(largest_size("Project, Statistics(sizeInBytes=1.5 KiB)\n+- Relation parquet, "
                         "Statistics(sizeInBytes=518.0 MiB, rowCount=7)"),
            518.0 * 1024 * 1024);
  EXPECT_EQ(largest_size("sizeInBytes=12.0 B)"), 12);
  EXPECT_GT(largest_size("sizeInBytes=8.0 EiB)"), 1e18);
  for (const char* plan : {"", "no sizes", "sizeInBytes=", "sizeInBytes=many", "sizeInBytes=3"})
    EXPECT_TRUE(std::isinf(largest_size(plan))) << plan;
}

}  // namespace
}  // namespace discreet::spark
