#include "server/pgwire/types.h"

#include <gtest/gtest.h>

namespace discreet::server::pgwire {
namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", static_cast<unsigned char>(c));
    out += text;
  }
  return out;
}

// Expected bytes are those of PostgreSQL 15: SELECT encode(int8send(...), 'hex') and the like.
TEST(PgTypesTest, BinaryValuesAreThoseOfPostgres) {
  EXPECT_EQ(hex(*to_binary(kInt8, "-2")), "fffffffffffffffe");
  EXPECT_EQ(hex(*to_binary(kFloat8, "1.5")), "3ff8000000000000");
  EXPECT_EQ(hex(*to_binary(kBool, "true")), "01");
  EXPECT_EQ(hex(*to_binary(kDate, "1999-12-31")), "ffffffff");
  EXPECT_EQ(hex(*to_binary(kDate, "2001-01-01")), "0000016e");
  EXPECT_EQ(hex(*to_binary(kTimestamp, "2000-01-01 00:00:01.5")), "000000000016e360");
  EXPECT_EQ(hex(*to_binary(kNumeric, "12345.678")), "0003000100000003000109291a7c");
  EXPECT_EQ(hex(*to_binary(kNumeric, "-0.05")), "0001ffff4000000201f4");
  EXPECT_EQ(hex(*to_binary(kNumeric, "0")), "0000000000000000");
  EXPECT_EQ(hex(*to_binary(kNumeric, "10000")), "00010001000000000001");
}

TEST(PgTypesTest, WhatIsNotOfItsTypeIsRefused) {
  EXPECT_FALSE(to_binary(kInt8, "1.5"));
  EXPECT_FALSE(to_binary(kDate, "yesterday"));
  EXPECT_FALSE(to_binary(kDate, "2001-02-30"));
  EXPECT_FALSE(to_binary(kNumeric, "1;2"));
  EXPECT_FALSE(to_parameter(kInt4, true, std::string("abc")));
  EXPECT_FALSE(to_parameter(kNumeric, true, std::string(7, '\0')));
  EXPECT_FALSE(to_parameter(600, true, std::string("point")));
}

TEST(PgTypesTest, ParametersComeBackFromBinary) {
  for (const auto& [oid, text] : std::vector<std::pair<std::uint32_t, std::string>>{
           {kInt8, "-77"},
           {kInt4, "-5"},
           {kInt2, "300"},
           {kDate, "1984-02-29"},
           {kNumeric, "-12345.0678"},
           {kNumeric, "0.0001"},
           {kNumeric, "100000000"},
           {kTimestamp, "1999-12-31 23:59:59.000001"}}) {
    const auto parameter = to_parameter(oid, true, to_binary(oid, text).value());
    ASSERT_TRUE(parameter) << text;
    EXPECT_EQ(parameter->text, text);
  }
}

TEST(PgTypesTest, ListsAreArrays) {
  EXPECT_EQ(to_text(kFloat8Array, "[1.0, 2.5, NULL]"), "{1.0,2.5,NULL}");
  EXPECT_EQ(to_text(kTextArray, "[a, b\"c]"), "{\"a\",\"b\\\"c\"}");
  EXPECT_EQ(to_text(kFloat8Array, "[]"), "{}");
}

}  // namespace
}  // namespace discreet::server::pgwire
