#include "server/pgwire/message.h"

#include <gtest/gtest.h>

namespace discreet::server::pgwire {
namespace {

std::string number(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}
std::string opening(std::string body) {
  return number(static_cast<std::uint32_t>(body.size() + 4)) + body;
}
std::string frame(char type, std::string body) {
  return type + number(static_cast<std::uint32_t>(body.size() + 4)) + body;
}
Result<Message> decoded(char type, const std::string& body) {
  return decode({type, body});
}
using std::string_literals::operator""s;

TEST(PgwireOpeningTest, ReadsEveryKindAndWaitsForTheRest) {
  const std::string startup = opening(number(196608) + "user\0alice\0database\0d\0\0"s);
  for (std::size_t size = 0; size < startup.size(); ++size) {
    const auto part = take_opening(startup.substr(0, size));
    ASSERT_TRUE(part) << size;
    EXPECT_FALSE(part->has_value()) << size;
  }
  const auto whole = take_opening(startup + "more").value();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->bytes, startup.size());
  EXPECT_EQ(std::get<Startup>(whole->message).parameters.at("user"), "alice");
  EXPECT_TRUE(
      std::holds_alternative<SslRequest>(take_opening(opening(number(80877103))).value()->message));
  EXPECT_TRUE(
      std::holds_alternative<GssRequest>(take_opening(opening(number(80877104))).value()->message));
  const auto cancel = take_opening(opening(number(80877102) + number(7) + number(9))).value();
  EXPECT_EQ(std::get<CancelRequest>(cancel->message).process, 7);
  EXPECT_EQ(std::get<CancelRequest>(cancel->message).secret, 9);
}

TEST(PgwireOpeningTest, RefusesWhatIsNotTheProtocol) {
  EXPECT_FALSE(take_opening(number(4)));
  EXPECT_FALSE(take_opening(number(1U << 30)));
  EXPECT_FALSE(take_opening(opening(number(131072) + "user\0x\0\0"s)));  // protocol 2
  EXPECT_FALSE(take_opening(opening(number(196608) + "user\0alice"s)));  // no end
  EXPECT_FALSE(take_opening("GET / HTTP/1.1\r\n"));
}

TEST(PgwireFrameTest, KeepsToTheLengthAndItsLimit) {
  const std::string query = frame('Q', "select 1\0"s);
  for (std::size_t size = 0; size < query.size(); ++size)
    EXPECT_FALSE(take_frame(query.substr(0, size), 100).value().has_value());
  const auto taken = take_frame(query + "X", 100).value();
  EXPECT_EQ(taken->bytes, query.size());
  EXPECT_EQ(taken->message.type, 'Q');
  EXPECT_FALSE(take_frame(query, 8));
  EXPECT_FALSE(take_frame("Q" + number(3), 100));
}

TEST(PgwireMessageTest, BindCarriesValuesNullsAndFormats) {
  const std::string body =
      "p\0s\0"s + "\0\1\0\1"s + "\0\2"s + number(4) + number(42) + number(0xffffffff) + "\0\1\0\0"s;
  const auto message = decoded('B', body);
  ASSERT_TRUE(message) << message.error().message;
  const Bind& bind = std::get<Bind>(*message);
  EXPECT_EQ(bind.portal, "p");
  EXPECT_EQ(bind.statement, "s");
  EXPECT_EQ(bind.formats, std::vector<std::int16_t>{1});
  ASSERT_EQ(bind.values.size(), 2U);
  EXPECT_EQ(bind.values[0], number(42));
  EXPECT_FALSE(bind.values[1]);
  EXPECT_EQ(bind.result_formats, std::vector<std::int16_t>{0});
}

TEST(PgwireMessageTest, RefusesBodiesThatDoNotFit) {
  EXPECT_FALSE(decoded('Q', "no end"));
  EXPECT_FALSE(decoded('Q', "two\0ends\0"s));
  EXPECT_FALSE(decoded('P', "n\0sql\0\377\377"s));                     // 65,535 types, none there
  EXPECT_FALSE(decoded('B', "p\0s\0\0\0\377\377"s));                   // 65,535 values, none there
  EXPECT_FALSE(decoded('B', "p\0s\0\0\0\0\1"s + number(0x7fffffff)));  // a value beyond the end
  EXPECT_FALSE(decoded('B', "p\0s\0\0\0\0\1"s + number(0xfffffffe)));  // a negative length
  EXPECT_FALSE(decoded('D', "Xname\0"s));
  EXPECT_FALSE(decoded('E', "portal\0"s));
  EXPECT_FALSE(decoded('S', "x"));
  EXPECT_FALSE(decoded('F', ""));
  EXPECT_FALSE(decode_sasl_initial("SCRAM-SHA-256\0"s + number(9) + "short"));
}

TEST(PgwireMessageTest, ErrorsNameStateHintAndPosition) {
  std::string out;
  append_error(out, {"ERROR", "0A000", "no", "write this", 8});
  EXPECT_EQ(out, frame('E', "SERROR\0VERROR\0C0A000\0Mno\0Hwrite this\0P8\0\0"s));
}

TEST(PgwireMessageTest, AZeroByteInATextDoesNotShiftTheRest) {
  std::string out;
  append_parameter_status(out, "name", "a\0b"s);
  EXPECT_EQ(out, frame('S', "name\0a\0"s));
}

TEST(PgwireMessageTest, RowsHoldNullsAndEmptyTexts) {
  std::string out;
  append_data_row(out, {std::nullopt, "", "ab"});
  EXPECT_EQ(out, frame('D', "\0\3"s + number(0xffffffff) + number(0) + number(2) + "ab"));
}

}  // namespace
}  // namespace discreet::server::pgwire
