#include "engines/spark/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace discreet::spark {
namespace {

using ::testing::HasSubstr;

TEST(SparkAddressTest, HostPortAndTableAreTakenApart) {
  const auto address = Address::parse("spark://spark.example:15003/clinic.visits").value();
  EXPECT_EQ(address.target, "spark.example:15003");
  EXPECT_EQ(address.table, "clinic.visits");
  EXPECT_FALSE(address.tls);
  EXPECT_EQ(Address::parse("spark://h/t").value().target, "h:15002");
  EXPECT_EQ(Address::parse("spark://[::1]/t").value().target, "[::1]:15002");
  EXPECT_EQ(Address::parse("spark://[::1]:7/t").value().target, "[::1]:7");
  const auto secure = Address::parse("spark://h:1/a.b.c?use_ssl=true&user_id=anna").value();
  EXPECT_TRUE(secure.tls);
  EXPECT_EQ(secure.user, "anna");
  EXPECT_FALSE(secure.same_server(Address::parse("spark://h:1/a.b.c").value()));
}

TEST(SparkAddressTest, WhetherRowsMayComeCanBeSaid) {
  EXPECT_TRUE(Address::parse("spark://h/t")->sends_rows);
  EXPECT_TRUE(Address::parse("spark://h/t?rows=sent")->sends_rows);
  EXPECT_FALSE(Address::parse("spark://h/t?use_ssl=true&rows=summed")->sends_rows);
  EXPECT_FALSE(Address::parse("spark://h/t?rows=all"));
}

TEST(SparkAddressTest, FilesOfALoopbackAddressAreHereUnlessOtherwiseSaid) {
  using Files = Address::Files;
  EXPECT_EQ(Address::parse("spark://localhost/t")->files(), Files::Here);
  EXPECT_EQ(Address::parse("spark://localhost/t?files=sent")->files(), Files::Sent);
  EXPECT_EQ(Address::parse("spark://localhost/t?files=there")->files(), Files::There);
  EXPECT_EQ(Address::parse("spark://localhost/t?rows=summed")->files(), Files::There);
  EXPECT_EQ(Address::parse("spark://h/t")->files(), Files::Sent);
  EXPECT_EQ(Address::parse("spark://h/t?rows=summed")->files(), Files::There);
  EXPECT_EQ(Address::parse("spark://h/t?rows=summed&files=here")->files(), Files::Here);
  EXPECT_FALSE(Address::parse("spark://h/t?files=somewhere"));
  EXPECT_FALSE(
      Address::parse("spark://h/t?files=here")->same_server(Address::parse("spark://h/t").value()));
}

TEST(SparkAddressTest, SecretsAndOtherFormsAreRefused) {
  for (const char* text : {"", "spark:db.t", "spark://", "spark:///t", "spark://a b/t",
                           "spark://h/t?colour=red", "postgres://h/t"})
    EXPECT_FALSE(Address::parse(text)) << text;
  const auto token = Address::parse("spark://h/t?token=secret-word");
  ASSERT_FALSE(token);
  EXPECT_THAT(token.error().message, HasSubstr("SPARK_CONNECT_AUTHENTICATE_TOKEN"));
  EXPECT_EQ(token.error().message.find("secret-word"), std::string::npos);
  EXPECT_FALSE(Address::parse("spark://anna:secret-word@h/t"));
}

TEST(SparkAddressTest, ServersOnThisMachineAreNear) {
  for (const char* text : {"spark://127.0.0.1:15002/t", "spark://localhost/t"})
    EXPECT_TRUE(Address::parse(text).value().is_near()) << text;
  for (const char* text : {"spark://spark.example:15002/t", "spark://localhost.example/t"})
    EXPECT_FALSE(Address::parse(text).value().is_near()) << text;
}

TEST(SparkAddressTest, NamesAreQuotedWhateverTheyHold) {
  EXPECT_EQ(quoted_relation("db.t").value(), "`db`.`t`");
  EXPECT_EQ(quoted_relation("a`b").value(), "`a``b`");
  EXPECT_FALSE(quoted_relation(""));
  EXPECT_FALSE(quoted_relation("a..b"));
  EXPECT_FALSE(quoted_relation("a.b.c.d"));
}

}  // namespace
}  // namespace discreet::spark
