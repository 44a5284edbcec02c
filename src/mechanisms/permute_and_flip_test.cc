#include "mechanisms/permute_and_flip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanisms/exponential.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Scores = std::vector<std::int64_t>;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

// P[r] = p_r * integral over [0, 1] of prod_{j != r} (1 - p_j t), p_j = exp(unit (s_j - best)): the
// polynomial is multiplied out and integrated term by term.
std::vector<double> chances(const std::vector<double>& scores, double unit) {
  const double best = *std::max_element(scores.begin(), scores.end());
  std::vector<double> result;
  for (std::size_t r = 0; r < scores.size(); ++r) {
    std::vector<double> polynomial{1};
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (j == r) continue;
      polynomial.push_back(0);
      for (std::size_t d = polynomial.size() - 1; d > 0; --d)
        polynomial[d] -= std::exp(unit * (scores[j] - best)) * polynomial[d - 1];
    }
    double integral = 0;
    for (std::size_t d = 0; d < polynomial.size(); ++d)
      integral += polynomial[d] / static_cast<double>(d + 1);
    result.push_back(std::exp(unit * (scores[r] - best)) * integral);
  }
  return result;
}

TEST(PermuteAndFlipTest, RefusesBadParametersAndScores) {
  const QualityScore score{LInfSensitivity{1}};
  EXPECT_FALSE(PermuteAndFlip::make(Epsilon::zero(), score));
  EXPECT_FALSE(PermuteAndFlip::make(eps(5e-324), score));
  EXPECT_FALSE(PermuteAndFlip::make(eps(1e300), {LInfSensitivity::make(1e-300).value()}));
  const auto mechanism = PermuteAndFlip::make(eps(1), score).value();
  SeededRandom random(1);
  EXPECT_FALSE(mechanism.release(Scores{}, random));
  EXPECT_FALSE(mechanism.release(std::vector<double>{std::nan("")}, random));
  EXPECT_FALSE(PermuteAndFlip::for_error(0, 0.9, 5, score));
  EXPECT_FALSE(PermuteAndFlip::for_error(1, 0, 5, score));
  EXPECT_FALSE(PermuteAndFlip::for_error(1, 0.9, 0, score));
}

TEST(PermuteAndFlipTest, ExtremeScoresAreComparedWithoutOverflow) {
  const auto mechanism = PermuteAndFlip::make(eps(1), {LInfSensitivity{1}}).value();
  SeededRandom random(2);
  const Scores ends{std::numeric_limits<std::int64_t>::min(),
                    std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(mechanism.release(ends, random).value(), 1u);
    EXPECT_EQ(mechanism.release(std::vector<double>{-1.7e308, 1.7e308}, random).value(), 1u);
  }
}

// 60,000 draws a case, six standard errors: false alarm below 1e-8 a cell.
TEST(PermuteAndFlipTest, ChancesAreTheExactOnes) {
  constexpr int kDraws = 60'000;
  const auto check = [&](const std::vector<double>& scores, const auto& given, bool monotone) {
    const auto mechanism = PermuteAndFlip::make(eps(1), {LInfSensitivity{1}, monotone}).value();
    SeededRandom random(3);
    std::vector<int> hits(scores.size());
    for (int i = 0; i < kDraws; ++i) ++hits[mechanism.release(given, random).value()];
    const auto expected = chances(scores, monotone ? 1 : 0.5);
    for (std::size_t i = 0; i < scores.size(); ++i)
      EXPECT_NEAR(1.0 * hits[i] / kDraws, expected[i],
                  6 * std::sqrt(expected[i] * (1 - expected[i]) / kDraws));
  };
  check({0, 3, 2, 3}, Scores{0, 3, 2, 3}, false);
  check({0, 3, 2, 3}, Scores{0, 3, 2, 3}, true);
}

TEST(PermuteAndFlipTest, RealScoresAreTakenAtTheirValue) {
  constexpr int kDraws = 4'000;               // every release prepares its weights anew
  for (const double last : {1e-3, 1e-300}) {  // with and without a common grid
    const std::vector<double> scores{0.1, 0.75, last};
    const auto mechanism = PermuteAndFlip::make(eps(4), {LInfSensitivity{1}}).value();
    SeededRandom random(4);
    std::vector<int> hits(scores.size());
    for (int i = 0; i < kDraws; ++i) ++hits[mechanism.release(scores, random).value()];
    const auto expected = chances(scores, 2);
    for (std::size_t i = 0; i < scores.size(); ++i)
      EXPECT_NEAR(1.0 * hits[i] / kDraws, expected[i],
                  6 * std::sqrt(expected[i] * (1 - expected[i]) / kDraws));
  }
}

// One best, all others at the bound: the worst case of the proof page, against the exact chances.
TEST(PermuteAndFlipTest, ErrorBoundIsAttainedInTheWorstCase) {
  const auto mechanism = PermuteAndFlip::make(eps(1), {LInfSensitivity{1}}).value();
  for (const std::uint64_t n : {2u, 5u, 12u}) {
    const double bound = mechanism.error_bound(0.9, n);
    std::vector<double> scores(n, -bound);
    scores[0] = 0;
    EXPECT_NEAR(1 - chances(scores, 0.5)[0], 0.1, 1e-9) << n;
  }
}

TEST(PermuteAndFlipTest, IsNeverWorseThanTheExponentialMechanism) {
  const QualityScore score{LInfSensitivity{1}};
  const auto flip = PermuteAndFlip::make(eps(1), score).value();
  const auto exponential = ExponentialMechanism::make(eps(1), score).value();
  for (const std::uint64_t n : {1ULL, 2ULL, 3ULL, 10ULL, 1000ULL, 1ULL << 40})
    for (const double confidence : {0.3, 0.5, 0.9, 0.95, 0.999999, 1 - 1e-13})
      EXPECT_LE(flip.error_bound(confidence, n), exponential.error_bound(confidence, n))
          << n << " " << confidence;
  // And in distribution, on every triple of a small domain: P[within t of the best].
  for (int code = 0; code < 27; ++code) {
    const std::vector<double> scores{code % 3 * 1.0, code / 3 % 3 * 1.0, code / 9 * 1.0};
    const auto ours = chances(scores, 0.5);
    const double best = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (const double s : scores) total += std::exp(0.5 * s);
    for (const double t : {0.0, 1.0}) {
      double here = 0, there = 0;
      for (std::size_t i = 0; i < 3; ++i)
        if (scores[i] >= best - t) {
          here += ours[i];
          there += std::exp(0.5 * scores[i]) / total;
        }
      EXPECT_GE(here, there - 1e-12);
    }
  }
}

TEST(PermuteAndFlipTest, ForErrorIsTheInverseOfErrorBound) {
  const QualityScore score{LInfSensitivity{3}, true};
  for (const double error : {0.5, 10.0, 1e6}) {
    const auto mechanism = PermuteAndFlip::for_error(error, 0.9, 50, score).value();
    EXPECT_LE(mechanism.error_bound(0.9, 50), error);
    const auto less = PermuteAndFlip::make(eps(mechanism.epsilon().value() * 0.999), score).value();
    EXPECT_GT(less.error_bound(0.9, 50), error);
  }
}

TEST(PermuteAndFlipTest, ChargesPureEpsilonAndNotBoundedRange) {
  const auto mechanism = PermuteAndFlip::make(eps(0.7), {LInfSensitivity{1}}).value();
  EXPECT_EQ(std::get<loss::Pure>(mechanism.loss().kind).epsilon, eps(0.7));
}

}  // namespace
}  // namespace discreet
