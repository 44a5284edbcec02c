// What stands between a stranger and the first question.
#include <gtest/gtest.h>

#include "ledger/scram.h"
#include "server/limits.h"
#include "server/scram_exchange.h"
#include "server/time_slots.h"

namespace discreet::server {
namespace {

using namespace std::chrono_literals;

// RFC 7677, section 3: user "user", password "pencil".
constexpr char kVerifier[] =
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
    "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
constexpr char kServerNonce[] = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
constexpr char kFirst[] = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
constexpr char kFinal[] =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";

TEST(ScramExchangeTest, ThePublishedExampleHolds) {
  ScramExchange exchange(kVerifier, true, "", kServerNonce);
  EXPECT_EQ(exchange.first("SCRAM-SHA-256", kFirst).value(),
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,"
            "i=4096");
  EXPECT_EQ(exchange.last(kFinal).value(), "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

TEST(ScramExchangeTest, AnyChangedByteOfTheProofFails) {
  const std::string good = kFinal;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = bad[i] == 'A' ? 'B' : 'A';
    ScramExchange exchange(kVerifier, true, "", kServerNonce);
    ASSERT_TRUE(exchange.first("SCRAM-SHA-256", kFirst));
    // The last base64 digit before "=" has bits that do not count.
    if (i == good.size() - 2) continue;
    EXPECT_FALSE(exchange.last(bad)) << i;
  }
}

TEST(ScramExchangeTest, ACredentialThatIsNotRealFailsAtTheEnd) {
  ScramExchange exchange(kVerifier, false, "", kServerNonce);
  ASSERT_TRUE(exchange.first("SCRAM-SHA-256", kFirst));
  EXPECT_FALSE(exchange.last(kFinal));
}

TEST(ScramExchangeTest, TheFinalMessageCannotComeFirstOrWithoutItsNonce) {
  ScramExchange exchange(kVerifier, true, "", kServerNonce);
  EXPECT_FALSE(exchange.last(kFinal));
  ASSERT_TRUE(exchange.first("SCRAM-SHA-256", kFirst));
  EXPECT_FALSE(exchange.last(""));
  EXPECT_FALSE(exchange.last(",p="));
  EXPECT_FALSE(exchange.first("PLAIN", kFirst));
  EXPECT_FALSE(exchange.first("SCRAM-SHA-256", "x"));
}

TEST(ScramExchangeTest, ChannelBindingCannotBeTalkedAway) {
  const std::string hash(32, 'h');
  ScramExchange hidden(kVerifier, true, hash, kServerNonce);
  EXPECT_FALSE(hidden.first("SCRAM-SHA-256", "y,,n=user,r=rOprNGfwEbeRWgbNEkqO"));
  ScramExchange plain(kVerifier, true, "", kServerNonce);
  EXPECT_FALSE(plain.first("SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=abc"));
  ScramExchange other(kVerifier, true, hash, kServerNonce);
  EXPECT_FALSE(other.first("SCRAM-SHA-256-PLUS", "p=tls-unique,,n=,r=abc"));
}

TEST(LoginGuardTest, FailuresMakeTheNextAttemptWaitTwiceAsLong) {
  LoginGuard guard;
  const Steady::time_point start{};
  for (int i = 0; i < LoginGuard::kFreeFailures; ++i) {
    EXPECT_EQ(guard.admit("alice", "1.2.3.4", start), Steady::duration{});
    guard.failed("alice", "1.2.3.4", start);
  }
  EXPECT_EQ(guard.admit("alice", "1.2.3.4", start), 250ms);
  EXPECT_EQ(guard.admit("alice", "1.2.3.4", start), 500ms);  // at the same time: behind the other
  guard.failed("alice", "1.2.3.4", start);
  EXPECT_EQ(guard.admit("alice", "1.2.3.4", start), 750ms);
  EXPECT_EQ(guard.admit("alice", "1.2.3.4", start), 1250ms);
  EXPECT_EQ(guard.admit("alice", "5.6.7.8", start), Steady::duration{});  // not from elsewhere
  EXPECT_EQ(guard.admit("bob", "1.2.3.4", start), Steady::duration{});    // not anybody else
  guard.succeeded("alice", "1.2.3.4");
  EXPECT_EQ(guard.admit("alice", "1.2.3.4", start), Steady::duration{});
}

TEST(LoginGuardTest, AnAttemptThatWouldWaitTooLongIsTurnedAway) {
  LoginGuard guard;
  const Steady::time_point start{};
  for (int i = 0; i < 10; ++i) guard.failed("a", "b", start);
  int admitted = 0;
  while (guard.admit("a", "b", start) && admitted < 100) ++admitted;
  EXPECT_LT(admitted, 6);
}

TEST(RateLimitTest, ABurstIsServedAndTheRestWaits) {
  RateLimit limit(10);
  const Steady::time_point start{};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(limit.take("alice", start), Steady::duration{});
  EXPECT_NEAR(std::chrono::duration<double>(limit.take("alice", start)).count(), 0.1, 1e-6);
  EXPECT_EQ(limit.take("bob", start), Steady::duration{});
  EXPECT_EQ(limit.take("alice", start + 2s), Steady::duration{});
}

TEST(TimeSlotsTest, AnswersLeaveAtFixedTimesOnly) {
  const Steady::time_point start{};
  EXPECT_EQ(next_slot(start, start + 1ms, 50ms), start + 50ms);
  EXPECT_EQ(next_slot(start, start + 50ms, 50ms), start + 50ms);
  EXPECT_EQ(next_slot(start, start + 51ms, 50ms), start + 100ms);
  EXPECT_EQ(next_slot(start, start + 101ms, 50ms), start + 200ms);
  EXPECT_EQ(next_slot(start, start + 7ms, 0ms), start + 7ms);
}

}  // namespace
}  // namespace discreet::server
