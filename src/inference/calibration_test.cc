// Quick looks at the level of every test: no more rejections of true nulls, and no fewer intervals
// that hold the truth, than chance explains (false alarms below 1e-6 each). The slow suite
// tests/inference has the sharp figures. The naive twin, which forgets the noise, is caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "inference/count_tests.h"
#include "inference/mean_tests.h"
#include "inference/quantile_interval.h"
#include "inference/regression.h"
#include "mechanisms/discrete_laplace.h"
#include "support/null_data.h"
#include "support/seeded_random.h"

namespace discreet::inference {
namespace {

constexpr int kTrials = 300;
constexpr double kLevel = 0.05;

Options quick() {
  Options options;
  options.draws = 199;
  return options;
}
Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

void expect_level(const char* what, int rejected, int trials = kTrials) {
  std::cout << what << ": " << rejected << " of " << trials << ", at most "
            << rejections_max(trials, kLevel) << '\n';
  EXPECT_LE(rejected, rejections_max(trials, kLevel)) << what;
}

TEST(CalibrationTest, TestsOfMeansKeepTheirLevelAndTheirIntervalsHold) {
  SeededRandom random(101);
  DataBits bits(random);
  for (const auto& [law, epsilon, rows] :
       {std::tuple{RowLaw::Normal, 1.0, 100u}, std::tuple{RowLaw::Skewed, 0.1, 300u},
        std::tuple{RowLaw::TwoPoint, 0.3, 30u}}) {
    const auto mechanism = MomentsMechanism::make(eps(epsilon), {0, 1000}).value();
    int one = 0, missed = 0, two = 0, several = 0, joint = 0;
    for (int i = 0; i < kTrials; ++i) {
      std::vector<NoisyMoments> groups;
      for (int g = 0; g < 3; ++g)
        groups.push_back(mechanism.release(draw_values(law, rows, bits), random));
      const double mean = mean_of(law);
      const auto t = t_test(groups[0], mean, quick());
      one += t.p_value <= kLevel;
      missed += mean < t.interval.low || mean > t.interval.high;
      two += t_test(groups[0], groups[1], quick()).p_value <= kLevel;
      if (i >= kTrials / 2) continue;
      const auto all = anova(groups, quick());
      several += all.test.p_value <= kLevel;
      bool held = true;
      for (const auto& m : all.means)
        held &= m.simultaneous.low <= mean && mean <= m.simultaneous.high;
      joint += !held;
    }
    std::cout << name(law) << ", epsilon " << epsilon << ", " << rows << " rows\n";
    expect_level("one sample", one);
    expect_level("interval misses", missed);
    expect_level("two samples", two);
    expect_level("anova", several, kTrials / 2);
    expect_level("simultaneous intervals miss", joint, kTrials / 2);
  }
}

TEST(CalibrationTest, ForgettingTheNoiseIsCaught) {
  SeededRandom random(102);
  DataBits bits(random);
  const auto mechanism = MomentsMechanism::make(eps(0.1), {0, 1000}).value();
  int naive = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto m = mechanism.release(draw_values(RowLaw::Normal, 300, bits), random);
    const double mean = m.linear / m.rows, second = (m.square / m.rows + 1) / 2;
    const double spread2 = std::fmax(1e-9, second - mean * mean);
    naive += std::fabs(mean) / std::sqrt(spread2 / m.rows) > 1.96;
  }
  std::cout << "naive t: " << naive << " of " << kTrials << '\n';
  EXPECT_GT(naive, rejections_max(kTrials, kLevel));
}

TEST(CalibrationTest, TestsOfCountsKeepTheirLevel) {
  constexpr int kCounts = 120;  // each makes an interval by many tests
  SeededRandom random(103);
  DataBits bits(random);
  for (const auto& [epsilon, rows] : {std::pair{0.1, 200}, std::pair{1.0, 50}}) {
    const auto laplace = DiscreteLaplace::make(eps(epsilon), L1Sensitivity{1}).value();
    const auto noisy = [&](int count) {
      return static_cast<double>(laplace.release(count, random));
    };
    int one = 0, missed = 0, two = 0, independent = 0, fit = 0;
    const double chances[] = {0.5, 0.3, 0.15, 0.05};
    for (int i = 0; i < kCounts; ++i) {
      std::binomial_distribution<int> hits(rows, 0.2);
      const int a = hits(bits), b = hits(bits);
      const NoisyCounts both{{noisy(a), noisy(rows - a), noisy(b), noisy(rows - b)}, epsilon};
      const auto first = proportion_test({{both.cells[0], both.cells[1]}, epsilon}, 0.2, quick());
      one += first.p_value <= kLevel;
      missed += first.interval.low > 0.2 || first.interval.high < 0.2;
      two += two_proportion_test(both, quick()).p_value <= kLevel;
      std::vector<int> table(8), cells(4);
      std::discrete_distribution<int> column(chances, chances + 4);
      for (int r = 0; r < rows; ++r) {
        const int c = column(bits);
        ++table[static_cast<std::size_t>(4 * (std::bernoulli_distribution(0.3)(bits) ? 1 : 0) + c)];
        ++cells[static_cast<std::size_t>(c)];
      }
      NoisyCounts released{{}, epsilon}, margin{{}, epsilon};
      for (const int cell : table) released.cells.push_back(noisy(cell));
      for (const int cell : cells) margin.cells.push_back(noisy(cell));
      independent += independence_test(released, 4, quick()).p_value <= kLevel;
      fit += goodness_of_fit(margin, chances, quick()).p_value <= kLevel;
    }
    std::cout << "epsilon " << epsilon << ", " << rows << " rows\n";
    expect_level("one proportion", one, kCounts);
    expect_level("interval misses", missed, kCounts);
    expect_level("two proportions", two, kCounts);
    expect_level("independence", independent, kCounts);
    expect_level("goodness of fit", fit, kCounts);
  }
}

TEST(CalibrationTest, CorrelationAndRegressionKeepTheirLevel) {
  SeededRandom random(104);
  DataBits bits(random);
  std::normal_distribution<double> normal;
  const auto value = [](double x) {
    return std::lround(std::fmin(1000, std::fmax(0, 500 + 150 * x)));
  };
  const RegressionColumn column{{0, 1000}};
  const auto two = JointSumsMechanism::make(eps(1), {column, column}).value();
  const auto three = JointSumsMechanism::make(eps(2), {column, column, column}).value();
  int correlated = 0, missed = 0, slope = 0, slope_missed = 0;
  constexpr int kRuns = 150;
  for (int i = 0; i < kRuns; ++i) {
    std::vector<std::vector<std::int64_t>> pairs, triples;
    for (int r = 0; r < 1000; ++r) {
      const double x = normal(bits), y = normal(bits), w = normal(bits);
      pairs.push_back({value(x), value(y)});
      triples.push_back({value(x), value(0.5 * x + 0.8 * w), value(0.5 * x + 0.7 * y)});
    }
    const auto c = correlation_test(two.release(pairs, random), quick());
    correlated += c.p_value <= kLevel;
    missed += c.interval.low > 0 || c.interval.high < 0;
    const auto fit = linear_regression(three.release(triples, random), quick());
    ASSERT_TRUE(fit.identified);
    slope += fit.coefficients[2].p_value <= kLevel;
    slope_missed +=
        fit.coefficients[1].interval.low > 0.5 || fit.coefficients[1].interval.high < 0.5;
  }
  expect_level("correlation", correlated, kRuns);
  expect_level("correlation interval misses", missed, kRuns);
  expect_level("null slope", slope, kRuns);
  expect_level("slope interval misses", slope_missed, kRuns);
}

TEST(CalibrationTest, QuantileIntervalsHoldTheQuantile) {
  SeededRandom random(105);
  DataBits bits(random);
  for (const double q : {0.5, 0.9}) {
    const auto mechanism = QuantileInterval::make(eps(0.5), q, {0, 1000}).value();
    const double truth = -100 * std::log(1 - q);  // of the exponential law of mean 100
    int missed = 0;
    for (int i = 0; i < kTrials; ++i) {
      const auto found = mechanism.release(draw_values(RowLaw::Skewed, 500, bits), random);
      EXPECT_LE(found.interval.low, found.estimate);
      EXPECT_GE(found.interval.high, found.estimate);
      missed += found.interval.low > std::ceil(truth) || found.interval.high < std::floor(truth);
    }
    expect_level("quantile interval misses", missed);
  }
}

// As the error columns of median() and percentile_cont() have it: about the rows at hand, skewed
// and with ties, also where bins are wider than a value.
TEST(CalibrationTest, QuantileIntervalsOfTheRowsThemselvesHoldTheirQuantile) {
  SeededRandom random(106);
  DataBits bits(random);
  for (const auto& [q, upper, rows] :
       {std::tuple{0.5, 1000, 300u}, std::tuple{0.9, 1000, 60u}, std::tuple{0.5, 100000, 300u}}) {
    const auto mechanism =
        QuantileInterval::make(eps(0.5), q, {0, upper}, 0.95, QuantileOf::Rows).value();
    int missed = 0;
    double width = 0;
    for (int i = 0; i < kTrials; ++i) {
      auto values = draw_values(RowLaw::Skewed, rows, bits);
      for (auto& value : values) value = value / 10 * 10 * (upper / 1000);
      const auto found = mechanism.release(values, random);
      std::sort(values.begin(), values.end());
      const auto truth = static_cast<double>(
          values[static_cast<std::size_t>(std::ceil(q * static_cast<double>(rows))) - 1]);
      missed += found.interval.low > truth || found.interval.high < truth;
      width += (found.interval.high - found.interval.low) / kTrials;
    }
    std::cout << "fraction " << q << ", 0 .. " << upper << ", " << rows << " rows, mean width "
              << width << '\n';
    expect_level("interval of the rows' quantile misses", missed);
    EXPECT_LT(width, upper);
  }
}

}  // namespace
}  // namespace discreet::inference
