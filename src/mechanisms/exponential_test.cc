#include "mechanisms/exponential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/seeded_random.h"

namespace discreet {
namespace {

using Scores = std::vector<std::int64_t>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}
QualityScore score(double sensitivity, bool monotone = false) {
  return {LInfSensitivity::make(sensitivity).value(), monotone};
}

TEST(ExponentialTest, RefusesParametersThatMeanNothing) {
  EXPECT_FALSE(ExponentialMechanism::make(Epsilon::zero(), score(1)));
  EXPECT_FALSE(ExponentialMechanism::make(eps(5e-324), score(1)));
  EXPECT_FALSE(ExponentialMechanism::make(eps(1), score(5e-324)));
  EXPECT_FALSE(ExponentialMechanism::make(eps(1e-200), score(1e200)));
  EXPECT_FALSE(ExponentialMechanism::make(eps(1e300), score(1e-300)));
  for (const double bad : {std::nan(""), kInfinity, -1.0}) EXPECT_FALSE(Epsilon::make(bad));
  for (const double bad : {std::nan(""), kInfinity, -1.0, 0.0})
    EXPECT_FALSE(LInfSensitivity::make(bad));
}

TEST(ExponentialTest, RefusesEmptyRangesAndScoresThatAreNotFinite) {
  const auto mechanism = ExponentialMechanism::make(eps(1), score(1)).value();
  SeededRandom random(1);
  EXPECT_FALSE(mechanism.release(Scores{}, random));
  EXPECT_FALSE(mechanism.release(std::vector<double>{}, random));
  EXPECT_FALSE(mechanism.release(std::vector<double>{1, std::nan("")}, random));
  EXPECT_FALSE(mechanism.release(std::vector<double>{1, -kInfinity}, random));
}

TEST(ExponentialTest, ExtremeScoresAreComparedWithoutOverflow) {
  const auto mechanism = ExponentialMechanism::make(eps(1), score(1)).value();
  SeededRandom random(2);
  const Scores ends{std::numeric_limits<std::int64_t>::min(),
                    std::numeric_limits<std::int64_t>::max()};
  const std::vector<double> wide{-1.7e308, 1.7e308, 5e-324};
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(mechanism.release(ends, random).value(), 1u);
    EXPECT_EQ(mechanism.release(wide, random).value(), 1u);
  }
}

// Frequencies against exp(unit score) / sum; 100,000 draws, six standard errors: false alarm below
// 1e-8 a cell.
void expect_frequencies(const ExponentialWeights& weights, const std::vector<double>& scores,
                        double unit, std::uint64_t seed) {
  constexpr int kDraws = 100'000;
  std::vector<int> hits(scores.size());
  SeededRandom random(seed);
  for (int i = 0; i < kDraws; ++i) ++hits[weights.draw(random)];
  double total = 0;
  for (const double s : scores) total += std::exp(unit * s);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double p = std::exp(unit * scores[i]) / total;
    EXPECT_NEAR(1.0 * hits[i] / kDraws, p, 6 * std::sqrt(p * (1 - p) / kDraws))
        << "candidate " << i;
  }
}

TEST(ExponentialTest, ChancesAreProportionalToTheExponentOfTheScore) {
  const auto any = ExponentialMechanism::make(eps(1.5), score(3)).value();
  expect_frequencies(any.weights(Scores{0, 5, 2, -4}).value(), {0, 5, 2, -4}, 1.5 / 6, 3);
  const auto monotone = ExponentialMechanism::make(eps(1.5), score(3, true)).value();
  expect_frequencies(monotone.weights(Scores{0, 5, 2, -4}).value(), {0, 5, 2, -4}, 1.5 / 3, 4);
}

TEST(ExponentialTest, RealScoresAreTakenAtTheirValue) {
  const auto mechanism = ExponentialMechanism::make(eps(2), score(1)).value();
  const std::vector<double> scores{0.1, 0.75, -1.3, 1e-3};
  expect_frequencies(mechanism.weights(scores).value(), scores, 1, 5);
  const std::vector<double> wide{0.1, 0.75, -1.3, 1e-300};  // no common grid of 62 bits
  EXPECT_FALSE(on_common_grid(wide));
  expect_frequencies(mechanism.weights(wide).value(), wide, 1, 6);
}

