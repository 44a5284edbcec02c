#include "prio/idpf.h"

#include <gtest/gtest.h>

#include "prio/test_servers.h"
#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

const std::string kContext = "idpf";

struct Tree {
  Tree(std::size_t bits, RandomSource& random) : nonce(random_bytes(kNonceBytes, random)) {
    path = BitString(random_bytes(bits / 8 + 1, random), bits);
    for (AesBlock& key : keys) {
      const Bytes bytes = random_bytes(key.size(), random);
      std::copy(bytes.begin(), bytes.end(), key.begin());
    }
    for (std::size_t i = 0; i + 1 < bits; ++i)
      inner.push_back({Field64(random.bits64() >> 1), Field64(random.bits64() >> 1)});
    leaf = {Field255(random.bits64()), Field255(random.bits64()) * Field255(random.bits64())};
    public_share = idpf_generate(path, inner, leaf, binding(), keys).value();
  }
  IdpfBinding binding() const { return {.context = as_bytes(kContext), .nonce = nonce}; }

  /// What both parties' values add up to.
  template <class F>
  std::vector<IdpfValue<F>> values(const PrefixQuery& query) const {
    std::vector<IdpfValue<F>> sum(query.size());
    for (unsigned party : {0U, 1U}) {
      std::vector<IdpfNode> nodes = {idpf_root(party, keys[party])};
      const auto share = idpf_evaluate<F>(party, public_share, query, binding(), nodes);
      for (std::size_t i = 0; i < sum.size(); ++i)
        for (std::size_t j : {0, 1}) sum[i][j] += share[i][j];
    }
    return sum;
  }

  Bytes nonce;
  BitString path;
  std::array<AesBlock, 2> keys{};
  std::vector<IdpfValue<Field64>> inner;
  IdpfValue<Field255> leaf;
  IdpfPublicShare public_share;
};

/// All strings of this length.
std::vector<BitString> all_of(std::size_t length) {
  std::vector<BitString> out;
  for (unsigned value = 0; value < 1U << length; ++value) {
    BitString string;
    for (std::size_t i = length; i-- > 0;) string.push_back((value >> i & 1) != 0);
    out.push_back(std::move(string));
  }
  return out;
}

TEST(IdpfTest, ValuesAddUpToTheirLevelsOnThePathAndToZeroElsewhere) {
  SeededRandom random(11);
  for (const std::size_t bits : {1U, 2U, 3U, 8U, 9U})
    for (int round = 0; round < 3; ++round) {
      const Tree tree(bits, random);
      for (std::size_t length = 1; length <= bits; ++length) {
        const PrefixQuery query = PrefixQuery::make(all_of(length)).value();
        const auto check = [&](const auto& values, const auto& on_path) {
          for (std::size_t i = 0; i < values.size(); ++i) {
            const bool hit = query.prefixes()[i] == tree.path.prefix(length);
            ASSERT_TRUE(values[i] == (hit ? on_path : std::decay_t<decltype(on_path)>{}))
                << bits << " bits, prefix " << i << " of length " << length;
          }
        };
        if (length == bits)
          check(tree.values<Field255>(query), tree.leaf);
        else
          check(tree.values<Field64>(query), tree.inner[length - 1]);
      }
    }
}

TEST(IdpfTest, WalkingOnFromRememberedNodesGivesTheSameShares) {
  SeededRandom random(12);
  const Tree tree(20, random);
  const auto start = PrefixQuery::make(all_of(3)).value();
  std::vector<BitString> longer;
  for (const std::size_t first : {1U, 2U, 6U})  // not all of the first query's prefixes go on
    for (const BitString& tail : all_of(4)) {
      BitString string = start.prefixes()[first];
      for (std::size_t i = 0; i < tail.size(); ++i) string.push_back(tail.bit(i) != 0);
      longer.push_back(std::move(string));
    }
  const auto next = PrefixQuery::after(start, longer).value();
  const auto fresh = PrefixQuery::make(longer).value();
  EXPECT_EQ(next.first_level(), 3U);
  for (unsigned party : {0U, 1U}) {
    std::vector<IdpfNode> walked = {idpf_root(party, tree.keys[party])}, from_root = walked;
    idpf_evaluate<Field64>(party, tree.public_share, start, tree.binding(), walked);
    EXPECT_EQ(idpf_evaluate<Field64>(party, tree.public_share, next, tree.binding(), walked),
              idpf_evaluate<Field64>(party, tree.public_share, fresh, tree.binding(), from_root));
  }
}

