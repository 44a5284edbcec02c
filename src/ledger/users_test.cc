#include "ledger/users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/scram.h"

namespace discreet::ledger {
namespace {

namespace fs = std::filesystem;

TEST(ScramTest, MakesPostgresqlsVerifier) {
  // Salt and password of RFC 7677's example; the keys were computed with Python's hashlib and hmac.
  const std::uint8_t salt[] = {0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e,
                               0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36, 0xfa, 0x81};
  EXPECT_EQ(
      scram_verifier("pencil", salt, 4096),
      "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
      "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=");
}

TEST(ScramTest, MatchesOnlyTheRightPassword) {
  const std::string verifier = make_scram_verifier("a-long-password").value();
  EXPECT_TRUE(password_matches("a-long-password", verifier));
  EXPECT_FALSE(password_matches("a-long-passwore", verifier));
  EXPECT_FALSE(password_matches("a-long-password", "SCRAM-SHA-256$"));
  EXPECT_FALSE(password_matches("a-long-password", "SCRAM-SHA-256$0:AAAA$x:y"));
  EXPECT_FALSE(password_matches("", ""));
  EXPECT_NE(make_scram_verifier("a-long-password").value(), verifier) << "salted";
}

TEST(ScramTest, RefusesShortAndUnprintablePasswords) {
  EXPECT_FALSE(make_scram_verifier("short"));
  EXPECT_FALSE(make_scram_verifier("tab\tinside"));
  EXPECT_FALSE(make_scram_verifier("p\xc3\xa4ssw\xc3\xb6rter"));
  EXPECT_FALSE(make_scram_verifier(std::string(2000, 'x')));
}

class UsersTest : public ::testing::Test {
 protected:
  UsersTest() {
    std::string text = (fs::temp_directory_path() / "discreet-users-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
  }
  ~UsersTest() override { fs::remove_all(folder_); }
  Ledger open() {
    const Amount one{Epsilon::make(1).value(), Delta::zero()};
    return Ledger::open(folder_ / "l.sqlite", {{"default", "", one, {}, FilterKind::Best}}, clock_)
        .value();
  }
  fs::path folder_;
  SystemClock clock_;
};

TEST_F(UsersTest, KeepsAUserAndOnlyTheHashOfTheirToken) {
  std::string token;
  {
    Ledger ledger = open();
    UserStore users(ledger);
    const Amount share{Epsilon::make(0.5).value(), Delta::make(1e-8).value()};
    ASSERT_TRUE(users.add({"alice", "verifier", false, "default", share, {}}));
    EXPECT_EQ(users.add({"alice", "other", false, "default", {}, {}}).error().code,
              ErrorCode::InvalidParameter);
    EXPECT_FALSE(users.add({"a/b", "v", false, "default", {}, {}}));
    token = users.renew_token("alice").value();
    EXPECT_EQ(token.size(), 4u + 43u);
    EXPECT_EQ(users.renew_token("bob").error().code, ErrorCode::NotFound);
  }
  Ledger ledger = open();
  UserStore users(ledger);
  const auto alice = users.find("alice").value();
  ASSERT_TRUE(alice);
  EXPECT_EQ(alice->share->epsilon->value(), 0.5);
  EXPECT_EQ(alice->share->delta->value(), 1e-8);
  EXPECT_TRUE(alice->has_token);
  EXPECT_EQ(users.find_by_token(token).value()->name, "alice");
  EXPECT_FALSE(users.find_by_token(token + "x").value());
  ASSERT_TRUE(users.set_password("alice", "new"));
  EXPECT_EQ(users.find("alice").value()->verifier, "new");
  const std::string newer = users.renew_token("alice").value();
  EXPECT_FALSE(users.find_by_token(token).value()) << "an old token ends with a new one";
  ASSERT_TRUE(users.remove("alice"));
  EXPECT_FALSE(users.find_by_token(newer).value());
  EXPECT_FALSE(users.remove("alice"));
}

TEST_F(UsersTest, WhatARemovedUserSpentStaysSpent) {
  Ledger ledger = open();
  const LossEvent loss = loss::Pure{Epsilon::make(0.4).value()};
  const Price price = Price::of({Epsilon::make(0.4).value(), Delta::zero()}, loss);
  const Amount share{Epsilon::make(0.5).value(), Delta::zero()};
  ASSERT_TRUE(ledger.add_account({"alice", "default", share, {}, FilterKind::Best}));
  ASSERT_TRUE(ledger.charge({"alice", "q", "", "", loss, price}));
  Ledger again = open();
  ASSERT_TRUE(again.add_account({"alice", "default", share, {}, FilterKind::Best}));
  EXPECT_NEAR(again.balance("alice")->left.epsilon->value(), 0.1, 1e-12);
  EXPECT_FALSE(again.add_account({"carol", "nowhere", share, {}, FilterKind::Best}));
}

}  // namespace
}  // namespace discreet::ledger
