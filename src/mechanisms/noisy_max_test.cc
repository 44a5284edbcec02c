#include "mechanisms/noisy_max.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mechanisms/integer_noise.h"
#include "mechanisms/permute_and_flip.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Scores = std::vector<std::int64_t>;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}
const QualityScore kScore{LInfSensitivity{1}};

TEST(NoisyMaxTest, RefusesBadParametersAndEmptyRanges) {
  EXPECT_FALSE(NoisyMax::make(Epsilon::zero(), kScore));
  EXPECT_FALSE(NoisyMax::make(eps(5e-324), kScore));
  EXPECT_FALSE(NoisyMax::make(eps(1e-20), kScore));  // scale above 2^54
  EXPECT_FALSE(NoisyMax::for_error(-1, 0.9, 5, kScore));
  EXPECT_FALSE(NoisyMax::for_error(1, 1.5, 5, kScore));
  EXPECT_FALSE(NoisyMax::for_error(1, 0.9, 0, kScore));
  const auto mechanism = NoisyMax::make(eps(1), kScore).value();
  SeededRandom random(1);
  EXPECT_FALSE(mechanism.release(Scores{}, random));
}

TEST(NoisyMaxTest, ExtremeScoresAreComparedWithoutOverflow) {
  SeededRandom random(2);
  const Scores ends{std::numeric_limits<std::int64_t>::max(),
                    std::numeric_limits<std::int64_t>::min()};
  for (const MaxNoise noise : {MaxNoise::Geometric, MaxNoise::DiscreteLaplace}) {
    const auto mechanism = NoisyMax::make(eps(1), kScore, noise).value();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(mechanism.release(ends, random).value(), 0u);
  }
  const auto laplace = NoisyMax::make(eps(1), kScore, MaxNoise::DiscreteLaplace).value();
  EXPECT_EQ(laplace.release_with_gap(ends, random)->gap, std::numeric_limits<std::int64_t>::max());
}

// Two samples of 100,000 from mechanisms that should agree; six standard errors: false alarm below
// 1e-8 a cell.
TEST(NoisyMaxTest, GeometricNoiseOnWholeScoresIsPermuteAndFlip) {
  const Scores scores{0, 3, 2, 3};
  const auto max = NoisyMax::make(eps(1), kScore).value();
  const auto flip = PermuteAndFlip::make(eps(1), kScore).value();
  constexpr int kDraws = 100'000;
  SeededRandom random(3);
  std::vector<int> ours(4), theirs(4);
  for (int i = 0; i < kDraws; ++i) {
    ++ours[max.release(scores, random).value()];
    ++theirs[flip.release(scores, random).value()];
  }
  for (int i = 0; i < 4; ++i) {
    const double p = (ours[i] + theirs[i]) / (2.0 * kDraws);
    EXPECT_NEAR(1.0 * ours[i] / kDraws, 1.0 * theirs[i] / kDraws,
                6 * std::sqrt(2 * p * (1 - p) / kDraws));
  }
}

TEST(NoisyMaxTest, TiesFallToAFairLot) {
  constexpr int kDraws = 90'000;
  for (const MaxNoise noise : {MaxNoise::Geometric, MaxNoise::DiscreteLaplace}) {
    const auto mechanism =
        NoisyMax::make(eps(20), kScore, noise).value();  // the noise is nearly always zero
    SeededRandom random(4);
    std::vector<int> hits(3);
    for (int i = 0; i < kDraws; ++i) ++hits[mechanism.release(Scores{5, 5, 5}, random).value()];
    for (const int hit : hits) EXPECT_NEAR(hit, kDraws / 3.0, 6 * std::sqrt(kDraws * 2.0 / 9));
  }
}

