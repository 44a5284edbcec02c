#include "ledger/event.h"

#include <gtest/gtest.h>

#include "accounting/loss_event_json.h"

namespace discreet::ledger {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

ChargeEvent charge() {
  const LossEvent loss = loss::Pure{eps(0.1)};
  return {"q1", "r1", "select count(*) from people", Price::of({eps(0.1), Delta::zero()}, loss),
          loss};
}

StoredEvent stored() {
  return {1, Instant(std::chrono::microseconds(5)), "grant", "default", "{}", genesis(), {}};
}

TEST(EventTest, BodiesReadBackAsTheyWereWritten) {
  const auto grant = decode_body(
      "grant", encode_body(GrantEvent{
                   "default", FilterKind::Basic, {std::nullopt, Delta::make(1e-7).value()}, 3}));
  ASSERT_TRUE(grant) << grant.error().message;
  EXPECT_EQ(std::get<GrantEvent>(*grant).parent, "default");
  EXPECT_FALSE(std::get<GrantEvent>(*grant).total.epsilon);
  EXPECT_EQ(std::get<GrantEvent>(*grant).total.delta->value(), 1e-7);
  EXPECT_EQ(std::get<GrantEvent>(*grant).windows, 3u);

  const auto paid = decode_body("charge", encode_body(charge()));
  ASSERT_TRUE(paid) << paid.error().message;
  const auto& read = std::get<ChargeEvent>(*paid);
  EXPECT_EQ(read.question, "q1");
  EXPECT_EQ(read.price.epsilon.value(), 0.1);
  EXPECT_EQ(read.price.concentrated->rho.value(), charge().price.concentrated->rho.value());
  EXPECT_TRUE(same_event(read.loss, charge().loss));

  const auto release = decode_body("release", encode_body(ReleaseEvent{7, sha256("answer"), 6}));
  ASSERT_TRUE(release) << release.error().message;
  EXPECT_EQ(std::get<ReleaseEvent>(*release).answer, sha256("answer"));
}

TEST(EventTest, RefusesBodiesThatDoNotFitTheirKind) {
  for (const char* bad : {"", "null", "[]", "{", "{}", "{\"charge\":-1}", "{\"charge\":1.5}",
                          "{\"charge\":\"1\"}", "{\"charge\":1,\"more\":2}"})
    EXPECT_FALSE(decode_body("repeat", bad)) << bad;
  EXPECT_TRUE(decode_body("repeat", "{\"charge\":1}"));
  EXPECT_FALSE(decode_body("refund", "{\"charge\":1}"));
  EXPECT_FALSE(
      decode_body("grant", R"({"delta":2,"epsilon":1,"filter":"best","parent":"","windows":0})"));
  EXPECT_FALSE(
      decode_body("grant", R"({"delta":0,"epsilon":-1,"filter":"best","parent":"","windows":0})"));
  EXPECT_FALSE(
      decode_body("grant", R"({"delta":0,"epsilon":1,"filter":"worst","parent":"","windows":0})"));
}

TEST(EventTest, EveryFieldIsSealed) {
  const Digest seal_before = seal(stored());
  auto change = [&](auto edit) {
    StoredEvent event = stored();
    edit(event);
    return seal(event);
  };
  EXPECT_NE(change([](StoredEvent& e) { e.sequence = 2; }), seal_before);
  EXPECT_NE(change([](StoredEvent& e) { e.at += std::chrono::microseconds(1); }), seal_before);
  EXPECT_NE(change([](StoredEvent& e) { e.kind = "charge"; }), seal_before);
  EXPECT_NE(change([](StoredEvent& e) { e.account = "alice"; }), seal_before);
  EXPECT_NE(change([](StoredEvent& e) { e.body = "{ }"; }), seal_before);
  EXPECT_NE(change([](StoredEvent& e) { e.previous[31] = 1; }), seal_before);
  // Lengths are sealed too: moving a letter from one field to the next is a change.
  EXPECT_NE(change([](StoredEvent& e) { e.kind = "grantd", e.account = "efault"; }), seal_before);
}

TEST(EventTest, SealMatchesTheWorkedExampleOfTheFormatPage) {
  // docs/formats/ledger.md builds the same bytes with a few lines of Python.
  StoredEvent event{1,
                    Instant(std::chrono::microseconds(1767225600000000)),
                    "grant",
                    "default",
                    R"({"delta":1e-06,"epsilon":1.0,"filter":"best","parent":"","windows":0})",
                    genesis(),
                    {}};
  EXPECT_EQ(encode_body(GrantEvent{"", FilterKind::Best, {eps(1), Delta::make(1e-6).value()}, 0}),
            event.body);
  EXPECT_EQ(to_hex(seal(event)),
            "7fc39ab732fd8106912d33885491aeb9e69fed55ab55feff3d2a1add8af899b9");
}

}  // namespace
}  // namespace discreet::ledger
