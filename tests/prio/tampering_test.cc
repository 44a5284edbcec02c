// Tries to change a result by changing bits, or by sending what no honest client would.
#include <gtest/gtest.h>

#include <iostream>

#include "prio/ping_pong.h"
#include "prio/test_servers.h"
#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

struct Example {
  Circuit circuit;
  Measurement measurement;
};

std::vector<Example> examples() {
  return {{{CircuitKind::Count}, {1}},
          {{CircuitKind::Sum, 1, 6}, {5}},
          {{CircuitKind::SumVec, 2, 3}, {1, 3}},
          {{CircuitKind::SumVec, 3, 1}, {1, 1, 1}},
          {{CircuitKind::SumVecMultiproof, 2, 2}, {1, 2}},
          {{CircuitKind::Histogram, 3}, {1}},
          {{CircuitKind::MultihotCountVec, 3, 2}, {0, 1, 1}},
          {{CircuitKind::L1BoundSum, 2, 3}, {2, 1}}};
}

/// Calls `visit` with every bit flipped in turn, and puts each back.
template <class Visit>
void each_bit(Bytes& bytes, Visit&& visit) {
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const auto mask = static_cast<std::uint8_t>(1 << bit % 8);
    bytes[bit / 8] ^= mask;
    visit(bit);
    bytes[bit / 8] ^= mask;
  }
}

/// Counts what became of changed messages; a changed total fails the test.
class Tally {
 public:
  Tally(const TestServers& servers, std::vector<Wide> total)
      : servers_(servers), total_(std::move(total)) {}
  void add(const Result<std::vector<FieldVector>>& outs, const char* what, std::size_t bit) {
    ++(outs ? harmless_ : refused_);
    if (outs) {
      EXPECT_EQ(servers_.total_of(*outs), total_) << what << " bit " << bit;
    }
  }
  std::size_t refused() const { return refused_; }
  std::size_t harmless() const { return harmless_; }

 private:
  const TestServers& servers_;
  std::vector<Wide> total_;
  std::size_t refused_ = 0, harmless_ = 0;
};

TEST(TamperingTest, AnyBitOfWhatAClientSendsIsRefusedOrHarmless) {
  for (const unsigned servers : {2U, 3U})
    for (const Example& example : examples()) {
      SeededRandom random(20261201);
      const auto prio = Prio3::make(example.circuit, servers).value();
      TestServers all(*prio, random);
      TestReport report = all.report(example.measurement);
      Tally tally(all, all.total_of(all.check(report).value()));
      const auto check = [&](const char* what) {
        return [&, what](std::size_t bit) { tally.add(all.check(report), what, bit); };
      };
      each_bit(report.shares.public_share, check("public share"));
      for (Bytes& share : report.shares.input_shares) each_bit(share, check("input share"));
      each_bit(report.nonce, check("nonce"));
      std::cout << name(example.circuit.kind) << ", " << servers << " servers: " << tally.refused()
                << " refused, " << tally.harmless() << " harmless\n";
      EXPECT_GT(tally.refused(), tally.harmless());
    }
}

TEST(TamperingTest, AnyBitOfWhatServersSendEachOtherIsRefused) {
  for (const Example& example : examples()) {
    SeededRandom random(20261202);
    const auto prio = Prio3::make(example.circuit, 2).value();
    TestServers all(*prio, random);
    const TestReport report = all.report(example.measurement);
    std::vector<VerifyStart> starts = all.begin(report).value();
    Bytes message = all.combine(starts).value();
    for (VerifyStart& start : starts)
      each_bit(start.verifier_share, [&](std::size_t bit) {
        const auto changed = all.combine(starts);
        // A changed commitment gives another message, which the servers then refuse.
        EXPECT_TRUE(!changed || !all.finish(starts, *changed))
            << name(example.circuit.kind) << " " << bit;
      });
    each_bit(message, [&](std::size_t bit) { EXPECT_FALSE(all.finish(starts, message)) << bit; });
  }
}

TEST(TamperingTest, AValueOutOfRangeCannotEnterTheSum) {
  for (const Example& example : examples()) {
    SeededRandom random(20261203);
    const auto prio = Prio3::make(example.circuit, 2).value();
    TestServers all(*prio, random);
    ASSERT_TRUE(all.take(all.report(example.measurement)));
    const auto before = all.total();
    const auto digits = encode(prio->shape(), example.measurement).value();
    for (std::size_t i = 0; i < digits.size(); ++i)
      for (const std::uint64_t wrong :
           {std::uint64_t{2}, std::uint64_t{1000}, ~std::uint64_t{0} - 1}) {
        std::vector<std::uint64_t> lie(digits.begin(), digits.end());
        lie[i] = wrong;
        EXPECT_FALSE(all.take(all.lie(lie))) << name(example.circuit.kind) << " entry " << i;
      }
    EXPECT_EQ(all.total(), before);
  }
}

TEST(TamperingTest, AProofOfOneReportDoesNotServeAnother) {
  SeededRandom random(20261204);
  const auto prio = Prio3::make({CircuitKind::Histogram, 4}, 2).value();
  TestServers all(*prio, random);
  const TestReport first = all.report({1}), second = all.report({2});
  TestReport mixed = first;
  mixed.shares.input_shares[0] = second.shares.input_shares[0];
  EXPECT_FALSE(all.take(mixed));
  mixed = first;
  mixed.shares.input_shares[1] = second.shares.input_shares[1];
  EXPECT_FALSE(all.take(mixed));
  mixed = first;
  mixed.nonce = second.nonce;
  EXPECT_FALSE(all.take(mixed));
}

