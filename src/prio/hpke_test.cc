#include "prio/hpke.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/seeded_random.h"
#include "support/shared_folder.h"

namespace discreet::prio {
namespace {

// RFC 9180, appendix A.1.1.
TEST(HpkeTest, TheFirstPublishedMessageIsSealedAlike) {
  const auto one_time =
      hpke_key_pair(
          from_hex("52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736").value())
          .value();
  EXPECT_EQ(to_hex(one_time.public_key),
            "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431");
  const auto sealed =
      hpke_seal_with(
          one_time,
          from_hex("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d").value(),
          as_bytes("Ode on a Grecian Urn"), as_bytes("Count-0"),
          as_bytes("Beauty is truth, truth beauty"), 0)
          .value();
  EXPECT_TRUE(to_hex(sealed.ciphertext).starts_with("f938558b5d72f1a23810b4be2ab4f84331acc0"));
}

TEST(HpkeTest, VectorsOfTheSharedFolderAreReproduced) {
  const std::string path = shared_file("vectors/hpke/rfc9180_base_mode.json");
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << path << " is not here";
  const auto bytes = [](const nlohmann::json& value) {
    return from_hex(value.get<std::string>()).value();
  };
  int messages = 0;
  for (const auto& suite : nlohmann::json::parse(file)) {
    if (suite.at("kem_id") != "32" || suite.at("kdf_id") != "1" || suite.at("aead_id") != "1")
      continue;
    const auto one_time = hpke_key_pair(bytes(suite.at("skEm"))).value();
    const auto receiver = hpke_key_pair(bytes(suite.at("skRm"))).value();
    for (const auto& each : suite.at("encryptions")) {
      const auto sequence = each.at("sequence_number").get<std::uint64_t>();
      const auto sealed = hpke_seal_with(one_time, receiver.public_key, bytes(suite.at("info")),
                                         bytes(each.at("aad")), bytes(each.at("pt")), sequence)
                              .value();
      EXPECT_EQ(sealed.encapsulated, bytes(suite.at("enc")));
      EXPECT_EQ(sealed.ciphertext, bytes(each.at("ct"))) << sequence;
      if (sequence == 0) {
        EXPECT_EQ(
            hpke_open(receiver, bytes(suite.at("info")), bytes(each.at("aad")), sealed).value(),
            bytes(each.at("pt")));
      }
      ++messages;
    }
  }
  EXPECT_GE(messages, 5);
}

TEST(HpkeTest, AnyChangedBitIsNoticed) {
  SeededRandom random(20261125);
  const HpkeKeyPair key = hpke_generate(random);
  const Bytes info = {1, 2}, aad = {3, 4, 5}, message = {6, 7, 8, 9};
  const Sealed sealed = hpke_seal(key.public_key, info, aad, message, random).value();
  EXPECT_EQ(hpke_open(key, info, aad, sealed).value(), message);
  const auto each_bit = [](Bytes bytes, auto&& visit) {
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      visit(bytes, bit);
      bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    }
  };
  each_bit(sealed.ciphertext, [&](const Bytes& changed, std::size_t bit) {
    EXPECT_FALSE(hpke_open(key, info, aad, {sealed.encapsulated, changed})) << bit;
  });
  // X25519 ignores the highest bit of a point; HPKE hashes the point as sent.
  each_bit(sealed.encapsulated, [&](const Bytes& changed, std::size_t bit) {
    EXPECT_FALSE(hpke_open(key, info, aad, {changed, sealed.ciphertext})) << bit;
  });
  each_bit(info, [&](const Bytes& changed, std::size_t) {
    EXPECT_FALSE(hpke_open(key, changed, aad, sealed));
  });
  each_bit(aad, [&](const Bytes& changed, std::size_t) {
    EXPECT_FALSE(hpke_open(key, info, changed, sealed));
  });
  EXPECT_FALSE(hpke_open(hpke_generate(random), info, aad, sealed));
}

TEST(HpkeTest, KeysOfSmallOrderAreRefused) {
  SeededRandom random(20261126);
  EXPECT_FALSE(hpke_seal(Bytes(32, 0), {}, {}, {}, random));
  EXPECT_FALSE(hpke_seal(Bytes(31, 9), {}, {}, {}, random));
  EXPECT_FALSE(hpke_open(hpke_generate(random), {}, {}, {Bytes(32, 0), Bytes(20, 0)}));
}

}  // namespace
}  // namespace discreet::prio
