#include "mechanisms/knorm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <map>

#include "mechanisms/bivariate.h"
#include "mechanisms/moments.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

// Fifty hours and a spread, repeated: mean and variance are known.
std::vector<std::int64_t> hours(std::size_t n) {
  std::vector<std::int64_t> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = 40 + static_cast<std::int64_t>(i % 21) - 10;
  return values;
}

std::vector<Int128> sums_of(const KNorm& mechanism, const std::vector<std::int64_t>& values) {
  std::vector<Int128> sums(mechanism.features());
  for (const auto value : values) mechanism.add_row({&value, 1}, sums);
  return sums;
}

// Exact probabilities on a small lattice: P[v] proportional to exp(-eps ceil|v|_K / S), counted
// over all v of small norm. The body is given here by its definition, not by the integer test.
TEST(KNormTest, DrawsTheStatedLawOnASmallLattice) {
  const auto mechanism = KNorm::make(eps(1.5), {{{0, 1}, true}}).value();  // S = 1, three features
  ASSERT_EQ(mechanism.scale(), 1);
  const auto norm_at_most = [](double k, double a, double b, double c) {
    if (k == 0) return a == 0 && b == 0 && c == 0;
    a /= k, b = std::fabs(b / k), c /= k;
    if (std::fabs(a) > 1 || b > 1 || std::fabs(c) > 1) return false;
    const double lam = (1 + a) / 2, mu = (1 - a) / 2, tiny = 1e-12;
    const double p = std::fmax(0, b - lam), q = std::fmax(0, b - mu);
    return c * mu <= mu - 2 * p * p + tiny && c * lam >= -lam + 2 * q * q - tiny;
  };
  std::map<std::array<int, 3>, double> chances;
  double total = 0;
  constexpr int kMax = 14;
  for (int a = -kMax; a <= kMax; ++a)
    for (int b = -kMax; b <= kMax; ++b)
      for (int c = -kMax; c <= kMax; ++c) {
        int k = 0;
        while (k <= kMax && !norm_at_most(k, a, b, c)) ++k;
        if (k > kMax) continue;
        total += chances[{a, b, c}] = std::exp(-1.5 * k);
      }
  SeededRandom random(1);
  constexpr int kDraws = 100'000;
  std::map<std::array<int, 3>, int> counts;
  const std::vector<Int128> zero(3);
  for (int i = 0; i < kDraws; ++i) {
    const auto v = mechanism.release(zero, random);
    ++counts[{static_cast<int>(v[0]), static_cast<int>(v[1]), static_cast<int>(v[2])}];
  }
  double chi2 = 0, rest_expected = kDraws, rest = kDraws;
  int degrees = 0;
  for (const auto& [v, chance] : chances) {
    const double expected = kDraws * chance / total;
    if (expected < 20) continue;
    const double seen = counts[v];
    chi2 += (seen - expected) * (seen - expected) / expected;
    rest_expected -= expected, rest -= seen;
    ++degrees;
  }
  chi2 += (rest - rest_expected) * (rest - rest_expected) / rest_expected;
  std::cout << "chi-square " << chi2 << " with " << degrees << " degrees of freedom\n";
  // Seven standard deviations of a chi-square with many degrees: false alarm below 1e-7.
  EXPECT_LT(chi2, degrees + 7 * std::sqrt(2.0 * degrees) + 20);
}

TEST(KNormTest, StatedNoiseIsTheNoiseDrawn) {
  for (const auto& columns :
       std::vector<std::vector<MomentColumn>>{{{{0, 98}, false}},
                                              {{{0, 98}, true}},
                                              {{{0, 98}, true}, {{0, 7}, true}, {{0, 9}, false}}}) {
    const auto mechanism = KNorm::make(eps(1), columns).value();
    const MomentNoise stated = mechanism.noise(0);
    const std::vector<Int128> zero(mechanism.features());
    SeededRandom random(2);
    constexpr int kDraws = 20'000;
    double count = 0, linear = 0, square = 0, both = 0;
    const auto scale = static_cast<double>(mechanism.scale());
    const MomentLayout place = mechanism.layout(0);
    for (int i = 0; i < kDraws; ++i) {
      const auto v = mechanism.release(zero, random);
      const double a = static_cast<double>(v[0]) / scale;
      const double b = static_cast<double>(v[place.linear]) / scale;
      const double c = place.square == 0 ? 0 : static_cast<double>(v[place.square]) / scale;
      count += a * a, linear += b * b, square += c * c, both += a * c;
    }
    // Squares of the noise spread by less than three times their mean; six standard errors.
    const double slack = 6 * 3 / std::sqrt(kDraws);
    EXPECT_NEAR(count / kDraws / stated.count, 1, slack);
    EXPECT_NEAR(linear / kDraws / stated.linear, 1, slack);
    if (place.square != 0) {
      EXPECT_NEAR(square / kDraws / stated.square, 1, slack);
      EXPECT_NEAR(both / kDraws, stated.count_square,
                  slack * std::sqrt(stated.count * stated.square));
    }
  }
}

