// Exactness of the samplers: probabilities against wide arithmetic, chosen paths with scripted
// words, and goodness of fit of the one-at-a-time and the bulk forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <iostream>
#include <numeric>
#include <vector>

#include "random/discrete_gaussian_sampler.h"
#include "random/discrete_laplace_sampler.h"
#include "random/exponential_weights.h"
#include "random/geometric.h"
#include "random/probability.h"
#include "support/chi_square.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<400, boost::multiprecision::digit_base_2>>;

Wide wide(const Rational& x) {
  return Wide(numerator(x)) / Wide(denominator(x));
}

BigInt digits_of(const CoinDigits& coin) {
  return (BigInt(coin.high) << 64) | coin.low;
}

class CountingRandom final : public RandomSource {
 public:
  explicit CountingRandom(std::uint64_t seed) : inner_(seed) {}
  std::uint64_t bits64() override {
    ++words;
    return inner_.bits64();
  }
  void fill(std::span<std::uint64_t> out) override {
    words += out.size();
    inner_.fill(out);
  }
  std::uint64_t words = 0;

 private:
  SeededRandom inner_;
};

// Spearman's rank correlation, times sqrt(n - 1): standard normal when the two are independent.
double rank_correlation_z(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ranks = [](const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto i, auto j) { return values[i] < values[j]; });
    std::vector<double> rank(values.size());
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i;
      while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
      for (std::size_t k = i; k < end; ++k) rank[order[k]] = static_cast<double>(i + end - 1) / 2;
      i = end;
    }
    return rank;
  };
  const auto ra = ranks(a), rb = ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (ra[i] - mean) * (rb[i] - mean);
    aa += (ra[i] - mean) * (ra[i] - mean);
    bb += (rb[i] - mean) * (rb[i] - mean);
  }
  return ab / std::sqrt(aa * bb) * std::sqrt(static_cast<double>(a.size() - 1));
}

TEST(GeometricTest, RefusesRatesThatAreNotPositiveOrTooSmall) {
  EXPECT_FALSE(GeometricSampler::make(0));
  EXPECT_FALSE(GeometricSampler::make(-1));
  EXPECT_FALSE(GeometricSampler::make(Rational(BigInt(1), BigInt(1) << 55)));
  EXPECT_TRUE(GeometricSampler::make(Rational(BigInt(1), BigInt(1) << 54)));
  for (const Rational& rate : {Rational(0), Rational(-1), Rational(BigInt(1), BigInt(1) << 55),
                               Rational(BigInt(1), BigInt(1) << 54), Rational(7)})
    EXPECT_EQ(GeometricSampler::check(rate).has_value(), GeometricSampler::make(rate).has_value());
}

// Each coin is the floor of its exact chance, and the exact chances multiply to (1 - r) r^g.
TEST(GeometricTest, DigitProbabilitiesMultiplyToTheGeometricLaw) {
  for (const Rational& rate :
       {Rational(1, 10), Rational(3, 7), Rational(2), Rational(1, 1'000'000)}) {
    const auto sampler = GeometricSampler::make(rate).value();
    const auto coins = sampler.coins();
    const std::size_t digits = coins.size() - 1;
    std::vector<Wide> one(digits);
    for (std::size_t j = 0; j < digits; ++j) {
      const Wide e = exp(-wide(rate) * ldexp(Wide(1), static_cast<int>(j)));
      one[j] = e / (1 + e);
      EXPECT_EQ(digits_of(coins[j]), static_cast<BigInt>(floor(ldexp(one[j], 128))));
    }
    const Wide last = exp(-wide(rate) * ldexp(Wide(1), static_cast<int>(digits)));
    EXPECT_EQ(digits_of(coins[digits]), static_cast<BigInt>(floor(ldexp(last, 128))));
    EXPECT_LT(last, ldexp(Wide(1), -64));
    const Wide r = exp(-wide(rate));
    for (const std::uint64_t g : {0ULL, 1ULL, 2ULL, 3ULL, 10ULL, 21ULL}) {
      if (g >> digits != 0) continue;
      Wide product = 1 - last;
      for (std::size_t j = 0; j < digits; ++j) product *= ((g >> j) & 1) != 0 ? one[j] : 1 - one[j];
      const Wide exact = (1 - r) * pow(r, static_cast<unsigned>(g));
      EXPECT_LT(abs(product / exact - 1), ldexp(Wide(1), -350)) << rate << " " << g;
    }
  }
}

