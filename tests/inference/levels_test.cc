// The sharp figures, slow: rejections of true nulls at 5 % over thousands of data sets. Where rows
// are enough for the noise the level is 5 % +- 0.5 %; elsewhere it may be lower, never higher.
// Limits carry 4.9 standard errors more, so that a false alarm is rarer than 1e-6.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "inference/count_tests.h"
#include "inference/mean_tests.h"
#include "inference/regression.h"
#include "mechanisms/discrete_laplace.h"
#include "support/null_data.h"
#include "support/seeded_random.h"

namespace discreet::inference {
namespace {

Options options() {
  Options made;
  made.draws = 199;  // of any number the level is exact; fewer only cost power
  return made;
}
Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

void expect_level(const std::string& what, int rejected, int trials, bool both_sides) {
  const double rate = 1.0 * rejected / trials, slack = 4.9 * std::sqrt(0.0475 / trials);
  std::cout << what << ": " << 100 * rate << " %\n";
  EXPECT_LE(rate, 0.055 + slack) << what;
  if (both_sides) {
    EXPECT_GE(rate, 0.045 - slack) << what;
  }
}

struct Setting {
  RowLaw law;
  double epsilon;
  std::size_t rows;
  bool sharp;  // enough rows for the noise: not only at most, but about 5 %
};

TEST(LevelsTest, Means) {
  constexpr int kTrials = 4000;
  for (const Setting& s :
       {Setting{RowLaw::Normal, 1, 500, true}, Setting{RowLaw::Normal, 0.1, 2000, true},
        Setting{RowLaw::Normal, 0.1, 30, false}, Setting{RowLaw::Skewed, 1, 2000, true},
        Setting{RowLaw::Skewed, 0.1, 100, false}, Setting{RowLaw::TwoPoint, 0.3, 300, true},
        Setting{RowLaw::Skewed, 5, 30, false}, Setting{RowLaw::Normal, 5, 30, false}}) {
    SeededRandom random(201);
    DataBits bits(random);
    const auto mechanism = MomentsMechanism::make(eps(s.epsilon), {0, 1000}).value();
    int one = 0, missed = 0, two = 0;
    for (int i = 0; i < kTrials; ++i) {
      const auto a = mechanism.release(draw_values(s.law, s.rows, bits), random);
      const auto b = mechanism.release(draw_values(s.law, s.rows, bits), random);
      const auto t = t_test(a, mean_of(s.law), options());
      one += t.p_value <= 0.05;
      missed += mean_of(s.law) < t.interval.low || mean_of(s.law) > t.interval.high;
      two += t_test(a, b, options()).p_value <= 0.05;
    }
    const auto what = std::string(name(s.law)) + ", epsilon " + std::to_string(s.epsilon) + ", " +
                      std::to_string(s.rows) + " rows, ";
    expect_level(what + "one sample", one, kTrials, s.sharp);
    expect_level(what + "interval misses", missed, kTrials, false);
    expect_level(what + "two samples", two, kTrials, s.sharp);
  }
}

TEST(LevelsTest, Counts) {
  constexpr int kTrials = 4000;
  for (const auto& [epsilon, rows, sharp] :
       {std::tuple{1.0, 1000, true}, std::tuple{0.1, 1000, false}, std::tuple{0.1, 50, false}}) {
    SeededRandom random(202);
    DataBits bits(random);
    const auto laplace = DiscreteLaplace::make(eps(epsilon), L1Sensitivity{1}).value();
    const auto noisy = [&](int count) {
      return static_cast<double>(laplace.release(count, random));
    };
    int two = 0, independent = 0;
    for (int i = 0; i < kTrials; ++i) {
      std::binomial_distribution<int> hits(rows, 0.2);
      const int a = hits(bits), b = hits(bits);
      two += two_proportion_test({{noisy(a), noisy(rows - a), noisy(b), noisy(rows - b)}, epsilon},
                                 options())
                 .p_value <= 0.05;
      std::vector<int> table(6);
      for (int r = 0; r < rows; ++r)
        ++table[static_cast<std::size_t>(3 * (bits() % 4 == 0) + bits() % 3)];
      NoisyCounts released{{}, epsilon};
      for (const int cell : table) released.cells.push_back(noisy(cell));
      independent += independence_test(released, 3, options()).p_value <= 0.05;
    }
    const auto what =
        "epsilon " + std::to_string(epsilon) + ", " + std::to_string(rows) + " rows, ";
    expect_level(what + "two proportions", two, kTrials, sharp);
    expect_level(what + "independence", independent, kTrials, sharp);
  }
}

TEST(LevelsTest, CorrelationAndSlopes) {
  constexpr int kTrials = 2000;
  SeededRandom random(203);
  DataBits bits(random);
  std::normal_distribution<double> normal;
  const auto value = [](double x) {
    return std::lround(std::fmin(1000, std::fmax(0, 500 + 150 * x)));
  };
  const RegressionColumn column{{0, 1000}};
  const auto two = JointSumsMechanism::make(eps(1), {column, column}).value();
  const auto three = JointSumsMechanism::make(eps(2), {column, column, column}).value();
  int correlated = 0, slope = 0, missed = 0;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<std::vector<std::int64_t>> pairs, triples;
    for (int r = 0; r < 1000; ++r) {
      const double x = normal(bits), y = normal(bits), w = normal(bits);
      pairs.push_back({value(x), value(y)});
      triples.push_back({value(x), value(0.5 * x + 0.8 * w), value(0.5 * x + 0.7 * y)});
    }
    correlated += correlation_test(two.release(pairs, random), options()).p_value <= 0.05;
    const auto fit = linear_regression(three.release(triples, random), options());
    slope += fit.coefficients[2].p_value <= 0.05;
    missed += fit.coefficients[1].interval.low > 0.5 || fit.coefficients[1].interval.high < 0.5;
  }
  expect_level("correlation", correlated, kTrials, false);
  expect_level("null slope", slope, kTrials, false);
  expect_level("slope interval misses", missed, kTrials, false);
}

}  // namespace
}  // namespace discreet::inference
