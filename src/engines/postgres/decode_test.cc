#include <gtest/gtest.h>

#include "engines/postgres/decode_internal.h"

namespace discreet {
namespace {

/// As numeric_send() writes it: digits in base 10,000, the first of weight `weight`.
std::string numeric(std::vector<int> digits, int weight, bool negative = false, int scale = 0) {
  std::string bytes;
  const auto word = [&](int value) {
    bytes += static_cast<char>(value >> 8 & 0xff);
    bytes += static_cast<char>(value & 0xff);
  };
  word(static_cast<int>(digits.size()));
  word(weight);
  word(negative ? 0x4000 : 0);
  word(scale);
  for (const int digit : digits) word(digit);
  return bytes;
}

TEST(PostgresNumericTest, WholeNumbersOfAnySizeAreExact) {
  EXPECT_EQ(whole_numeric(numeric({}, 0)), Int128{0});
  EXPECT_EQ(whole_numeric(numeric({7}, 0)), Int128{7});
  EXPECT_EQ(whole_numeric(numeric({12, 3456}, 1)), Int128{123456});
  EXPECT_EQ(whole_numeric(numeric({5}, 2)), Int128{500000000});  // zeros at the end are not sent
  EXPECT_EQ(whole_numeric(numeric({5}, 2, true)), Int128{-500000000});
  // 2^126 = 85070591730234615865843651857942052864
  EXPECT_EQ(whole_numeric(numeric({85, 705, 9173, 234, 6158, 6584, 3651, 8579, 4205, 2864}, 9)),
            Int128{1} << 126);
}

TEST(PostgresNumericTest, WhatIsNotAWholeNumberOfThatSizeIsNothing) {
  EXPECT_FALSE(whole_numeric(numeric({1, 5000}, 0, false, 1)));  // 1.5
  EXPECT_FALSE(whole_numeric(numeric({5000}, -1, false, 1)));    // 0.5
  EXPECT_FALSE(whole_numeric(numeric({9}, 10)));                 // 9 * 10^40
  EXPECT_FALSE(whole_numeric(numeric({10000}, 0)));              // no digit
  std::string nan = numeric({}, 0);
  nan[4] = static_cast<char>(0xc0);
  EXPECT_FALSE(whole_numeric(nan));
  EXPECT_FALSE(whole_numeric("short"));
  EXPECT_FALSE(whole_numeric(numeric({1}, 0).substr(0, 9)));
}

TEST(PostgresDecoderTest, TypesWithoutAnExactMeaningAreRefused) {
  EXPECT_EQ(postgres_decoder(20)->type, EngineType::Int64);
  EXPECT_EQ(postgres_decoder(1700)->type, EngineType::HugeInt);
  EXPECT_EQ(postgres_decoder(1082)->type, EngineType::Date);
  for (const std::uint32_t native : {17U, 114U, 1184U, 1186U, 2950U, 3802U})
    EXPECT_FALSE(postgres_decoder(native)) << native;
}

}  // namespace
}  // namespace discreet
