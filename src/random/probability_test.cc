// Digits and bounds against arithmetic of 400 bits that shares no code with them.
#include "random/probability.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <vector>

#include "random/bernoulli.h"
#include "random/exp_powers.h"
#include "random/uniform.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<400, boost::multiprecision::digit_base_2>>;

Wide wide(const Rational& x) {
  return Wide(numerator(x)) / Wide(denominator(x));
}
BigInt floor_scaled(const Wide& p, unsigned bits) {
  return static_cast<BigInt>(
      boost::multiprecision::floor(boost::multiprecision::ldexp(p, static_cast<int>(bits))));
}

const std::vector<Rational>& exponents() {
  static const std::vector<Rational> values{Rational(1, 1000003),
                                            Rational(1, 7),
                                            Rational(1, 2),
                                            Rational(2, 3),
                                            Rational(1),
                                            Rational(5, 4),
                                            Rational(10),
                                            Rational(31, 3),
                                            Rational(44),
                                            Rational(63),
                                            Rational(BigInt(1), BigInt(1) << 60)};
  return values;
}

TEST(ProbabilityTest, DigitsAreTheFloorOfTheExactValue) {
  for (const Rational& x : exponents())
    for (const unsigned bits : {1U, 8U, 64U, 128U, 200U}) {
      const Wide e = exp(-wide(x));
      EXPECT_EQ(Probability::exp_minus(x).digits(bits), floor_scaled(e, bits)) << x;
      EXPECT_EQ(Probability::logistic(x).digits(bits), floor_scaled(e / (1 + e), bits)) << x;
      EXPECT_EQ(Probability::twice_logistic(x).digits(bits), floor_scaled(2 * e / (1 + e), bits))
          << x;
      for (const Rational& m : {Rational(1, 3), Rational(7), Rational(1'000'000'007)}) {
        const Wide weight = wide(m) * e;
        EXPECT_EQ(Probability::logistic(x, m).digits(bits),
                  floor_scaled(weight / (1 + weight), bits))
            << x << " " << m;
      }
    }
}

TEST(ProbabilityTest, RationalDigitsAreExactAtTheEnds) {
  EXPECT_EQ(Probability::rational(0).value().digits(64), 0);
  EXPECT_EQ(Probability::rational(1).value().digits(64), BigInt(1) << 64);
  EXPECT_EQ(Probability::rational(Rational(1, 3)).value().digits(4), 5);
  EXPECT_EQ(Probability::logistic(0).digits(8), 128);
  EXPECT_EQ(Probability::logistic(0, 3).digits(8), 192);
  EXPECT_EQ(Probability::logistic(5, 0).digits(64), 0);
  EXPECT_EQ(Probability::exp_minus(0).digits(8), 256);
  EXPECT_EQ(Probability::exp_minus(100000).digits(64), 0);
  EXPECT_FALSE(Probability::rational(Rational(-1, 9)));
  EXPECT_FALSE(Probability::rational(Rational(10, 9)));
  EXPECT_THROW(Probability::exp_minus(-1), InvariantViolation);
}

TEST(ProbabilityTest, ScaledIntervalsHoldTheExactValueAndAreNarrow) {
  for (const Rational& x : exponents())
    for (const unsigned bits : {64U, 128U, 288U}) {
      const ScaledInterval e = exp_minus_scaled(x, bits);
      const Wide exact = ldexp(exp(-wide(x)), static_cast<int>(bits));
      EXPECT_LE(Wide(e.low), exact);
      EXPECT_GE(Wide(e.high), exact);
      EXPECT_LE(e.high - e.low, 8);
    }
}

// A word equal to the first digits goes on to the next ones: both outcomes, and a further tie.
TEST(ProbabilityTest, TiesAreSettledByFurtherDigits) {
  const Rational x(2, 3);
  const BigInt digits = Probability::exp_minus(x).digits(192);
  const BigInt mask = (BigInt(1) << 64) - 1;
  const auto block = [&](unsigned i) {
    return static_cast<std::uint64_t>((digits >> (128 - 64 * i)) & mask);
  };
  const Bernoulli coin(Probability::exp_minus(x));
  struct Case {
    std::vector<std::uint64_t> words;
    bool heads;
  };
  for (const Case& c : std::vector<Case>{{{block(0) - 1}, true},
                                         {{block(0) + 1}, false},
                                         {{block(0), block(1) - 1}, true},
                                         {{block(0), block(1) + 1}, false},
                                         {{block(0), block(1), block(2) - 1}, true},
                                         {{block(0), block(1), block(2) + 1}, false}}) {
    ScriptedRandom random(c.words);
    EXPECT_EQ(coin.draw(random), c.heads);
    EXPECT_EQ(random.used(), c.words.size());
    ScriptedRandom again(c.words);
    EXPECT_EQ(bernoulli_exp_minus(x, again), c.heads);
    EXPECT_EQ(again.used(), c.words.size());
  }
}

TEST(ProbabilityTest, CertainCoinsAreCertain) {
  const Bernoulli always(Probability::rational(1).value()), never(Probability::rational(0).value());
  for (const std::uint64_t word : {0ULL, 1ULL, ~0ULL}) {
    const std::vector<std::uint64_t> script{word, 5};
    ScriptedRandom a(script), b(script);
    EXPECT_TRUE(always.draw(a));
    EXPECT_FALSE(never.draw(b));
  }
}

// Thousands of n, of every size, for units from tiny to large.
TEST(ExpPowersTest, BoundsHoldTheExactPower) {
  SeededRandom random(61);
  for (const Rational& unit :
       {Rational(BigInt(1), BigInt(1) << 100), Rational(BigInt(1), BigInt(1) << 64),
        Rational(1, 1000), Rational(3, 7), Rational(2)}) {
    const ExpPowers powers(unit);
    for (int i = 0; i < 600; ++i) {
      const unsigned shift = static_cast<unsigned>(random.bits64() % 128);
      const UInt128 n = ((UInt128{random.bits64()} << 64) | random.bits64()) >> shift;
      const BigInt big =
          (BigInt(static_cast<std::uint64_t>(n >> 64)) << 64) | static_cast<std::uint64_t>(n);
      const UInt128 low = powers.low(n);
      const Wide low_wide = Wide((BigInt(static_cast<std::uint64_t>(low >> 64)) << 64) |
                                 static_cast<std::uint64_t>(low));
      const Rational x = unit * Rational(big);
      const Wide exact = x > 300 ? Wide(0) : ldexp(exp(-wide(x)), 128);
      EXPECT_LE(low_wide, x > 300 ? Wide(1) : exact);
      EXPECT_LT(exact, low_wide + ExpPowers::kSlack);
    }
  }
}

// Lemire's rule: with bound 3 * 2^62 the words whose product has a low half below 2^62 are drawn
// again.
TEST(UniformTest, UnfairWordsAreDrawnAgain) {
  const std::uint64_t bound = std::uint64_t{3} << 62;
  const std::vector<std::uint64_t> words{
      0, 4, 7};  // 0: low half 0, unfair; 4: low half 0 as well; 7 is fair
  ScriptedRandom random(words);
  const std::uint64_t drawn = uniform_below(bound, random);
  EXPECT_EQ(random.used(), 3u);
  EXPECT_EQ(drawn, static_cast<std::uint64_t>((UInt128{7} * bound) >> 64));
}

// Exact count: of 2^16 equally spaced words, as many give each value as the rule allows.
TEST(UniformTest, EveryValueHasTheSameNumberOfWords) {
  constexpr std::uint64_t kBound = 7;
  std::vector<std::uint64_t> counts(kBound);
  for (std::uint64_t i = 0; i < (1 << 14); ++i) {
    const std::vector<std::uint64_t> script{(i << 50) | 0x1234567, 0x7777777777777777};
    ScriptedRandom random(script);
    ++counts[uniform_below(kBound, random)];
  }
  for (const auto count : counts) EXPECT_NEAR(static_cast<double>(count), (1 << 14) / 7.0, 1.01);
}

TEST(UniformTest, WideBoundsRejectWhatLiesBeyond) {
  const BigInt bound = (BigInt(1) << 64) + 5;       // 65 bits
  const std::vector<std::uint64_t> words{~0ULL, 0,  // 2^65 - 2 or so: too large
                                         0x8000000000000001ULL, 1ULL << 63};  // (2^64 + 3): fits
  ScriptedRandom random(words);
  EXPECT_EQ(uniform_below(bound, random), (BigInt(1) << 64) + 3);
  EXPECT_EQ(random.used(), 4u);
  EXPECT_THROW((void)uniform_below(BigInt(0), random), InvariantViolation);
}

}  // namespace
}  // namespace discreet