// Words chosen for every digit: below its chance for a one, above for a zero.
TEST(GeometricTest, EveryDigitFollowsItsOwnWord) {
  const auto sampler = GeometricSampler::make(Rational(1, 20)).value();
  const std::size_t coins = sampler.coins().size();
  for (const std::uint64_t g : {0ULL, 1ULL, 5ULL, 300ULL, (1ULL << (coins - 1)) - 1}) {
    std::vector<std::uint64_t> words;
    for (std::size_t j = 0; j < coins; ++j) words.push_back(((g >> j) & 1) != 0 ? 0 : ~0ULL);
    ScriptedRandom random(words);
    EXPECT_EQ(sampler.draw(random), static_cast<std::int64_t>(g));
    ScriptedRandom again(words);
    EXPECT_EQ(sampler.draw_below(7, again), static_cast<std::int64_t>(g % 7));
  }
}

TEST(GeometricTest, ATiedDigitIsRefined) {
  const auto sampler = GeometricSampler::make(Rational(1, 20)).value();
  const auto coins = sampler.coins();
  for (const bool one : {true, false}) {
    std::vector<std::uint64_t> words{coins[0].high, one ? coins[0].low - 1 : coins[0].low + 1};
    for (std::size_t j = 1; j < coins.size(); ++j) words.push_back(~0ULL);
    ScriptedRandom random(words);
    EXPECT_EQ(sampler.draw(random), one ? 1 : 0);
    EXPECT_EQ(random.used(), words.size());
  }
}

TEST(GeometricTest, BeyondTheTableTheDrawStartsAfresh) {
  const auto sampler = GeometricSampler::make(Rational(1, 20)).value();
  const std::size_t coins = sampler.coins().size();
  ASSERT_EQ(sampler.coins().back().high, 0u);      // below 2^-64: only a tie can come up
  std::vector<std::uint64_t> words(coins - 1, 0);  // all digits one, to be forgotten
  words.push_back(0);                              // the last coin's tie ...
  words.push_back(0);                              // ... decided: it comes up
  words.push_back(0);                              // fresh draw: 1
  for (std::size_t j = 1; j < coins; ++j) words.push_back(~0ULL);
  const auto reach = std::int64_t{1} << (coins - 1);
  ScriptedRandom random(words);
  EXPECT_EQ(sampler.draw(random), reach + 1);
  EXPECT_EQ(random.used(), words.size());
  // Truncated: reach plus reach's forgotten digits do not matter, only G modulo the bound.
  ScriptedRandom again(words);
  EXPECT_EQ(sampler.draw_below(10, again), (reach + 1) % 10);
}

TEST(GeometricTest, LargeRatesAreAlmostSurelyZero) {
  const auto sampler = GeometricSampler::make(Rational(1'000'000)).value();
  SeededRandom random(71);
  std::vector<std::int64_t> many(1000, 7);
  sampler.draw_many(many, random);
  for (const auto g : many) EXPECT_EQ(g, 0);
}

// Feeds the bulk draw registers in which lane 0 equals the coins' digits to the last, so that only
// the exact rule can settle it; the other lanes are random.
class PlantedRandom final : public RandomSource {
 public:
  PlantedRandom(std::span<const CoinDigits> coins, std::vector<std::uint64_t> answers)
      : coins_(coins), answers_(std::move(answers)), inner_(72) {}
  std::uint64_t bits64() override {
    return used < answers_.size() ? answers_[used++] : inner_.bits64();
  }
  void fill(std::span<std::uint64_t> out) override {
    inner_.fill(out);
    for (std::size_t word = 0; word < out.size(); word += 8, ++register_) {
      const std::size_t coin = register_ / 128, digit = register_ % 128;
      if (coin >= coins_.size()) continue;
      const std::uint64_t block = digit < 64 ? coins_[coin].high : coins_[coin].low;
      out[word] = (out[word] & ~1ULL) | ((block >> (63 - digit % 64)) & 1);
    }
  }
  std::size_t used = 0;

 private:
  std::span<const CoinDigits> coins_;
  std::vector<std::uint64_t> answers_;
  std::size_t register_ = 0;
  SeededRandom inner_;
};

