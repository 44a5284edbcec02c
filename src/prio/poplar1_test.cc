#include "prio/poplar1.h"

#include <gtest/gtest.h>

#include "prio/test_servers.h"
#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

const std::string kContext = "poplar";

/// Both servers in one place.
class Servers {
 public:
  Servers(std::size_t bits, RandomSource& random)
      : poplar_(Poplar1::make(bits).value()),
        random_(random),
        key_(random_bytes(kVerifyKeyBytes, random)) {}

  TestReport report(const BitString& string, std::uint64_t weight = 1) {
    Bytes nonce = random_bytes(kNonceBytes, random_);
    Report shares = poplar_
                        .shard_weighted(as_bytes(kContext), string, weight, nonce,
                                        random_bytes(Poplar1::kRandomnessBytes, random_))
                        .value();
    return {std::move(nonce), std::move(shares)};
  }
  VerifyInput input(const TestReport& report, unsigned server) const {
    return {.verify_key = key_,
            .context = as_bytes(kContext),
            .server = server,
            .nonce = report.nonce,
            .public_share = report.shares.public_share,
            .input_share = report.shares.input_shares[server]};
  }
  Result<std::vector<FieldVector>> verify(const TestReport& report,
                                          const PrefixQuery& query) const {
    std::vector<PrefixVerifyState> states;
    std::vector<Bytes> shares, second;
    for (unsigned server : {0U, 1U}) {
      DISCREET_TRY(PrefixVerifyStart start, poplar_.verify_init(input(report, server), query));
      states.push_back(std::move(start.state));
      shares.push_back(std::move(start.verifier_share));
    }
    return finish(query, std::move(states), shares);
  }
  Result<std::vector<FieldVector>> finish(const PrefixQuery& query,
                                          std::vector<PrefixVerifyState> states,
                                          const std::vector<Bytes>& shares) const {
    DISCREET_TRY(const Bytes message, poplar_.verifier_shares_to_message(query, shares));
    std::vector<Bytes> second;
    for (const PrefixVerifyState& state : states) {
      DISCREET_TRY(Bytes share, poplar_.verify_next(state, message));
      second.push_back(std::move(share));
    }
    DISCREET_TRY(const Bytes last, poplar_.verifier_shares_to_message(query, second));
    std::vector<FieldVector> outs;
    for (PrefixVerifyState& state : states) {
      DISCREET_TRY(FieldVector out, poplar_.verify_finish(std::move(state), last));
      outs.push_back(std::move(out));
    }
    return outs;
  }
  Result<std::vector<std::int64_t>> counts(const PrefixQuery& query,
                                           const std::vector<FieldVector>& sums) const {
    return poplar_.unshard(
        query, std::vector{Poplar1::encode_vector(sums[0]), Poplar1::encode_vector(sums[1])});
  }
  const Poplar1& poplar() const { return poplar_; }

 private:
  Poplar1 poplar_;
  RandomSource& random_;
  Bytes key_;
};

std::vector<BitString> prefixes_of(std::initializer_list<const char*> texts) {
  std::vector<BitString> out;
  for (const char* text : texts) {
    BitString string;
    for (; *text != '\0'; ++text) string.push_back(*text == '1');
    out.push_back(std::move(string));
  }
  return out;
}

TEST(Poplar1Test, CountsOfPrefixesAreExactAtEveryLength) {
  SeededRandom random(21);
  Servers servers(5, random);
  std::vector<TestReport> reports;
  for (const BitString& string :
       prefixes_of({"00000", "01101", "01101", "01100", "10111", "11111", "11111", "11111"}))
    reports.push_back(servers.report(string));
  const auto count = [&](std::initializer_list<const char*> prefixes) {
    const auto query = PrefixQuery::make(prefixes_of(prefixes)).value();
    std::vector<FieldVector> sums(2, servers.poplar().aggregate_init(query));
    for (const TestReport& report : reports) {
      const auto outs = servers.verify(report, query).value();
      for (std::size_t server : {0, 1})
        servers.poplar().aggregate(query, sums[server], outs[server]);
    }
    return servers.counts(query, sums).value();
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(count({"0", "1"}), (Counts{4, 4}));
  EXPECT_EQ(count({"01", "10", "11"}), (Counts{3, 1, 3}));
  EXPECT_EQ(count({"0000", "0110", "1111"}), (Counts{1, 3, 3}));
  EXPECT_EQ(count({"01100", "01101", "01110", "11111"}), (Counts{1, 2, 0, 3}));
}

TEST(Poplar1Test, AReportThatCountsForMoreThanOneIsRefused) {
  SeededRandom random(22);
  Servers servers(3, random);
  const auto inner = PrefixQuery::make(prefixes_of({"0", "1"})).value();
  const auto leaf = PrefixQuery::make(prefixes_of({"010", "011"})).value();
  const auto elsewhere = PrefixQuery::make(prefixes_of({"00", "11"})).value();
  for (int round = 0; round < 50; ++round)
    for (const std::uint64_t weight : {2ULL, 3ULL, 1000ULL, 0xffffffff00000000ULL /* -1 */}) {
      const auto report = servers.report(prefixes_of({"010"})[0], weight);
      EXPECT_FALSE(servers.verify(report, inner)) << weight;
      EXPECT_FALSE(servers.verify(report, leaf)) << weight;
      EXPECT_TRUE(servers.verify(report, elsewhere));  // nothing of it is seen there
    }
  // Nor one of nothing with an authenticator: what it says and what it swears to differ.
  EXPECT_FALSE(servers.verify(servers.report(prefixes_of({"010"})[0], 0), inner));
}

/// Any single bit a client sends: refused, or the counts are those of some one string.
TEST(Poplar1Test, AnyBitOfAReportIsRefusedOrHarmless) {
  SeededRandom random(23);
  Servers servers(2, random);
  const TestReport honest = servers.report(prefixes_of({"10"})[0]);
  std::size_t refused = 0, harmless = 0;
  for (const char* level : {"1", "2"}) {
    const auto query = level[0] == '1'
                           ? PrefixQuery::make(prefixes_of({"0", "1"})).value()
                           : PrefixQuery::make(prefixes_of({"00", "01", "10", "11"})).value();
    const auto each_bit = [&](TestReport changed, auto bytes_of) {
      Bytes& bytes = bytes_of(changed);
      for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
        const auto outs = servers.verify(changed, query);
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
        ++(outs ? harmless : refused);
        if (!outs) continue;
        const auto counts = servers.counts(query, *outs).value();
        std::int64_t total = 0;
        for (const std::int64_t count : counts) {
          EXPECT_TRUE(count == 0 || count == 1);
          total += count;
        }
        EXPECT_LE(total, 1) << bit;
      }
    };
    each_bit(honest, [](TestReport& r) -> Bytes& { return r.shares.public_share; });
    each_bit(honest, [](TestReport& r) -> Bytes& { return r.shares.input_shares[0]; });
    each_bit(honest, [](TestReport& r) -> Bytes& { return r.shares.input_shares[1]; });
    each_bit(honest, [](TestReport& r) -> Bytes& { return r.nonce; });
  }
  std::printf("%zu changed bits refused, %zu harmless\n", refused, harmless);
  EXPECT_GT(refused, harmless);
}

