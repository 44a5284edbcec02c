#include "postgres/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace discreet::postgres {
namespace {

using ::testing::HasSubstr;

TEST(AddressTest, TheTableIsTakenOutAndTheRestIsLibpqs) {
  const auto address = Address::parse(
      "postgres://reader@db.example:5433/hospital?sslmode=require&table=public.a%20b");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->table, "public.a b");
  EXPECT_EQ(address->server, "postgres://reader@db.example:5433/hospital?sslmode=require");
  EXPECT_EQ(address->shown, "hospital at db.example");
  EXPECT_EQ(Address::parse("postgres:///x?table=t")->server, "postgres:///x");
}

TEST(AddressTest, WhetherRowsMayComeIsOurs) {
  EXPECT_TRUE(Address::parse("postgres://h/x")->sends_rows);
  const auto sent = Address::parse("postgres://h/x?rows=sent&table=t&sslmode=require");
  EXPECT_TRUE(sent->sends_rows);
  EXPECT_EQ(sent->server, "postgres://h/x?sslmode=require");
  EXPECT_FALSE(Address::parse("postgres://h/x?rows=summed")->sends_rows);
  const auto odd = Address::parse("postgres://h/x?rows=all");
  ASSERT_FALSE(odd);
  EXPECT_THAT(odd.error().message, HasSubstr("sent"));
}

TEST(AddressTest, APasswordIsRefusedWhereverItStands) {
  for (const char* text :
       {"postgres://reader:word@db.example/x", "postgresql:///x?user=reader&password=word"}) {
    const auto address = Address::parse(text);
    ASSERT_FALSE(address);
    EXPECT_THAT(address.error().message, HasSubstr("PGPASSFILE"));
    EXPECT_EQ(address.error().message.find("word@"), std::string::npos);
  }
}

TEST(AddressTest, NonsenseIsRefused) {
  EXPECT_FALSE(Address::parse("postgres://[half"));
  EXPECT_FALSE(Address::parse("postgres://h/x?no_such_setting=1"));
}

TEST(AddressTest, NamesOfRelationsAreQuotedPartByPart) {
  EXPECT_EQ(quoted_relation("visits").value(), "\"visits\"");
  EXPECT_EQ(quoted_relation("public.visits").value(), "\"public\".\"visits\"");
  EXPECT_EQ(quoted_relation("\"a.b\".\"c\"\"d\"").value(), "\"a.b\".\"c\"\"d\"");
  EXPECT_EQ(quoted_relation("x; DROP TABLE y").value(), "\"x; DROP TABLE y\"");
  EXPECT_FALSE(quoted_relation(""));
  EXPECT_FALSE(quoted_relation("a..b"));
  EXPECT_FALSE(quoted_relation("\"open"));
}

}  // namespace
}  // namespace discreet::postgres
