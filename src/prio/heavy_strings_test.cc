#include "prio/heavy_strings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

const std::string kContext = "heavy";
const Bytes kKey(kVerifyKeyBytes, 9);

HeavyStringsResult find(const HeavyStrings& finder, const std::vector<std::string>& strings,
                        SeededRandom& random, bool second_adds_noise = true) {
  std::vector<StringReport> reports;
  for (const std::string& string : strings)
    reports.push_back(finder.shard(as_bytes(kContext),
                                   BitString(as_bytes(string), finder.poplar().bits()), random));
  return finder
      .run(as_bytes(kContext), kKey, reports, {&random, second_adds_noise ? &random : nullptr})
      .value();
}

TEST(HeavyStringsTest, FrequentStringsAreFoundWithTheirCounts) {
  SeededRandom random(31);
  for (const double delta : {0.0, 1e-6}) {
    const auto finder =
        HeavyStrings::make({.bits = 16, .bits_per_round = 4, .epsilon = 20, .delta = delta})
            .value();
    std::vector<std::string> strings(60, "ab");
    strings.insert(strings.end(), 40, "ac");
    for (char c = '0'; c <= '9'; ++c) strings.push_back(std::string("z") + c);
    const auto found = find(finder, strings, random);
    ASSERT_EQ(found.rounds.size(), 4U);
    ASSERT_EQ(found.strings.size(), 2U);
    EXPECT_EQ(found.strings[0].string, BitString::of_text("ab"));
    EXPECT_EQ(found.strings[1].string, BitString::of_text("ac"));
    // Chance 2e-9 that the Laplace noise of scale 0.4 of two servers passes 9; Gaussian less.
    EXPECT_NEAR(static_cast<double>(found.strings[0].count), 60, 9);
    EXPECT_NEAR(static_cast<double>(found.strings[1].count), 40, 9);
  }
}

TEST(HeavyStringsTest, ReportsThatCheatAreLeftOut) {
  SeededRandom random(32);
  const auto finder = HeavyStrings::make({.bits = 8, .epsilon = 50}).value();
  std::vector<StringReport> reports;
  for (int i = 0; i < 30; ++i)
    reports.push_back(finder.shard(as_bytes(kContext), BitString::of_text("a"), random));
  for (int i = 0; i < 10; ++i) {  // each would count for a thousand
    const Bytes nonce(kNonceBytes, static_cast<std::uint8_t>(i));
    reports.push_back({nonce, finder.poplar()
                                  .shard_weighted(as_bytes(kContext), BitString::of_text("b"), 1000,
                                                  nonce, Bytes(Poplar1::kRandomnessBytes, 5))
                                  .value()});
  }
  const auto found = finder.run(as_bytes(kContext), kKey, reports, {&random, &random}).value();
  EXPECT_EQ(found.rounds.front().refused, 10U);
  ASSERT_EQ(found.strings.size(), 1U);
  EXPECT_EQ(found.strings[0].string, BitString::of_text("a"));
}

TEST(HeavyStringsTest, NoiseAloneListsNothing) {
  SeededRandom random(33);
  const auto finder = HeavyStrings::make({.bits = 16, .epsilon = 0.5, .delta = 1e-6}).value();
  int listed = 0;
  for (int run = 0; run < 40; ++run) listed += find(finder, {}, random).rounds.size() > 1 ? 1 : 0;
  // A first round passes in at most 5 % / 4 of runs: more than 10 of 40 have a chance below 1e-10.
  std::printf("%d of 40 empty crowds went past the first round\n", listed);
  EXPECT_LE(listed, 10);
}

/// The log of how much likelier the worst event is with "1..." than with "0...", from one server's
/// noise alone: all four counts that the report moves, over both rounds.
double worst_log_ratio(double epsilon, int runs, double& slack) {
  SeededRandom random(34);
  const auto finder =
      HeavyStrings::make({.bits = 2, .bits_per_round = 1, .epsilon = epsilon, .threshold = -1e9})
          .value();
  double hits[2] = {0, 0};
  for (int run = 0; run < runs; ++run)
    for (const int which : {0, 1}) {
      const auto found =
          find(finder, {which == 1 ? std::string(1, '\xff') : std::string(1, '\0')}, random, false);
      const auto& first = found.rounds[0].counts;
      const auto& second = found.rounds[1].counts;
      const bool hit = first[1] >= 1 && first[0] <= 0 && second[3] >= 1 && second[0] <= 0;
      hits[which] += hit ? 1 : 0;
    }
  slack = 5.5 * std::sqrt(1 / hits[0] + 1 / hits[1]);
  std::printf("epsilon %g: %g and %g hits of %d\n", epsilon, hits[1], hits[0], runs);
  return std::log(hits[1] / hits[0]);
}

// Five and a half standard errors: a false alarm is rarer than 1e-7. The event is the worst there
// is, so the measured ratio is close to the claim, and twice the loss is caught.
TEST(HeavyStringsTest, OneServersNoiseKeepsEpsilonOverAllRoundsAndLessNoiseIsCaught) {
  double slack = 0;
  const double right = worst_log_ratio(1, 8000, slack);
  EXPECT_LE(right, 1 + slack);
  const double half_the_noise = worst_log_ratio(2, 8000, slack);
  EXPECT_GT(half_the_noise, 1 + slack) << "the test could not have failed";
}

TEST(HeavyStringsTest, PoliciesWithoutPrivacyOrOutOfRangeAreRefused) {
  EXPECT_FALSE(HeavyStrings::make({.bits = 8, .epsilon = 0}));
  EXPECT_FALSE(HeavyStrings::make({.bits = 8, .epsilon = -1}));
  EXPECT_FALSE(HeavyStrings::make({.bits = 0, .epsilon = 1}));
  EXPECT_FALSE(HeavyStrings::make({.bits = 8, .bits_per_round = 9, .epsilon = 1}));
  EXPECT_FALSE(HeavyStrings::make({.bits = 8, .epsilon = 1, .delta = 1}));
  EXPECT_FALSE(HeavyStrings::make({.bits = 8, .epsilon = 1, .kept_max = 0}));
}

}  // namespace
}  // namespace discreet::prio
