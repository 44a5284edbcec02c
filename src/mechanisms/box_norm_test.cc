#include "mechanisms/box_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include <boost/math/special_functions/gamma.hpp>

#include "support/seeded_random.h"

namespace discreet {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

// The norm of the noise is a Gamma variable of shape D and scale 1 / epsilon, and its direction is
// uniform on the box. Kolmogorov-Smirnov on 20,000 draws: the limit is exceeded with chance below
// 2 exp(-2 n d^2) = 1e-6 (Massart 1990).
TEST(BoxNormTest, TheNormFollowsItsGammaLaw) {
  const auto mechanism = BoxNorm::make(eps(0.7), {1, 1000, Int128{1} << 62}).value();
  const std::vector<Int128> zero(3);
  SeededRandom random(11);
  constexpr int kDraws = 20'000;
  std::vector<double> norms;
  for (int i = 0; i < kDraws; ++i) {
    double norm = 0;
    for (const double v : mechanism.release(zero, random)) norm = std::max(norm, std::fabs(v));
    norms.push_back(norm);
  }
  std::sort(norms.begin(), norms.end());
  double distance = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double law = boost::math::gamma_p(3.0, 0.7 * norms[static_cast<std::size_t>(i)]);
    distance = std::max(
        {distance, std::fabs(law - 1.0 * i / kDraws), std::fabs(law - (i + 1.0) / kDraws)});
  }
  const double limit = std::sqrt(std::log(2e6) / (2.0 * kDraws));
  std::cout << "distance " << distance << ", limit " << limit << '\n';
  EXPECT_LT(distance, limit);
}

// Six standard errors of a variance of heavy-tailed noise (kurtosis below 9).
TEST(BoxNormTest, NoisesAreUncorrelatedAndOfTheStatedVariance) {
  const auto mechanism = BoxNorm::make(eps(2), {3, 7, 1'000'003, 5, 11, 13}).value();
  const std::vector<Int128> zero(6);
  SeededRandom random(12);
  constexpr int kDraws = 20'000;
  std::vector<double> squares(6);
  double cross = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto noisy = mechanism.release(zero, random);
    for (std::size_t j = 0; j < 6; ++j) squares[j] += noisy[j] * noisy[j];
    cross += noisy[0] * noisy[2];
  }
  const double variance = mechanism.noise_sd() * mechanism.noise_sd();
  for (const double square : squares)
    EXPECT_NEAR(square / kDraws / variance, 1, 6 * std::sqrt(8.0 / kDraws));
  EXPECT_NEAR(cross / kDraws / variance, 0, 6 * std::sqrt(3.0 / kDraws));
}

TEST(BoxNormTest, SumsComeBackInRowsOfLargestSize) {
  const auto mechanism = BoxNorm::make(eps(1000), {1, 50}).value();
  SeededRandom random(13);
  const std::vector<Int128> sums = {400, 10'000};
  const auto noisy = mechanism.release(sums, random);
  EXPECT_NEAR(noisy[0], 400, 0.1);
  EXPECT_NEAR(noisy[1], 200, 0.1);
  EXPECT_EQ(mechanism.factor(0), BoxNorm::kSteps);
}

TEST(BoxNormTest, RefusesWhatItCannotHide) {
  EXPECT_FALSE(BoxNorm::make(eps(1), {}).has_value());
  EXPECT_FALSE(BoxNorm::make(eps(1), {1, 0}).has_value());
  EXPECT_FALSE(BoxNorm::make(eps(1), {-5}).has_value());
  EXPECT_FALSE(BoxNorm::make(eps(1), {(Int128{1} << 80) + 1}).has_value());
  EXPECT_FALSE(BoxNorm::make(eps(0), {1}).has_value());
  EXPECT_FALSE(BoxNorm::make(eps(1), std::vector<Int128>(129, 1)).has_value());
}

}  // namespace
}  // namespace discreet