TEST(TamperingTest, SharesOfTheWrongLengthAreRefused) {
  SeededRandom random(20261205);
  for (const Example& example : examples()) {
    const auto prio = Prio3::make(example.circuit, 2).value();
    TestServers all(*prio, random);
    const TestReport good = all.report(example.measurement);
    for (const int change : {-1, 1}) {
      const auto resized = [change](Bytes& bytes) {
        bytes.resize(bytes.size() + static_cast<std::size_t>(change));
      };
      TestReport report = good;
      resized(report.shares.input_shares[0]);
      EXPECT_FALSE(all.take(report));
      report = good;
      resized(report.shares.input_shares[1]);
      EXPECT_FALSE(all.take(report));
      report = good;
      if (change > 0 || !report.shares.public_share.empty()) {
        resized(report.shares.public_share);
        EXPECT_FALSE(all.take(report));
      }
    }
  }
}

// A helper replaces its own entry of the public share by what it computed, so by the draft alone it
// would accept a report whose entry for it is wrong; the leader, which believes that entry, would
// refuse. Then one server would have counted what the other had not.
TEST(TamperingTest, TheHelperRefusesAPublicShareThatTheLeaderWouldStumbleOver) {
  SeededRandom random(20261208);
  const auto prio = Prio3::make({CircuitKind::SumVec, 3, 1}, 2).value();
  TestServers all(*prio, random);
  TestReport report = all.report({1, 1, 1});
  const Bytes key(kVerifyKeyBytes, 1);
  const auto input = [&](unsigned server) {
    return VerifyInput{.verify_key = key,
                       .context = as_bytes("test"),
                       .server = server,
                       .nonce = report.nonce,
                       .public_share = report.shares.public_share,
                       .input_share = report.shares.input_shares[server]};
  };
  const LeaderStart leader = ping_pong_leader_init(*prio, input(0)).value();
  const auto good = ping_pong_helper_init(*prio, input(1), leader.message);
  ASSERT_TRUE(good);
  EXPECT_TRUE(ping_pong_leader_finish(*prio, leader.state, good->message));
  report.shares.public_share.back() ^= 1;  // the helper's own entry
  const std::vector<Bytes> shares = {PingPongMessage::decode(leader.message).value().verifier_share,
                                     prio->verify_init(input(1)).value().verifier_share};
  EXPECT_TRUE(
      prio->verifier_shares_to_message(as_bytes("test"), shares));  // the draft's own check passes
  EXPECT_FALSE(ping_pong_helper_init(*prio, input(1), leader.message));
}

// What a lying server can do, and what it cannot: it can shift the total by lying about its own
// share, and nobody notices; it sees only its share and the verifier shares, which for two
// different measurements have the same distribution.
TEST(LyingServerTest, ALyingServerMakesTheTotalWrong) {
  SeededRandom random(20261206);
  const auto prio = Prio3::make({CircuitKind::Sum, 1, 10}, 2).value();
  TestServers all(*prio, random);
  const auto outs = all.check(all.report({7})).value();
  std::vector<FieldVector> lied = outs;
  const std::int64_t shift = 1000;
  prio->add_integers(lied[1], {&shift, 1});
  EXPECT_EQ(all.total_of(outs)[0], 7U);
  EXPECT_EQ(all.total_of(lied)[0], 1007U);
}

// A server's view of one report (its share and both verifier shares), reduced to its low bits, is
// distributed alike for measurements 0 and 1. Chi-square on 16 cells each; 60 is exceeded with
// chance below 3e-7 for 15 degrees of freedom.
TEST(LyingServerTest, WhatOneServerSeesDoesNotTellTheMeasurement) {
  SeededRandom random(20261207);
  const auto prio = Prio3::make({CircuitKind::Count}, 2).value();
  TestServers all(*prio, random);
  constexpr int kTrials = 20'000;
  for (const unsigned server : {0U, 1U})
    for (const unsigned other_word : {0U, 1U, 2U, 3U}) {
      std::vector<std::vector<double>> seen(2, std::vector<double>(16));
      for (int trial = 0; trial < kTrials / 8; ++trial)
        for (const std::uint64_t measurement : {0U, 1U}) {
          const TestReport report = all.report({measurement});
          const auto starts = all.begin(report).value();
          const std::uint8_t own = report.shares.input_shares[server][0];
          const std::uint8_t other = starts[1 - server].verifier_share[8 * other_word];
          seen[measurement][(own & 3) * 4 + (other & 3)] += 1;
        }
      double statistic = 0;
      for (int cell = 0; cell < 16; ++cell) {
        const double both = seen[0][cell] + seen[1][cell],
                     difference = seen[0][cell] - seen[1][cell];
        if (both > 0) statistic += difference * difference / both;
      }
      std::cout << "server " << server << ", verifier word " << other_word << ": chi-square "
                << statistic << "\n";
      EXPECT_LT(statistic, 60);
    }
}

}  // namespace
}  // namespace discreet::prio
