// Candidates from files: what is read exactly, what is refused, and that no refusal repeats a
// private value.
#include "cli/score_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace discreet::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Result<ScoreList> read(const std::string& text, const std::string& sensitivity = "1") {
  const std::string file = ::testing::TempDir() + "discreet_scores_" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(file, std::ios::binary) << text;
  auto list = read_scores(file, parse_decimal(sensitivity).value());
  std::remove(file.c_str());
  return list;
}

TEST(ScoreFileTest, ReadsCsvWithAndWithoutHeader) {
  for (const char* text : {"name,score\na,1\nb,-2\n", "a,1\nb,-2",
                           "\xEF\xBB\xBF"
                           "a, 1\r\n\r\n\"b\",-2\r\n"}) {
    const auto list = read(text).value();
    EXPECT_THAT(list.names, ElementsAre("a", "b"));
    EXPECT_THAT(list.scores, ElementsAre(1, -2));
    EXPECT_EQ(list.sensitivity, 1);
  }
}

TEST(ScoreFileTest, QuotedNamesMayHoldCommasAndQuotes) {
  EXPECT_THAT(read("\"a, \"\"b\"\"\",1\n").value().names, ElementsAre("a, \"b\""));
}

TEST(ScoreFileTest, DecimalsAreExactOnOneGridWithTheSensitivity) {
  const auto list = read("a,0.3\nb,12.25\nc,1e2\nd,-0\n", "0.125").value();
  EXPECT_EQ(list.decimals, 3);
  EXPECT_THAT(list.scores, ElementsAre(300, 12250, 100000, 0));
  EXPECT_EQ(list.sensitivity, 125);
}

TEST(ScoreFileTest, ReadsEveryJsonForm) {
  EXPECT_THAT(read(R"({"a": 1.5, "b": -2})").value().scores, ElementsAre(15, -20));
  EXPECT_THAT(read(R"([["a", 1.5], {"score": 2, "name": "b"}])").value().names,
              ElementsAre("a", "b"));
  EXPECT_THAT(read("[3, 1, 2]").value().names, ElementsAre("0", "1", "2"));
  EXPECT_THAT(read("[0.1, 0.30000000000000001]").value().scores,
              ElementsAre(10000000000000000, 30000000000000001));
}

TEST(ScoreFileTest, RefusalsNameTheLineAndRepeatNothing) {
  for (const char* bad :
       {"b,secret7", "b,nan", "b,inf", "b,", "b", "b,1,2", ",7", "\"b,7", "b,1e99999", "b,0x7",
        "b,1.2.3", "b,1234567890123456789", "a,7", "b,--7", "b,7e", "b,."}) {
    const auto list = read(std::string("a,1\n") + bad + "\n");
    ASSERT_FALSE(list) << bad;
    EXPECT_EQ(list.error().code, ErrorCode::InvalidInput);
    EXPECT_THAT(list.error().message, HasSubstr(":2: "));
    EXPECT_THAT(list.error().message, Not(HasSubstr("secret")));
  }
  EXPECT_FALSE(read("a,nan\n"));  // not taken for a header
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("name,score\n"));
}

TEST(ScoreFileTest, RefusesJsonThatIsNotAListOfScores) {
  for (const char* bad :
       {"{\"a\": }", "{\"a\": \"secret\"}", "{\"a\": [1]}", "[[1, \"secret\"]]", "[[\"a\"]]",
        "[true]", "[null]", "[[\"a\", 1, 2]]", "[[[\"a\", 1]]]", "[{\"name\": \"a\"}]",
        "[{\"name\": \"a\", \"x\": 1}]", "[1, 2", "{\"a\": 1, \"a\": 2}", "[1e400]", "{}", "[]"}) {
    const auto list = read(bad);
    ASSERT_FALSE(list) << bad;
    EXPECT_THAT(list.error().message, Not(HasSubstr("secret")));
  }
}

TEST(ScoreFileTest, RefusesWhatDoesNotFit64Bits) {
  EXPECT_FALSE(read("a,1e18\nb,1e-3\n"));
  EXPECT_FALSE(read("a,1e300\n"));
  EXPECT_FALSE(read("a,1e-301\n", "1e-301"));
  EXPECT_TRUE(read("a,9e18\nb,-9e18\n"));
  EXPECT_FALSE(read_scores("no/such/file", parse_decimal("1").value()));
}

}  // namespace
}  // namespace discreet::cli
