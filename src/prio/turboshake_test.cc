#include "prio/turboshake.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "prio/field128.h"
#include "prio/xof_lanes.h"
#include "support/seeded_random.h"
#include "support/shared_folder.h"

namespace discreet::prio {
namespace {

Bytes hash(ByteSpan message, std::uint8_t domain, std::size_t bytes) {
  TurboShake128 sponge(domain);
  sponge.absorb(message);
  Bytes out(bytes);
  sponge.squeeze(out);
  return out;
}

// RFC 9861, section 5: the empty message with D = 0x1f.
TEST(TurboShakeTest, TheEmptyMessageHasItsKnownAnswer) {
  EXPECT_EQ(to_hex(hash({}, 0x1f, 32)),
            "1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c");
}

TEST(TurboShakeTest, KnownAnswersOfTheSharedFolderAreReproduced) {
  const std::string path = shared_file("vectors/turboshake/rfc9861_turboshake128.json");
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << path << " is not here";
  const auto vectors = nlohmann::json::parse(file);
  for (const auto& each : vectors.at("cases")) {
    Bytes message;
    if (each.at("message_ptn_length").is_null())
      message = from_hex(each.at("message_hex").get<std::string>()).value();
    else
      for (std::size_t i = 0; i < each.at("message_ptn_length").get<std::size_t>(); ++i)
        message.push_back(static_cast<std::uint8_t>(i % 251));
    const Bytes out = hash(message, each.at("domain").get<std::uint8_t>(),
                           each.at("output_length").get<std::size_t>());
    EXPECT_EQ(to_hex(ByteSpan(out).subspan(each.at("skip_bytes").get<std::size_t>())),
              each.at("expected_hex").get<std::string>());
  }
}

TEST(TurboShakeTest, PiecesGiveWhatTheWholeGives) {
  SeededRandom random(20261118);
  Bytes message(1000);
  for (std::uint8_t& byte : message) byte = static_cast<std::uint8_t>(random.bits64());
  const Bytes whole = hash(message, 1, 700);
  for (const std::size_t piece : {1U, 7U, 167U, 168U, 169U, 336U}) {
    TurboShake128 sponge(1);
    for (std::size_t at = 0; at < message.size(); at += piece)
      sponge.absorb(ByteSpan(message).subspan(at, std::min(piece, message.size() - at)));
    Bytes out(whole.size());
    for (std::size_t at = 0; at < out.size(); at += piece)
      sponge.squeeze(std::span(out).subspan(at, std::min(piece, out.size() - at)));
    EXPECT_EQ(out, whole);
  }
}

TEST(KeccakTest, EveryFormGivesTheSameBits) {
  SeededRandom random(20261119);
  KeccakState4 start;
  for (std::uint64_t& word : start.words) word = random.bits64();
  KeccakState4 portable = start;
  keccak_p12(portable, KeccakForm::Portable);
  for (int lane = 0; lane < 4; ++lane) {
    KeccakState one;
    for (int i = 0; i < 25; ++i) one[i] = start.words[4 * i + lane];
    keccak_p12(one);
    for (int i = 0; i < 25; ++i) EXPECT_EQ(one[i], portable.words[4 * i + lane]);
  }
  for (const KeccakForm form : {KeccakForm::Avx2, KeccakForm::Avx512}) {
    if (form > keccak_form()) continue;  // not on this processor
    KeccakState4 other = start;
    keccak_p12(other, form);
    EXPECT_EQ(other.words, portable.words) << name(form);
  }
}

TEST(XofLanesTest, LanesGiveWhatSingleStreamsGive) {
  const Bytes context = {1, 2, 3};
  const Seed seed{4, 5, 6}, blind{7};
  for (const std::size_t length : {1U, 10U, 11U, 100U, 257U}) {
    std::vector<Field128> wide(length), wide_alone(length);
    std::vector<Field64> narrow(2 * length), narrow_alone(2 * length);
    const Bytes tag = domain_tag(4, Usage::MeasurementShare, context);
    const Bytes part_tag = domain_tag(4, Usage::JointPart, context);
    Xof(seed, tag, {}).elements<Field128>(wide_alone);
    Xof(blind, tag, {}).elements<Field64>(narrow_alone);
    Xof commitment(blind, part_tag, {});
    commitment.bind({reinterpret_cast<const std::uint8_t*>(wide_alone.data()), length * 16});

    XofLanes lanes;
    Seed part{};
    lanes.expand<Field128>(0, xof_prefix(tag, seed), wide);
    lanes.commit(1, xof_prefix(part_tag, blind), reinterpret_cast<const std::uint8_t*>(wide.data()),
                 length * 16, part);
    lanes.expand<Field64>(3, xof_prefix(tag, blind), narrow);
    for (int step = 0; !(lanes.done(0) && lanes.done(1) && lanes.done(3)); ++step) {
      lanes.step();
      if (step % 3 != 0) lanes.provide(1, lanes.produced(0));  // sometimes the reader has to wait
    }
    EXPECT_EQ(wide, wide_alone);
    EXPECT_EQ(narrow, narrow_alone);
    EXPECT_EQ(part, commitment.seed());
  }
}

}  // namespace
}  // namespace discreet::prio