/// One key alone: its control bits and value shares at the path and beside it are as likely 0 as 1.
TEST(IdpfTest, OnePartysControlBitsDoNotTellThePath) {
  SeededRandom random(13);
  constexpr int kTrees = 4000;
  const auto query = PrefixQuery::make(all_of(1)).value();
  int on_path = 0, beside = 0;
  for (int i = 0; i < kTrees; ++i) {
    const Tree tree(2, random);
    std::vector<IdpfNode> nodes = {idpf_root(0, tree.keys[0])};
    idpf_evaluate<Field64>(0, tree.public_share, query, tree.binding(), nodes);
    on_path += nodes[tree.path.bit(0)].control;
    beside += nodes[1 ^ tree.path.bit(0)].control;
  }
  // Binomial(4000, 1/2) leaves +-5.5 standard deviations (174) with a chance below 1e-7.
  std::printf("control bit set at the path %d, beside it %d of %d\n", on_path, beside, kTrees);
  EXPECT_NEAR(on_path, kTrees / 2, 174);
  EXPECT_NEAR(beside, kTrees / 2, 174);
}

TEST(IdpfTest, PublicSharesComeBackAndOddOnesAreRefused) {
  SeededRandom random(14);
  for (const std::size_t bits : {1U, 3U, 4U, 11U}) {
    const Tree tree(bits, random);
    const Bytes bytes = tree.public_share.encode();
    EXPECT_EQ(IdpfPublicShare::decode(bytes, bits).value().encode(), bytes);
    Bytes longer = bytes;
    longer.push_back(0);
    EXPECT_FALSE(IdpfPublicShare::decode(longer, bits));
    EXPECT_FALSE(IdpfPublicShare::decode(ByteSpan(bytes).first(bytes.size() - 1), bits));
    EXPECT_FALSE(IdpfPublicShare::decode({}, bits));
    if (2 * bits % 8 != 0) {
      Bytes changed = bytes;
      changed[2 * bits / 8] |= 0x80;
      EXPECT_FALSE(IdpfPublicShare::decode(changed, bits));
    }
    Bytes not_reduced = bytes;
    std::fill(not_reduced.end() - 32, not_reduced.end(), std::uint8_t{0xff});
    EXPECT_FALSE(IdpfPublicShare::decode(not_reduced, bits));
  }
}

TEST(PrefixQueryTest, EncodingsComeBackAndOthersAreRefused) {
  for (const std::size_t length : {1U, 7U, 8U, 9U}) {
    const auto query = PrefixQuery::make(all_of(length)).value();
    const auto again = PrefixQuery::decode(query.encode()).value();
    EXPECT_EQ(again.prefixes(), query.prefixes());
    EXPECT_EQ(again.level(), length - 1);
  }
  const auto refused = [](const char* hex) {
    EXPECT_FALSE(PrefixQuery::decode(from_hex(hex).value())) << hex;
  };
  EXPECT_TRUE(PrefixQuery::decode(from_hex("000200000004004080c0").value()));
  refused("00020000000400408001");    // a bit after the end
  refused("000200000004004080");      // one too few
  refused("000200000004004080c0e0");  // one too many
  refused("0002000000040040c080");    // not in order
  refused("00020000000400404080");    // twice
  refused("000200000000");            // none
  refused("0002ffffffff");            // many, and no bytes
  refused("00020000");
  refused("");
}

TEST(PrefixQueryTest, WhatDoesNotFollowIsRefused) {
  const auto first = PrefixQuery::make({all_of(2)[1], all_of(2)[2]}).value();
  EXPECT_FALSE(PrefixQuery::after(first, all_of(3)));  // 000 extends neither 01 nor 10
  EXPECT_FALSE(PrefixQuery::after(first, {all_of(2)[1]}));
  EXPECT_TRUE(PrefixQuery::after(first, {all_of(3)[2], all_of(3)[5]}));
  EXPECT_FALSE(PrefixQuery::make({BitString()}));
  EXPECT_FALSE(PrefixQuery::make({all_of(2)[0], all_of(3)[7]}));
}

}  // namespace
}  // namespace discreet::prio