TEST(NoisyMaxTest, TheGapIsOfferedOnlyUnderLaplaceNoise) {
  SeededRandom random(5);
  EXPECT_FALSE(NoisyMax::make(eps(1), kScore)->release_with_gap(Scores{1, 2}, random));
  const auto mechanism = NoisyMax::make(eps(1e6), kScore, MaxNoise::DiscreteLaplace).value();
  const auto found = mechanism.release_with_gap(Scores{-5, 40, 17, 3}, random).value();
  EXPECT_EQ(found.index, 1u);
  EXPECT_EQ(found.gap, 23);
  EXPECT_EQ(mechanism.release_with_gap(Scores{40, -5, 3}, random)->gap, 37);
  EXPECT_EQ(mechanism.release_with_gap(Scores{9}, random)->gap, 0);
}

TEST(NoisyMaxTest, AValueIsMeasuredAfreshAndPaidFor) {
  const auto mechanism = NoisyMax::make(eps(1e6), kScore).value();
  const auto measurement = DiscreteLaplace::make(eps(1e6), L1Sensitivity{1}).value();
  SeededRandom random(6);
  const auto found = mechanism.release_with_value(Scores{-5, 40, 17}, measurement, random).value();
  EXPECT_EQ(found.index, 1u);
  EXPECT_EQ(found.value, 40);
  EXPECT_EQ(std::get<loss::Composed>(mechanism.loss_with_value(measurement).kind).parts.size(), 2u);
  EXPECT_EQ(std::get<loss::Pure>(mechanism.loss().kind).epsilon, eps(1e6));
}

// The chosen score misses the bound with chance at most 10 %: all others just beyond it, 50,000
// draws, six standard errors, false alarm below 1e-8.
TEST(NoisyMaxTest, ErrorBoundHolds) {
  for (const MaxNoise noise : {MaxNoise::Geometric, MaxNoise::DiscreteLaplace}) {
    const auto mechanism = NoisyMax::make(eps(1), kScore, noise).value();
    const double bound = mechanism.error_bound(0.9, 8);
    Scores scores(8, -static_cast<std::int64_t>(bound) - 1);
    scores[3] = 0;
    SeededRandom random(7);
    constexpr int kDraws = 50'000;
    int missed = 0;
    for (int i = 0; i < kDraws; ++i) missed += mechanism.release(scores, random).value() != 3;
    EXPECT_LE(1.0 * missed / kDraws, 0.1 + 6 * std::sqrt(0.09 / kDraws));
  }
}

TEST(NoisyMaxTest, ForErrorIsTheInverseOfErrorBound) {
  for (const MaxNoise noise : {MaxNoise::Geometric, MaxNoise::DiscreteLaplace})
    for (const double error : {0.0, 2.0, 100.0}) {
      const auto mechanism = NoisyMax::for_error(error, 0.9, 50, kScore, noise).value();
      EXPECT_LE(mechanism.error_bound(0.9, 50), error);
      const auto less =
          NoisyMax::make(eps(mechanism.epsilon().value() * 0.999), kScore, noise).value();
      EXPECT_GT(less.error_bound(0.9, 50), error);
    }
}

// A scripted draw that exceeds 2^63 - 1: eight times "at least 2^60 more", then nothing more, which
// the sampler reports as 2^63 - 1; the continuation draws one. Cut-off noise would stay at 2^63
// - 1.
TEST(NoisyMaxTest, ComparisonsUseNoiseThatIsNotCutOff) {
  const auto sampler = GeometricSampler::make(exact_rational(0x1p-54).value()).value();
  const std::size_t coins = sampler.coins().size();
  ASSERT_EQ(coins, 61u);
  constexpr std::uint64_t kHeads = 0, kTails = ~std::uint64_t{0};
  // The last coin's first 64 digits are zero too, so a word of zeros needs one more to decide.
  std::vector<std::uint64_t> words(8 * (coins + 1), kHeads);
  words.insert(words.end(), coins, kTails);
  words.push_back(kHeads);
  words.insert(words.end(), coins - 1, kTails);
  ScriptedRandom random(words);
  EXPECT_TRUE(draw_unbounded(sampler, random) ==
              Int128{std::numeric_limits<std::int64_t>::max()} + 1);
  EXPECT_EQ(random.used(), words.size());
}

}  // namespace
}  // namespace discreet
