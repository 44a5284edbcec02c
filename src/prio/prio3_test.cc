#include "prio/prio3.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "prio/conformance.h"
#include "prio/noise.h"
#include "prio/test_servers.h"
#include "support/seeded_random.h"
#include "support/shared_folder.h"

namespace discreet::prio {
namespace {

TEST(ConformanceTest, OfficialVectorsOfTheSharedFolderPass) {
  const std::filesystem::path folder = shared_file("vectors/vdaf");
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << folder << " is not here";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".json") continue;
    const Conformance result = run_vector(entry.path());
    EXPECT_TRUE(result.passed) << name << ": " << result.reason;
    ++files;
  }
  EXPECT_GE(files, 27);
}

// A runner that passes everything would be worth nothing: change one digit of each kind of field.
void expect_every_digit_matters(const std::string& name, const std::vector<std::string>& fields) {
  const std::filesystem::path source = shared_file("vectors/vdaf/" + name);
  std::ifstream file(source);
  if (!file) GTEST_SKIP() << source << " is not here";
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "discreet-prio-vector";
  std::filesystem::create_directories(folder);
  const auto passes = [&](const std::string& changed) {
    std::ofstream(folder / name) << changed;
    return run_vector(folder / name).passed;
  };
  EXPECT_TRUE(passes(text)) << name;
  for (const std::string& field : fields) {
    std::size_t at = text.find("\"" + field + "\": ");
    ASSERT_NE(at, std::string::npos) << field;
    at = text.find_first_of("0123456789abcdef", at + field.size() + 4);
    std::string changed = text;
    changed[at] = changed[at] == '1' ? '2' : '1';
    EXPECT_FALSE(passes(changed)) << name << " " << field;
  }
  const std::string yes = "\"success\": true";
  if (std::string success = text; success.find(yes) != std::string::npos) {
    success.replace(success.rfind(yes), yes.size(), "\"success\": false");
    EXPECT_FALSE(passes(success)) << name;
  }
  std::filesystem::remove_all(folder);
}

TEST(ConformanceTest, AVectorWithOneWrongDigitFails) {
  const std::vector<std::string> fields = {"public_share", "verifier_messages", "out_shares",
                                           "input_shares", "agg_shares",        "verifier_shares"};
  expect_every_digit_matters("Prio3Histogram_0.json", fields);
  expect_every_digit_matters("Poplar1_1.json", fields);
  expect_every_digit_matters("Poplar1_5.json", fields);
  expect_every_digit_matters("IdpfBBCGGI21_0.json", {"public_share", "keys", "nonce", "ctx"});
  expect_every_digit_matters("XofFixedKeyAes128.json",
                             {"derived_seed", "expanded_vec_field128", "seed", "dst"});
}

struct Example {
  Circuit circuit;
  std::vector<Measurement> measurements;
  std::vector<Wide> total;
};

std::vector<Example> examples() {
  return {{{CircuitKind::Count}, {{1}, {0}, {1}}, {2}},
          {{CircuitKind::Sum, 1, 1000}, {{1000}, {0}, {77}}, {1077}},
          {{CircuitKind::SumVec, 3, 10}, {{1, 2, 3}, {10, 0, 10}}, {11, 2, 13}},
          {{CircuitKind::SumVecMultiproof, 3, 10}, {{1, 2, 3}, {10, 0, 10}}, {11, 2, 13}},
          {{CircuitKind::Histogram, 4}, {{0}, {3}, {3}}, {1, 0, 0, 2}},
          {{CircuitKind::MultihotCountVec, 4, 2},
           {{1, 0, 1, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}},
           {2, 0, 1, 0}},
          {{CircuitKind::L1BoundSum, 3, 10}, {{10, 0, 0}, {3, 3, 4}}, {13, 3, 4}}};
}

TEST(Prio3Test, EveryCircuitAddsUpForTwoThreeAndManyServers) {
  SeededRandom random(20261127);
  for (const Example& example : examples())
    for (const unsigned servers : {2U, 3U, 7U, 255U}) {
      if (servers == 255 && example.circuit.kind != CircuitKind::Count &&
          example.circuit.kind != CircuitKind::Histogram)
        continue;
      const auto prio = Prio3::make(example.circuit, servers).value();
      TestServers all(*prio, random);
      for (const Measurement& measurement : example.measurements)
        EXPECT_TRUE(all.take(all.report(measurement))) << name(example.circuit.kind) << servers;
      EXPECT_EQ(all.total(), example.total) << name(example.circuit.kind) << servers;
    }
}

TEST(Prio3Test, MeasurementsTheCircuitForbidsCannotBeShared) {
  SeededRandom random(20261128);
  const auto refused = [&](const Circuit& circuit, const Measurement& measurement) {
    const auto prio = Prio3::make(circuit, 2).value();
    const Bytes nonce(16), randomness(prio->randomness_bytes());
    return !prio->shard({}, measurement, nonce, randomness);
  };
  EXPECT_TRUE(refused({CircuitKind::Count}, {2}));
  EXPECT_TRUE(refused({CircuitKind::Count}, {}));
  EXPECT_TRUE(refused({CircuitKind::Sum, 1, 10}, {11}));
  EXPECT_TRUE(refused({CircuitKind::SumVec, 2, 10}, {1, 11}));
  EXPECT_TRUE(refused({CircuitKind::SumVec, 2, 10}, {1}));
  EXPECT_TRUE(refused({CircuitKind::Histogram, 4}, {4}));
  EXPECT_TRUE(refused({CircuitKind::MultihotCountVec, 4, 2}, {1, 1, 1, 0}));
  EXPECT_TRUE(refused({CircuitKind::MultihotCountVec, 4, 2}, {2, 0, 0, 0}));
  EXPECT_TRUE(refused({CircuitKind::L1BoundSum, 2, 10}, {6, 5}));
}

TEST(Prio3Test, ImpossibleParametersAreRefused) {
  EXPECT_FALSE(Prio3::make({CircuitKind::Count}, 1));
  EXPECT_FALSE(Prio3::make({CircuitKind::Count}, 256));
  EXPECT_FALSE(Prio3::make({CircuitKind::Sum, 1, 0}, 2));
  EXPECT_FALSE(Prio3::make({CircuitKind::Histogram, 0}, 2));
  EXPECT_FALSE(Prio3::make({CircuitKind::MultihotCountVec, 3, 4}, 2));
  EXPECT_FALSE(Prio3::make({CircuitKind::SumVec, std::uint64_t{1} << 40, 1}, 2));
}

TEST(Prio3Test, StoredStatesReadBackAndDamagedOnesDoNot) {
  VerifyState state{{1, 2, 3}, Seed{9}};
  const auto back = VerifyState::decode(state.encode()).value();
  EXPECT_EQ(back.out_share, state.out_share);
  EXPECT_EQ(back.joint_seed, state.joint_seed);
  Bytes cut = state.encode();
  cut.pop_back();
  EXPECT_FALSE(VerifyState::decode(cut));
  EXPECT_FALSE(VerifyState::decode({}));
}

}  // namespace
}  // namespace discreet::prio
