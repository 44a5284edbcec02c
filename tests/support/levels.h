// The level of every test on made-up rows: a grid of settings, and data sets of a true null.
#pragma once

#include <bit>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "inference/count_tests.h"
#include "inference/mean_tests.h"
#include "inference/regression.h"
#include "mechanisms/discrete_laplace.h"
#include "support/null_data.h"
#include "support/seeded_random.h"

namespace discreet::inference {

enum class LevelTest {
  OneSample,
  TwoSamples,
  Unequal,  // two samples, the second half as large and, if normal, a third as spread
  Anova,
  Proportion,
  TwoProportions,
  Fit,
  Independence,
  Correlation,
  Slope,
};

inline const char* name(LevelTest test) {
  static constexpr const char* kNames[] = {
      "one sample",      "two samples",    "welch unequal",    "anova of 4",  "proportion",
      "two proportions", "chi-square fit", "chi-square 2 x 3", "correlation", "null slope"};
  return kNames[static_cast<int>(test)];
}

struct LevelCell {
  LevelTest test;
  RowLaw law;    // of values; of counts the share below stands for it
  double share;  // of counts: chance of success
  double epsilon;
  int rows;  // in each sample

  bool counts() const { return test >= LevelTest::Proportion && test <= LevelTest::Independence; }
  std::string law_name() const {
    if (!counts()) return discreet::name(law);
    char text[32];
    std::snprintf(text, sizeof text, "share %g", share);
    return std::string("share ") + (text[6] == '0' ? text + 7 : text + 6);
  }
};

struct LevelCount {
  int given = 0, rejected = 0;
  void add(double p) {
    if (std::isnan(p)) return;
    ++given;
    rejected += p <= 0.05;
  }
};

inline std::vector<LevelCell> level_grid() {
  std::vector<LevelCell> grid;
  for (const auto test :
       {LevelTest::OneSample, LevelTest::TwoSamples, LevelTest::Unequal, LevelTest::Anova})
    for (const RowLaw law : {RowLaw::Normal, RowLaw::Skewed, RowLaw::TwoPoint}) {
      if (test == LevelTest::Unequal && law != RowLaw::Normal) continue;
      for (const double epsilon : {0.1, 0.3, 1.0, 5.0})
        for (const int rows : {30, 100, 500, 2000})
          if (test != LevelTest::Anova || rows <= 500)
            grid.push_back({test, law, 0, epsilon, rows});
    }
  for (const auto test :
       {LevelTest::Proportion, LevelTest::TwoProportions, LevelTest::Fit, LevelTest::Independence})
    for (const double share : {0.5, 0.2, 0.05})
      for (const double epsilon : {0.1, 0.3, 1.0, 5.0})
        for (const int rows : {50, 200, 1000, 5000})
          grid.push_back({test, RowLaw::Normal, share, epsilon, rows});
  for (const RowLaw law : {RowLaw::Normal, RowLaw::Skewed}) {
    for (const double epsilon : {0.3, 1.0, 5.0})
      for (const int rows : {100, 500, 2000})
        grid.push_back({LevelTest::Correlation, law, 0, epsilon, rows});
    for (const int rows : {2000, 5000}) grid.push_back({LevelTest::Slope, law, 0, 5, rows});
  }
  return grid;
}

class LevelSimulation {
 public:
  LevelSimulation(const LevelCell& cell, std::uint64_t seed)
      : cell_(cell), random_(seed), data_(seed), epsilon_(Epsilon::make(cell.epsilon).value()) {
    options_.draws = 199;  // of any number the level is the same; fewer only cost power
    options_.intervals = false;
    options_.p_max = 0.05;
  }

  LevelCount run(int trials) {
    LevelCount count;
    for (int i = 0; i < trials; ++i) count.add(cell_.counts() ? of_counts() : of_values());
    return count;
  }

 private:
  static constexpr IntegerRange kRange{0, 1000};

