#include "town/dice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace discreet::town {
namespace {

// Pinned: on another machine, compiler or library these must come out the same.
TEST(DiceTest, ASeedGivesTheSameDrawsEverywhere) {
  Dice dice(1, "test");
  std::vector<std::int64_t> drawn;
  drawn.reserve(10);
  for (int i = 0; i < 4; ++i) drawn.push_back(static_cast<std::int64_t>(dice.below(1'000'000)));
  for (int i = 0; i < 3; ++i) drawn.push_back(dice.bell(100, 15));
  for (int i = 0; i < 3; ++i) drawn.push_back(dice.skewed(50'000));
  EXPECT_EQ(drawn, (std::vector<std::int64_t>{521578, 890231, 446651, 759876, 95, 81, 98, 32268,
                                              80102, 25177}));
}

TEST(DiceTest, StreamsOfOtherSeedsAndPurposesDiffer) {
  Dice one(1, "people");
  Dice other_seed(2, "people");
  Dice other_purpose(1, "voters");
  const auto first = one.below(1ULL << 62);
  EXPECT_NE(first, other_seed.below(1ULL << 62));
  EXPECT_NE(first, other_purpose.below(1ULL << 62));
}

// Fixed seed, so these are facts; the slack of six standard errors only says how wrong is wrong.
TEST(DiceTest, DrawsHaveTheStatedShape) {
  Dice dice(3, "shape");
  constexpr int kDraws = 100'000;
  std::array<int, 3> picked{};
  const std::array<int, 3> weights = {1, 0, 3};
  double sum = 0;
  double squares = 0;
  int below_median = 0;
  int heads = 0;
  std::array<int, 6> faces{};
  for (int i = 0; i < kDraws; ++i) {
    ++picked[dice.pick(weights)];
    ++faces[dice.below(6)];
    const auto z = static_cast<double>(dice.bell(1000, 100));
    sum += z;
    squares += (z - 1000) * (z - 1000);
    below_median += dice.skewed(1000) < 1000;
    heads += dice.chance(250);
  }
  const double slack = 6 * std::sqrt(kDraws * 0.25);
  EXPECT_EQ(picked[1], 0);
  EXPECT_NEAR(picked[0], kDraws * 0.25, slack);
  for (const int face : faces) EXPECT_NEAR(face, kDraws / 6.0, slack);
  EXPECT_NEAR(sum / kDraws, 1000, 6 * 100 / std::sqrt(kDraws));
  EXPECT_NEAR(std::sqrt(squares / kDraws), 100, 1.5);
  EXPECT_NEAR(below_median, kDraws * 0.5, slack);
  EXPECT_NEAR(heads, kDraws * 0.25, slack);
}

TEST(DiceTest, EndsAreIncludedAndLimitsHold) {
  Dice dice(4, "ends");
  std::int64_t least = 9;
  std::int64_t most = -9;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t drawn = dice.between(-2, 2);
    least = std::min(least, drawn);
    most = std::max(most, drawn);
    EXPECT_LE(dice.streak(900, 5), 5);
    const std::int64_t income = dice.skewed(1000);
    EXPECT_GE(income, 276);
    EXPECT_LE(income, 3625);
  }
  EXPECT_EQ(least, -2);
  EXPECT_EQ(most, 2);
  EXPECT_THROW((void)dice.below(0), InvariantViolation);
}

TEST(DiceTest, AShuffleKeepsEveryItem) {
  Dice dice(5, "shuffle");
  std::vector<int> items(100);
  for (int i = 0; i < 100; ++i) items[static_cast<std::size_t>(i)] = i;
  auto shuffled = items;
  dice.shuffle(shuffled);
  EXPECT_NE(shuffled, items);
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, items);
}

TEST(FingerprintTest, ValuesDoNotRunTogether) {
  Fingerprint one;
  one.add("ab");
  one.add("c");
  Fingerprint other;
  other.add("a");
  other.add("bc");
  EXPECT_NE(one.value(), other.value());
}

}  // namespace
}  // namespace discreet::town