TEST(BitSliceTest, LanesThatTieOnAllStoredDigitsAreSettledExactly) {
  const auto sampler = GeometricSampler::make(Rational(1, 20)).value();
  const auto coins = sampler.coins();
  for (const std::uint64_t g : {0ULL, 1ULL, 0b101101ULL}) {
    std::vector<std::uint64_t> answers;
    for (std::size_t j = 0; j < coins.size(); ++j)
      answers.push_back(((g >> j) & 1) != 0 ? 0 : ~0ULL);
    PlantedRandom random(coins, answers);
    std::vector<std::int64_t> out(512);
    sampler.draw_many(out, random);
    EXPECT_EQ(random.used, coins.size());
    EXPECT_EQ(out[0], static_cast<std::int64_t>(g));
  }
}

// The same with the coin for "not zero" planted too, and a magnitude beyond the table.
TEST(BitSliceTest, LaplaceLanesBeyondTheTableStartAfresh) {
  const auto sampler = DiscreteLaplaceSampler::make(Rational(1, 20)).value();
  const auto table = sampler.magnitude().coins();
  std::vector<CoinDigits> coins(table.begin(), table.end());
  coins.push_back(sampler.nonzero_digits());
  const std::int64_t reach = std::int64_t{1} << (table.size() - 1);
  for (const bool nonzero : {true, false}) {
    std::vector<std::uint64_t> answers(table.size() - 1, ~0ULL);  // digits zero
    answers.push_back(0);                                         // beyond the table
    answers.push_back(nonzero ? 0 : ~0ULL);
    answers.push_back(0);  // the fresh magnitude: digit 0 is one, the others zero
    for (std::size_t j = 1; j < table.size(); ++j) answers.push_back(~0ULL);
    PlantedRandom random(coins, answers);
    std::vector<std::int64_t> out(512);
    sampler.draw_many(out, random);
    EXPECT_EQ(std::abs(out[0]), nonzero ? reach + 1 + 1 : 0);
    EXPECT_EQ(random.used, nonzero ? answers.size() : coins.size());
  }
}