// Errors stated before and after the release against errors made; n = 48,842 as in ADULT, where the
// variance of hours should come within about .1.
TEST(KNormTest, ErrorsAreAsSmallAsStated) {
  const auto values = hours(48'842);
  const auto mechanism = KNorm::make(eps(1), {{{0, 98}, true}}).value();
  EXPECT_EQ(mechanism.scale(), 98 * 98);
  EXPECT_TRUE(mechanism.exact_grid());
  const auto sums = sums_of(mechanism, values);
  double mean = 0, squares = 0;
  for (const auto value : values)
    mean += static_cast<double>(value), squares += static_cast<double>(value * value);
  mean /= 48'842;
  const double variance = squares / 48'842 - mean * mean;
  SeededRandom random(3);
  double mean2 = 0, variance2 = 0, stated = 0;
  constexpr int kRuns = 4000;
  for (int i = 0; i < kRuns; ++i) {
    const MomentEstimates estimates(mechanism, mechanism.release(sums, random));
    mean2 += std::pow(estimates.mean(0).value - mean, 2);
    variance2 += std::pow(estimates.variance(0, Divisor::Population).value - variance, 2);
    stated = estimates.variance(0, Divisor::Population).standard_error;
  }
  const double mean_rmse = std::sqrt(mean2 / kRuns), variance_rmse = std::sqrt(variance2 / kRuns);
  std::cout << "RMSE: mean " << mean_rmse << ", variance " << variance_rmse << " (stated " << stated
            << ")\n";
  EXPECT_NEAR(variance_rmse / stated, 1, 0.15);
  EXPECT_NEAR(mean_rmse / planned_mean_error(mechanism, 0, 48'842, mean), 1, 0.15);
  EXPECT_NEAR(variance_rmse / planned_variance_error(mechanism, 0, 48'842, mean, variance), 1,
              0.15);
  EXPECT_LT(variance_rmse, 0.14);
}

TEST(KNormTest, EveryFeatureStaysWithinTheErrorBound) {
  const auto mechanism = KNorm::make(eps(0.5), {{{0, 98}, true}, {{0, 50}, false}}).value();
  const double bound = mechanism.error_bound(0.95) * static_cast<double>(mechanism.scale());
  const std::vector<Int128> zero(mechanism.features());
  SeededRandom random(4);
  int beyond = 0;
  constexpr int kRuns = 5000;
  for (int i = 0; i < kRuns; ++i) {
    bool any = false;
    for (const Int128 v : mechanism.release(zero, random))
      any |= std::fabs(static_cast<double>(v)) > bound;
    beyond += any;
  }
  EXPECT_LE(1.0 * beyond / kRuns, 0.05 + 6 * std::sqrt(0.05 / kRuns));
}

TEST(KNormTest, ReadySumsGiveTheSameFeatures) {
  const auto mechanism = KNorm::make(eps(1), {{{-3, 20}, true}, {{5, 9}, false}}).value();
  std::vector<Int128> by_row(mechanism.features());
  Int128 sums[2] = {}, squares[2] = {};
  for (std::int64_t i = 0; i < 40; ++i) {
    const std::int64_t row[2] = {i % 24 - 3, 5 + i % 5};
    mechanism.add_row(row, by_row);
    for (int j = 0; j < 2; ++j) sums[j] += row[j], squares[j] += row[j] * row[j];
  }
  EXPECT_TRUE(mechanism.from_sums(40, sums, squares).value() == by_row);
  const auto wide = KNorm::make(eps(1), {{{0, 1'000'003}, true}, {{0, 9}, true}}).value();
  EXPECT_FALSE(wide.exact_grid());
  EXPECT_EQ(wide.from_sums(40, sums, squares).error().code, ErrorCode::Refused);
}

// A row without the second column, and one without the first: their features are zero there.
TEST(KNormTest, AbsentValuesAddNothingToTheirFeatures) {
  const auto mechanism = KNorm::make(eps(1), {{{0, 1}, false}, {{0, 10}, true}}).value();
  const Int128 counts[2] = {3, 2}, sums[2] = {2, 17}, squares[2] = {2, 149};  // x = 7, 10, NULL
  const auto features = mechanism.from_sums(3, counts, sums, squares).value();
  std::vector<Int128> by_row(mechanism.features());
  for (const std::int64_t x : {7, 10}) {
    const std::int64_t row[2] = {1, x};
    mechanism.add_row(row, by_row);
  }
  by_row[0] += mechanism.scale();
  by_row[mechanism.layout(0).linear] -= mechanism.scale();
  EXPECT_TRUE(features == by_row);
}

// The count of rows that have a column, from the indicator beside it, and what is computed from it.
TEST(KNormTest, MomentsOfAColumnThatIsNotAlwaysThere) {
  const auto mechanism = KNorm::make(eps(5), {{{0, 1}, false}, {{0, 100}, true}}).value();
  // 3000 rows, 1000 of them with x = 20 or 40.
  const Int128 counts[2] = {3000, 1000}, sums[2] = {1000, 30'000}, squares[2] = {1000, 1'000'000};
  const auto exact = mechanism.from_sums(3000, counts, sums, squares).value();
  const Presence half{0, 0.5, 0.5};
  SeededRandom random(7);
  double squares_of[4] = {}, stated[4] = {};
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    const MomentEstimates e(mechanism, mechanism.release(exact, random), {std::nullopt, half});
    const Estimate found[4] = {e.count(half), e.mean(1), e.sum(1),
                               e.variance(1, Divisor::Population)};
    const double truth[4] = {1000, 30, 30'000, 100};
    for (int i = 0; i < 4; ++i) {
      squares_of[i] += std::pow(found[i].value - truth[i], 2) / kRuns;
      stated[i] += std::pow(found[i].standard_error, 2) / kRuns;
    }
  }
  // A second moment from 2000 runs is known to about 5 %; six of those.
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(squares_of[i] / stated[i], 1, 0.3) << i;
}

// All rows of a rounded grid keep the norm that the noise is made for: checked through the cube and
// the two inequalities of the body, at S + 1.
TEST(KNormTest, RoundedRowsStayWithinTheNormPaidFor) {
  const auto mechanism = KNorm::make(eps(1), {{{0, 1'000'003}, true}}).value();
  ASSERT_FALSE(mechanism.exact_grid());
  const Int128 k = Int128{mechanism.scale()} + 1;
  for (std::int64_t value = -5; value < 1'000'100; value += 37) {
    std::vector<Int128> row(3);
    mechanism.add_row({&value, 1}, row);
    const Int128 l = k + row[0], m = k - row[0], twice = 2 * (row[1] < 0 ? -row[1] : row[1]);
    const Int128 t = twice > l ? twice - l : 0, s = twice > m ? twice - m : 0;
    ASSERT_TRUE(t * t <= (k - row[2]) * m && s * s <= (k + row[2]) * l) << value;
  }
}

TEST(KNormTest, SmallGroupsAreAnsweredWithinTheRange) {
  const auto mechanism = KNorm::make(eps(0.1), {{{0, 100}, true}}).value();
  SeededRandom random(5);
  const auto sums = sums_of(mechanism, {50});
  for (int i = 0; i < 500; ++i) {
    const MomentEstimates estimates(mechanism, mechanism.release(sums, random));
    EXPECT_GE(estimates.mean(0).value, 0);
    EXPECT_LE(estimates.mean(0).value, 100);
    EXPECT_GE(estimates.variance(0, Divisor::Sample).value, 0);
    EXPECT_TRUE(std::isfinite(estimates.deviation(0, Divisor::Sample).standard_error));
  }
}

TEST(KNormTest, BadParametersAreRefused) {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(KNorm::make(eps(0), {{{0, 1}, false}}));
  EXPECT_FALSE(KNorm::make(eps(5e-324), {{{0, 1}, false}}));
  EXPECT_FALSE(KNorm::make(eps(1e300), {{{0, 1}, false}}));
  EXPECT_FALSE(KNorm::make(eps(1), {{{1, 1}, false}}));
  EXPECT_FALSE(KNorm::make(eps(1), {{{2, 1}, false}}));
  EXPECT_FALSE(KNorm::make(eps(1), {{{kMin, kMax}, false}}));
  EXPECT_FALSE(KNorm::make(eps(1), std::vector<MomentColumn>(17, {{0, 1}, false})));
  EXPECT_FALSE(Bivariate::make(eps(0), {0, 1}, {0, 1}, BivariateDegree::Covariance));
  EXPECT_FALSE(Bivariate::make(eps(1), {0, 0}, {0, 1}, BivariateDegree::Covariance));
  EXPECT_FALSE(Bivariate::make(eps(1), {0, 1}, {kMin, kMax}, BivariateDegree::Correlation));
}

TEST(BivariateTest, SharesOfARowSumToTheScale) {
  for (const std::int64_t top : {9, 98, 1'000'003}) {
    for (const auto degree : {BivariateDegree::Covariance, BivariateDegree::Correlation}) {
      const auto mechanism = Bivariate::make(eps(1), {0, top}, {-4, 70}, degree).value();
      for (std::int64_t i = -2; i < 200; ++i) {
        std::vector<std::int64_t> cells(mechanism.cells());
        mechanism.add_row(i * top / 190, i % 77 - 5, cells);
        std::int64_t sum = 0;
        for (const auto cell : cells) {
          EXPECT_GE(cell, 0);
          sum += cell;
        }
        EXPECT_EQ(sum, mechanism.scale());
      }
    }
  }
}

TEST(BivariateTest, ReadySumsGiveTheSameCells) {
  for (const auto degree : {BivariateDegree::Covariance, BivariateDegree::Correlation}) {
    const IntegerRange first{-3, 20}, second{5, 9};
    const auto mechanism = Bivariate::make(eps(1), first, second, degree).value();
    ASSERT_TRUE(mechanism.exact_grid());
    std::vector<std::int64_t> cells(mechanism.cells());
    BivariateSums sums;
    for (std::int64_t i = 0; i < 50; ++i) {
      const Int128 x = i % 24 - 3, y = 5 + i * i % 5;
      mechanism.add_row(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y), cells);
      sums.rows += 1;
      sums.first += x;
      sums.second += y;
      sums.product += x * y;
      sums.first2 += x * x;
      sums.second2 += y * y;
      sums.first2_second += x * x * y;
      sums.first_second2 += x * y * y;
      sums.first2_second2 += x * x * y * y;
    }
    EXPECT_EQ(bivariate_cells(first, second, degree, sums), cells);
  }
}

TEST(BivariateTest, EstimatesAreNearAndErrorsAsStated) {
  const auto corners =
      Bivariate::make(eps(1), {0, 98}, {0, 20}, BivariateDegree::Covariance).value();
  const auto nine = Bivariate::make(eps(1), {0, 98}, {0, 20}, BivariateDegree::Correlation).value();
  std::vector<std::int64_t> four_cells(4), nine_cells(9);
  double sx = 0, sy = 0, sxy = 0, sxx = 0, syy = 0;
  constexpr int kRows = 20'000;
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t x = 30 + i % 41, y = 5 + (i % 41) / 5 + i % 3;
    corners.add_row(x, y, four_cells);
    nine.add_row(x, y, nine_cells);
    const auto fx = static_cast<double>(x), fy = static_cast<double>(y);
    sx += fx, sy += fy, sxy += fx * fy, sxx += fx * fx, syy += fy * fy;
  }
  const double covariance = sxy / kRows - sx / kRows * sy / kRows;
  const double correlation = covariance / std::sqrt((sxx / kRows - sx / kRows * sx / kRows) *
                                                    (syy / kRows - sy / kRows * sy / kRows));
  SeededRandom random(6);
  double covariance2 = 0, correlation2 = 0;
  Estimate stated_covariance{}, stated_correlation{};
  constexpr int kRuns = 3000;
  for (int i = 0; i < kRuns; ++i) {
    stated_covariance = corners.release(four_cells, random).covariance(Divisor::Population);
    stated_correlation = nine.release(nine_cells, random).correlation();
    covariance2 += std::pow(stated_covariance.value - covariance, 2);
    correlation2 += std::pow(stated_correlation.value - correlation, 2);
  }
  std::cout << "covariance " << covariance << " RMSE " << std::sqrt(covariance2 / kRuns)
            << ", correlation " << correlation << " RMSE " << std::sqrt(correlation2 / kRuns)
            << "\n";
  EXPECT_NEAR(std::sqrt(covariance2 / kRuns) / stated_covariance.standard_error, 1, 0.15);
  EXPECT_NEAR(std::sqrt(correlation2 / kRuns) / stated_correlation.standard_error, 1, 0.15);
}

}  // namespace
}  // namespace discreet
