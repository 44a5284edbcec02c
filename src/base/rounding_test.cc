// Directed rounding against exact rationals, on doubles of every size.
#include "base/rounding.h"

#include <gtest/gtest.h>

#include <bit>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/rational.h"
#include "base/saturating.h"

namespace discreet {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();

// Any finite double: random bit patterns, subnormals and the extremes among them.
std::vector<double> doubles(int count, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<double> values{0.0,  1.0,   -1.0,     0.1,    5e-324, -5e-324, 1e-310, 0x1p-1022,
                             kMax, -kMax, 0x1p-960, 0x1p53, 1e308,  -1e308,  3.0,    0x1p-1000};
  while (values.size() < static_cast<std::size_t>(count)) {
    const auto value = std::bit_cast<double>(bits());
    if (!std::isfinite(value)) continue;
    values.push_back(value);
    values.push_back(
        std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits())), -60));  // moderate
  }
  return values;
}

Rational exact(double value) {
  return exact_rational(value).value();
}

// up is a bound from above (infinity counts), down one from below, and they are at most one step
// apart wherever the error term can be trusted.
void expect_bounds(double down, double up, const Rational& truth, bool tight) {
  EXPECT_TRUE(up == HUGE_VAL || exact(up) >= truth);
  EXPECT_TRUE(down == -HUGE_VAL || exact(down) <= truth);
  if (tight && std::isfinite(up) && std::isfinite(down)) {
    EXPECT_TRUE(up == down || up == next_up(down));
  }
}

TEST(RoundingTest, FourOperationsBoundTheExactResult) {
  const auto a = doubles(3000, 1), b = doubles(3000, 2);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    for (const double y : {b[i], -a[i], a[(i * 7 + 3) % a.size()]}) {
      const double x = a[i];
      expect_bounds(add_down(x, y), add_up(x, y), exact(x) + exact(y), true);
      expect_bounds(sub_down(x, y), sub_up(x, y), exact(x) - exact(y), true);
      const double product = std::fabs(x * y);
      expect_bounds(mul_down(x, y), mul_up(x, y), exact(x) * exact(y), product > 0x1p-959);
      if (y == 0) continue;
      const double quotient = std::fabs(x / y);
      expect_bounds(div_down(x, y), div_up(x, y), exact(x) / exact(y),
                    quotient > 0x1p-959 && std::fabs(x) > 0x1p-959);
    }
  }
}

TEST(RoundingTest, SumsNearTheLargestDoubleAreStillBounded) {
  for (const double a : {kMax, -kMax, kMax / 2, next_down(kMax)})
    for (const double b : {kMax, -kMax, 0x1p969, 0x1p970, -0x1p970, 5e-324, -5e-324, 1.0})
      expect_bounds(add_down(a, b), add_up(a, b), exact(a) + exact(b), true);
}

TEST(RoundingTest, ExactResultsStayExact) {
  EXPECT_EQ(add_up(1, 1), 2);
  EXPECT_EQ(add_down(0.5, 0.25), 0.75);
  EXPECT_EQ(mul_up(3, 0.125), 0.375);
  EXPECT_EQ(div_up(1, 4), 0.25);
  EXPECT_EQ(sqrt_up(9), 3);
  EXPECT_EQ(sqrt_down(9), 3);
  EXPECT_EQ(exp_up(0), 1);
  EXPECT_EQ(log_down(1), 0);
}

TEST(RoundingTest, RootsBoundTheExactRoot) {
  for (double x : doubles(3000, 3)) {
    x = std::fabs(x);
    const double up = sqrt_up(x), down = sqrt_down(x);
    EXPECT_GE(exact(up) * exact(up), exact(x)) << x;
    EXPECT_LE(exact(down) * exact(down), exact(x)) << x;
    EXPECT_LE(up, next_up(next_up(down)));
  }
}

TEST(RoundingTest, TranscendentalsBoundTheExactValue) {
  using Wide = boost::multiprecision::cpp_bin_float_100;
  const auto holds = [](double down, const Wide& truth, double up) {
    return (up == HUGE_VAL || Wide(up) >= truth) && (down == -HUGE_VAL || Wide(down) <= truth);
  };
  for (const double raw : doubles(1500, 4)) {
    const double x = std::fabs(raw) > 700 ? std::remainder(raw, 700.0) : raw;
    EXPECT_TRUE(holds(exp_down(x), exp(Wide(x)), exp_up(x))) << x;
    EXPECT_TRUE(
        holds(expm1_down(x),
              std::fabs(x) < 1e-30 ? Wide(x) + Wide(x) * Wide(x) / 2 : Wide(exp(Wide(x)) - 1),
              expm1_up(x)))
        << x;
    const double positive = std::fabs(raw);
    if (positive > 0) {
      EXPECT_TRUE(holds(log_down(positive), log(Wide(positive)), log_up(positive))) << positive;
      EXPECT_TRUE(holds(log1p_down(positive),
                        positive < 1e-30 ? Wide(positive) - Wide(positive) * Wide(positive) / 2
                                         : Wide(log(1 + Wide(positive))),
                        log1p_up(positive)))
          << positive;
    }
  }
}

TEST(RoundingTest, TinyArgumentsKeepTheirSign) {
  for (const double x : {5e-324, 1e-323, 1.5e-323, 1e-310}) {
    EXPECT_GE(expm1_down(x), x);  // never zero or below: it is divided by
    EXPECT_LE(log1p_up(x), x);
    EXPECT_LE(expm1_up(-x), 0.0);
  }
  EXPECT_GE(exp_down(-1e300), 0.0);
  EXPECT_GT(exp_up(-1e300), 0.0);
  EXPECT_LE(exp_down(1e300), kMax);  // a lower bound is finite
  EXPECT_GE(expm1_down(-1e300), -1.0);
}

TEST(RoundingTest, CountsBeyondFiftyThreeBitsAreBounded) {
  for (const std::uint64_t count : {std::uint64_t{1} << 53, (std::uint64_t{1} << 53) + 1,
                                    (std::uint64_t{1} << 60) + 12345, ~std::uint64_t{0}}) {
    EXPECT_GE(exact(count_up(count)), Rational(BigInt(count)));
    EXPECT_LE(exact(count_down(count)), Rational(BigInt(count)));
  }
  EXPECT_EQ(count_up(7), 7);
}

TEST(SaturatingTest, StopsAtTheLimits) {
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(saturating_add(kHigh, 1), kHigh);
  EXPECT_EQ(saturating_add(kLow, -1), kLow);
  EXPECT_EQ(saturating_add(kHigh, kLow), -1);
  EXPECT_EQ(saturating_sub(kLow, 1), kLow);
  EXPECT_EQ(saturating_sub(0, kLow), kHigh);
  EXPECT_EQ(saturating_mul(kHigh, -2), kLow);
  EXPECT_EQ(saturating_mul(kLow, kLow), kHigh);
  EXPECT_EQ(saturating_mul(-3, 5), -15);
}

}  // namespace
}  // namespace discreet