TEST(SamplerLawTest, GeometricOneByOneInBulkAndTruncated) {
  for (const double rate : {0.05, 0.7, 3.0}) {
    const auto sampler = GeometricSampler::make(exact_rational(rate).value()).value();
    const double r = std::exp(-rate);
    const auto high = static_cast<std::int64_t>(6 / rate);
    SeededRandom random(73);
    std::vector<std::int64_t> single(60'000), bulk(200'000), below(60'000);
    for (auto& g : single) g = sampler.draw(random);
    sampler.draw_many(bulk, random);
    for (auto& g : below) g = sampler.draw_below(5, random);
    const auto law = [&](std::int64_t g) { return (1 - r) * std::pow(r, static_cast<double>(g)); };
    const auto a = chi_square("geometric", single, 0, high, law);
    EXPECT_LT(a.statistic, a.limit);
    const auto b = chi_square("geometric in bulk", bulk, 0, high, law);
    EXPECT_LT(b.statistic, b.limit);
    const auto c = chi_square("geometric below 5", below, 0, 4,
                              [&](std::int64_t g) { return law(g) / (1 - std::pow(r, 5)); });
    EXPECT_LT(c.statistic, c.limit);
  }
}

TEST(SamplerLawTest, DiscreteLaplaceOneByOneAndInBulk) {
  for (const double rate : {0.1, 1.0, 2.5}) {
    const auto sampler = DiscreteLaplaceSampler::make(exact_rational(rate).value()).value();
    const double r = std::exp(-rate);
    const auto reach = static_cast<std::int64_t>(5 / rate);
    SeededRandom random(74);
    std::vector<std::int64_t> single(60'000), bulk(200'000);
    for (auto& z : single) z = sampler.draw(random);
    sampler.draw_many(bulk, random);
    const auto law = [&](std::int64_t z) {
      return (1 - r) / (1 + r) * std::pow(r, std::fabs(static_cast<double>(z)));
    };
    for (const auto& [what, samples] :
         {std::pair{"Laplace", &single}, {"Laplace in bulk", &bulk}}) {
      const auto found = chi_square(what, *samples, -reach, reach, law);
      EXPECT_LT(found.statistic, found.limit);
    }
  }
}

TEST(SamplerLawTest, DiscreteGaussianOneByOneAndInBulk) {
  for (const Rational& sigma2 : {Rational(1, 4), Rational(2), Rational(301, 3)}) {
    const auto sampler = DiscreteGaussianSampler::make(sigma2).value();
    const auto s2 = sigma2.convert_to<double>();
    double total = 0;
    for (int z = -500; z <= 500; ++z) total += std::exp(-z * z / (2 * s2));
    const auto law = [&](std::int64_t z) {
      return std::exp(-static_cast<double>(z * z) / (2 * s2)) / total;
    };
    const auto reach = static_cast<std::int64_t>(2.8 * std::sqrt(s2));
    SeededRandom random(75);
    std::vector<std::int64_t> single(40'000), bulk(200'000);
    for (auto& z : single) z = sampler.draw(random);
    sampler.draw_many(bulk, random);
    for (const auto& [what, samples] :
         {std::pair{"Gaussian", &single}, {"Gaussian in bulk", &bulk}}) {
      const auto found = chi_square(what, *samples, -reach, reach, law);
      EXPECT_LT(found.statistic, found.limit);
    }
  }
}

// sigma2 = 1, t = 2: a proposal of zero is kept with chance exp(-1/8). The word that ties with its
// digits is decided by the next one; a rejection goes on to another proposal.
TEST(DiscreteGaussianSamplerTest, ATiedChanceToKeepIsRefined) {
  const auto sampler = DiscreteGaussianSampler::make(1).value();
  const auto proposal = DiscreteLaplaceSampler::make(Rational(1, 2)).value();
  const std::size_t coins = proposal.magnitude().coins().size();
  const auto tie = static_cast<std::uint64_t>(Probability::exp_minus(Rational(1, 8)).digits(64));
  const auto propose = [&](std::vector<std::uint64_t>& words, bool zero, bool negative) {
    words.push_back(zero ? ~0ULL : 0);
    words.push_back(negative ? 1 : 0);
    words.insert(words.end(), coins, ~0ULL);  // magnitude 1 when not zero
  };
  std::vector<std::uint64_t> kept;
  propose(kept, true, false);
  kept.insert(kept.end(), {tie, 0});
  ScriptedRandom a(kept);
  EXPECT_EQ(sampler.draw(a), 0);
  EXPECT_EQ(a.used(), kept.size());

  std::vector<std::uint64_t> rejected;
  propose(rejected, true, false);
  rejected.insert(rejected.end(), {tie, ~0ULL});
  propose(rejected, false, true);
  rejected.push_back(0);  // kept
  ScriptedRandom b(rejected);
  EXPECT_EQ(sampler.draw(b), -1);
  EXPECT_EQ(b.used(), rejected.size());
}

TEST(DiscreteGaussianSamplerTest, RefusesVariancesThatAreNotPositiveOrTooLarge) {
  EXPECT_FALSE(DiscreteGaussianSampler::make(0));
  EXPECT_FALSE(DiscreteGaussianSampler::make(Rational(-1, 2)));
  EXPECT_FALSE(DiscreteGaussianSampler::make(Rational((BigInt(1) << 100) + 1)));
}

// A variance of many digits takes the slow path of the chance to keep; the same law.
TEST(DiscreteGaussianSamplerTest, VariancesOfManyDigitsFollowTheSameLaw) {
  const Rational sigma2 = Rational(4) + Rational(BigInt(1), BigInt(1) << 200);
  const auto sampler = DiscreteGaussianSampler::make(sigma2).value();
  SeededRandom random(76);
  std::vector<std::int64_t> samples(4000);
  for (auto& z : samples) z = sampler.draw(random);
  double total = 0;
  for (int z = -100; z <= 100; ++z) total += std::exp(-z * z / 8.0);
  const auto found = chi_square("Gaussian of many digits", samples, -5, 5, [&](std::int64_t z) {
    return std::exp(-static_cast<double>(z * z) / 8.0) / total;
  });
  EXPECT_LT(found.statistic, found.limit);
}

TEST(TimingTest, LaplaceDrawsConsumeTheSameWordsWhateverComesOut) {
  for (const Rational& rate : {Rational(1, 50), Rational(2)}) {
    const auto sampler = DiscreteLaplaceSampler::make(rate).value();
    CountingRandom random(77);
    for (int i = 0; i < 20'000; ++i) {
      random.words = 0;
      (void)sampler.draw(random);
      ASSERT_EQ(random.words, 2 + sampler.magnitude().coins().size());
    }
  }
}

// Words consumed against |value|: |z| above six has chance 2e-9 when they are independent.
TEST(TimingTest, GaussianDrawsConsumeWordsIndependentlyOfTheValue) {
  const auto sampler = DiscreteGaussianSampler::make(Rational(25)).value();
  CountingRandom random(78);
  std::vector<double> words, sizes;
  for (int i = 0; i < 50'000; ++i) {
    random.words = 0;
    sizes.push_back(std::fabs(static_cast<double>(sampler.draw(random))));
    words.push_back(static_cast<double>(random.words));
  }
  const double z = rank_correlation_z(words, sizes);
  std::cout << "rank correlation of words and |value|: z = " << z << "\n";
  EXPECT_LT(std::fabs(z), 6);
}

// Two equal weights and U at one half, to 128 digits: only the next word can decide.
TEST(ExponentialWeightsTest, AChoiceWithinTheErrorIsRefined) {
  const std::vector<std::uint64_t> distances{0, 0};
  const auto weights = ExponentialWeights::make(distances, 1).value();
  struct Case {
    std::vector<std::uint64_t> words;
    std::size_t chosen;
  };
  for (const Case& c :
       std::vector<Case>{{{(1ULL << 63) - 1, ~0ULL, 0}, 0}, {{1ULL << 63, 0, ~0ULL}, 1}}) {
    ScriptedRandom random(c.words);
    EXPECT_EQ(weights.draw(random), c.chosen);
    EXPECT_EQ(random.used(), 3u);
  }
  const std::vector<std::uint64_t> clear{0, 0};
  ScriptedRandom random(clear);
  EXPECT_EQ(weights.draw(random), 0u);
  EXPECT_EQ(random.used(), 2u);
}

TEST(ExponentialWeightsTest, ChoicesFollowTheirWeightsInBothForms) {
  const std::vector<std::uint64_t> distances{3, 0, 1, 7};
  const auto by_distance = ExponentialWeights::make(distances, Rational(1, 2)).value();
  const auto by_exponent =
      ExponentialWeights::make({Rational(3, 2), Rational(0), Rational(1, 2), Rational(7, 2)})
          .value();
  double total = 0;
  for (const auto d : distances) total += std::exp(-static_cast<double>(d) / 2);
  for (const auto* weights : {&by_distance, &by_exponent}) {
    SeededRandom random(79);
    std::vector<std::int64_t> samples(40'000);
    for (auto& s : samples) s = static_cast<std::int64_t>(weights->draw(random));
    const auto found = chi_square("exponential weights", samples, 0, 3, [&](std::int64_t i) {
      return std::exp(-static_cast<double>(distances[static_cast<std::size_t>(i)]) / 2) / total;
    });
    EXPECT_LT(found.statistic, found.limit);
  }
}

TEST(ExponentialWeightsTest, DistinctDrawsGoOnAmongCandidatesOfHardlyAnyWeight) {
  // After the first, the others weigh e^-1e9: their order must still be drawn, and at once.
  const auto weights =
      ExponentialWeights::make({Rational(0), Rational(1'000'000'000), Rational(1'000'000'000)})
          .value();
  const std::vector<std::uint64_t> distances{0, 2'000'000'000, 2'000'000'000};
  const auto same = ExponentialWeights::make(distances, Rational(1, 2)).value();
  SeededRandom random(80);
  for (const auto* w : {&weights, &same}) {
    int second = 0;
    constexpr int kTrials = 400;
    for (int i = 0; i < kTrials; ++i) {
      const auto drawn = w->draw_distinct(3, random);
      EXPECT_EQ(drawn[0], 0u);
      EXPECT_EQ(drawn[1] + drawn[2], 3u);
      second += drawn[1] == 1;
    }
    EXPECT_NEAR(second, kTrials / 2, 6 * std::sqrt(kTrials / 4.0));  // 2e-9
  }
}

TEST(ExponentialWeightsTest, RefusesNothingToChooseFrom) {
  EXPECT_FALSE(ExponentialWeights::make(std::vector<Rational>{}));
  const std::vector<std::uint64_t> one{0};
  EXPECT_FALSE(ExponentialWeights::make(one, 0));
  EXPECT_FALSE(ExponentialWeights::make(one, Rational(-1)));
}

}  // namespace
}  // namespace discreet