  std::int64_t value(double spread = 1) {
    double x = 0;
    if (cell_.law == RowLaw::Normal)
      x = 500 + spread * 120 * normal_(data_);
    else if (cell_.law == RowLaw::Skewed)
      x = exponential_(data_);
    else if (cell_.law == RowLaw::TwoPoint)
      x = data_() % 10 < 3 ? 1000 : 0;
    else if (cell_.law == RowLaw::Lognormal)
      x = 150 * std::exp(0.6 * normal_(data_));
    else if (cell_.law == RowLaw::Uniform)
      x = static_cast<double>(data_() % 1001);
    else
      x = (data_() % 2 == 0 ? 250 : 750) + 60 * normal_(data_);
    return std::lround(std::fmin(1000, std::fmax(0, x)));
  }
  NoisyMoments moments(const MomentsMechanism& mechanism, int rows, double spread = 1) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(rows));
    for (auto& one : values) one = value(spread);
    return mechanism.release(values, random_);
  }
  double of_values() {
    const int n = cell_.rows;
    if (cell_.test >= LevelTest::Correlation) return of_lines();
    if (!moments_) moments_ = MomentsMechanism::make(epsilon_, kRange).value();
    const MomentsMechanism& mechanism = *moments_;
    const NoisyMoments first = moments(mechanism, n);
    if (cell_.test == LevelTest::OneSample)
      return t_test(first, mean_of(cell_.law), options_).p_value;
    if (cell_.test == LevelTest::TwoSamples)
      return t_test(first, moments(mechanism, n), options_).p_value;
    if (cell_.test == LevelTest::Unequal)
      return t_test(first, moments(mechanism, n / 2, 1.0 / 3), options_).p_value;
    std::vector<NoisyMoments> groups{first};
    for (int g = 1; g < 4; ++g) groups.push_back(moments(mechanism, n));
    return anova(groups, options_).test.p_value;
  }
  double of_lines() {
    const bool slope = cell_.test == LevelTest::Slope;
    if (!joint_)
      joint_ = JointSumsMechanism::make(epsilon_,
                                        std::vector<RegressionColumn>(slope ? 3 : 2, {kRange, 1}))
                   .value();
    std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(cell_.rows));
    for (auto& row : rows) {
      const std::int64_t x = value(), y = value();
      if (slope) {  // y on x and w, and w says nothing that x does not
        const std::int64_t w = value();
        row = {x, (x + w) / 2, (x + y) / 2};
      } else {
        row = {x, y};
      }
    }
    const auto sums = joint_->release(rows, random_);
    if (!slope) return correlation_test(sums, options_).p_value;
    const auto fit = linear_regression(sums, options_);
    return fit.identified ? fit.coefficients[2].p_value : NAN;
  }

  std::vector<double> noisy(const std::vector<double>& chances) {
    const auto laplace = DiscreteLaplace::make(epsilon_, L1Sensitivity{1}).value();
    std::vector<double> cells;
    int left = cell_.rows;
    double mass = 1;
    for (const double chance : chances) {
      const bool last = cells.size() + 1 == chances.size();
      const int hits =
          last ? left : std::binomial_distribution<int>(left, std::fmin(1, chance / mass))(data_);
      left -= hits;
      mass -= chance;
      cells.push_back(static_cast<double>(laplace.release(hits, random_)));
    }
    return cells;
  }
  double tie() { return std::uniform_real_distribution<double>()(data_); }
  double of_counts() {
    const double p = cell_.share;
    const double epsilon = cell_.epsilon;
    if (cell_.test == LevelTest::Proportion)
      return proportion_test({noisy({p, 1 - p}), epsilon, tie()}, p, options_).p_value;
    if (cell_.test == LevelTest::TwoProportions) {
      auto both = noisy({p, 1 - p});
      const auto second = noisy({p, 1 - p});
      both.insert(both.end(), second.begin(), second.end());
      return two_proportion_test({both, epsilon, tie()}, options_).p_value;
    }
    if (cell_.test == LevelTest::Fit) {
      const std::vector<double> chances{p, 0.6 * (1 - p), 0.3 * (1 - p), 0.1 * (1 - p)};
      return goodness_of_fit({noisy(chances), epsilon, tie()}, chances, options_).p_value;
    }
    std::vector<double> table;
    for (const double row : {p, 1 - p})
      for (const double column : {0.5, 0.3, 0.2}) table.push_back(row * column);
    return independence_test({noisy(table), epsilon, tie()}, 3, options_).p_value;
  }

  LevelCell cell_;
  SeededRandom random_;
  std::mt19937_64 data_;
  std::normal_distribution<double> normal_;
  std::exponential_distribution<double> exponential_{0.01};
  Epsilon epsilon_;
  Options options_;
  std::optional<MomentsMechanism> moments_;
  std::optional<JointSumsMechanism> joint_;
};

inline LevelCount simulate_level(const LevelCell& cell, int trials, std::uint64_t seed) {
  // Cells have seeds of their own: with one for all, cells of the same law and number of rows would
  // be simulated with the same rows, and be lucky or unlucky together.
  const double parts[] = {static_cast<double>(cell.test), static_cast<double>(cell.law), cell.share,
                          cell.epsilon, static_cast<double>(cell.rows)};
  for (const double part : parts)
    seed = (seed ^ std::bit_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ull + (seed >> 29);
  return LevelSimulation(cell, seed).run(trials);
}

}  // namespace discreet::inference