TEST(ExponentialTest, AGridHoldsDoublesExactly) {
  const std::vector<double> scores{0.75, -3, 0, 1024.5};
  const auto grid = on_common_grid(scores).value();
  EXPECT_EQ(grid.step, Rational(1, 4));
  EXPECT_EQ(grid.multiples, (Scores{3, -12, 0, 4098}));
  EXPECT_EQ(on_common_grid(std::vector<double>{0, -0.0})->multiples, (Scores{0, 0}));
  EXPECT_EQ(on_common_grid(std::vector<double>{5e-324})->multiples, (Scores{1}));
  EXPECT_EQ(on_common_grid(std::vector<double>{1.5e308})->step *
                on_common_grid(std::vector<double>{1.5e308})->multiples[0],
            exact_rational(1.5e308).value());
}

// All other candidates just beyond the bound: the chance of missing it is beta, and above it one
// step nearer.
TEST(ExponentialTest, ErrorBoundIsAttainedInTheWorstCase) {
  const auto mechanism = ExponentialMechanism::make(eps(1), score(1)).value();
  constexpr std::uint64_t kCandidates = 20;
  const double bound = mechanism.error_bound(0.95, kCandidates);
  const auto missed = [&](double distance) {
    const double weight = (kCandidates - 1) * std::exp(-0.5 * distance);
    return weight / (1 + weight);
  };
  EXPECT_NEAR(missed(bound), 0.05, 1e-12);
  const double whole = mechanism.whole_error_bound(0.95, kCandidates);
  EXPECT_LE(missed(whole + 1), 0.05);
  EXPECT_GT(missed(whole), 0.05);
  EXPECT_EQ(mechanism.error_bound(0.95, 1), 0);
}

TEST(ExponentialTest, TextbookBoundIsTheFormulaAndNeverBelowTheExactOne) {
  const auto mechanism = ExponentialMechanism::make(eps(0.5), score(2)).value();
  EXPECT_NEAR(mechanism.textbook_error_bound(0.05, 100), 8 * (std::log(100) + std::log(20)), 1e-12);
  EXPECT_NEAR(mechanism.textbook_error_bound(0.05, 100, 10), 8 * (std::log(10) + std::log(20)),
              1e-12);
  for (const std::uint64_t n : {2u, 10u, 100'000u})
    EXPECT_GE(mechanism.textbook_error_bound(0.05, n), mechanism.error_bound(0.95, n));
}

TEST(ExponentialTest, ForErrorIsTheInverseOfErrorBound) {
  for (const double error : {0.5, 10.0, 1e6}) {
    const auto mechanism = ExponentialMechanism::for_error(error, 0.9, 50, score(2)).value();
    EXPECT_LE(mechanism.error_bound(0.9, 50), error);
    const auto less =
        ExponentialMechanism::make(eps(mechanism.epsilon().value() * 0.999), score(2)).value();
    EXPECT_GT(less.error_bound(0.9, 50), error);
  }
  EXPECT_FALSE(
      ExponentialMechanism::for_error(0, 0.9, 50, score(1)));  // no epsilon makes it certain
  EXPECT_FALSE(ExponentialMechanism::for_error(std::nan(""), 0.9, 50, score(1)));
  EXPECT_FALSE(ExponentialMechanism::for_error(-1, 0.9, 50, score(1)));
  EXPECT_FALSE(ExponentialMechanism::for_error(1, 1, 50, score(1)));
  EXPECT_FALSE(ExponentialMechanism::for_error(1, 0.9, 0, score(1)));
  EXPECT_FALSE(ExponentialMechanism::for_error(1, 0.9, 1, score(1)));  // nothing to pay for
}

TEST(ExponentialTest, ChargesBoundedRangeOfEpsilon) {
  const auto mechanism = ExponentialMechanism::make(eps(0.7), score(1, true)).value();
  EXPECT_EQ(std::get<loss::BoundedRange>(mechanism.loss().kind).epsilon, eps(0.7));
}

}  // namespace
}  // namespace discreet