TEST(Poplar1Test, VerifierMessagesOfAnyOtherLengthOrBitAreRefused) {
  SeededRandom random(24);
  Servers servers(2, random);
  const TestReport report = servers.report(prefixes_of({"10"})[0]);
  for (const auto& query : {PrefixQuery::make(prefixes_of({"0", "1"})).value(),
                            PrefixQuery::make(prefixes_of({"10", "11"})).value()}) {
    std::vector<PrefixVerifyState> states;
    std::vector<Bytes> shares;
    for (unsigned server : {0U, 1U}) {
      auto start = servers.poplar().verify_init(servers.input(report, server), query).value();
      states.push_back(start.state);
      shares.push_back(start.verifier_share);
    }
    ASSERT_TRUE(servers.finish(query, states, shares));
    for (std::size_t bit = 0; bit < 8 * shares[0].size(); ++bit) {
      auto changed = shares;
      changed[0][bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      EXPECT_FALSE(servers.finish(query, states, changed)) << bit;
    }
    EXPECT_FALSE(servers.finish(query, states, {shares[0]}));
    EXPECT_FALSE(servers.finish(query, states, {shares[0], Bytes()}));
    EXPECT_FALSE(servers.poplar().verify_next(states[0], Bytes(8)));
    EXPECT_FALSE(servers.poplar().verify_finish(states[0], Bytes(1)));
  }
}

TEST(Poplar1Test, NoiseEntersSharesWithItsSign) {
  const auto poplar = Poplar1::make(2).value();
  for (const auto& query : {PrefixQuery::make(prefixes_of({"0", "1"})).value(),
                            PrefixQuery::make(prefixes_of({"00", "11"})).value()}) {
    std::vector<FieldVector> sums(2, poplar.aggregate_init(query));
    poplar.add_integers(query, sums[0], std::vector<std::int64_t>{-7, 5});
    poplar.add_integers(query, sums[1], std::vector<std::int64_t>{3, -9});
    const std::vector<Bytes> shares = {Poplar1::encode_vector(sums[0]),
                                       Poplar1::encode_vector(sums[1])};
    EXPECT_EQ(poplar.unshard(query, shares).value(), (std::vector<std::int64_t>{-4, -4}));
    poplar.add_integers(query, sums[0], std::vector<std::int64_t>{INT64_MIN, 0});
    EXPECT_FALSE(poplar.unshard(
        query, std::vector{Poplar1::encode_vector(sums[0]), Poplar1::encode_vector(sums[1])}));
  }
}

TEST(Poplar1Test, ParametersOutOfRangeAreRefused) {
  SeededRandom random(25);
  EXPECT_FALSE(Poplar1::make(0));
  EXPECT_FALSE(Poplar1::make(65537));
  Servers servers(2, random);
  const TestReport report = servers.report(prefixes_of({"10"})[0]);
  const auto longer = PrefixQuery::make(prefixes_of({"100"})).value();
  EXPECT_FALSE(servers.poplar().verify_init(servers.input(report, 0), longer));
  EXPECT_FALSE(servers.poplar().shard(as_bytes(kContext), prefixes_of({"1"})[0], report.nonce,
                                      Bytes(Poplar1::kRandomnessBytes)));
  VerifyInput third = servers.input(report, 1);
  third.server = 2;
  EXPECT_FALSE(
      servers.poplar().verify_init(third, PrefixQuery::make(prefixes_of({"0", "1"})).value()));
}

}  // namespace
}  // namespace discreet::prio
