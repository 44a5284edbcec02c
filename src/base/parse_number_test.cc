#include "base/parse_number.h"

#include <gtest/gtest.h>

namespace discreet {
namespace {

TEST(ParseNumberTest, TakesDecimalNumbers) {
  EXPECT_EQ(parse_number("0.1", "epsilon").value(), 0.1);
  EXPECT_EQ(parse_number("-3", "epsilon").value(), -3);
  EXPECT_EQ(parse_number("1e-7", "delta").value(), 1e-7);
  EXPECT_EQ(parse_number(".5", "delta").value(), 0.5);
  EXPECT_EQ(parse_number("4.9406564584124654e-324", "delta").value(), 5e-324);
}

TEST(ParseNumberTest, RefusesEverythingElseAndNamesTheParameter) {
  for (const char* text :
       {"",   " ",     "1 ",     " 1",  "nan", "NaN",   "inf", "-inf", "infinity", "0x10",
        "1e", "1e400", "1e-400", "--1", "1,5", "1.5.2", "eps", "+1",   "1\n",      "\x1b[31m"}) {
    const auto parsed = parse_number(text, "epsilon");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::InvalidParameter);
    EXPECT_EQ(parsed.error().message.rfind("epsilon", 0), 0U) << parsed.error().message;
    EXPECT_EQ(parsed.error().message.find('\x1b'), std::string::npos);
  }
  EXPECT_FALSE(parse_number(std::string(100'000, '1'), "epsilon"));
}

TEST(ParseIntegerTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_integer("-9223372036854775808", "value").value(), INT64_MIN);
  EXPECT_FALSE(parse_integer("9223372036854775808", "value"));
  EXPECT_FALSE(parse_integer("1.0", "value"));
  EXPECT_FALSE(parse_integer("", "value"));
}

}  // namespace
}  // namespace discreet
