// Sensitivities of the functions that lectures start with: average, deviation, largest, median,
// product, and a polynomial, of n numbers in [0, 1], one of which is replaced. Each bound is
// attained by the pair given here, and no pair on a grid exceeds it. docs/inference.md has the
// arguments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace discreet {
namespace {

using Data = std::vector<double>;
using Statistic = std::function<double(const Data&)>;

double mean(const Data& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
double deviation(const Data& x) {  // over n
  double sum = 0;
  for (const double one : x) sum += (one - mean(x)) * (one - mean(x));
  return std::sqrt(sum / static_cast<double>(x.size()));
}
double largest(const Data& x) {
  return *std::max_element(x.begin(), x.end());
}
double median(Data x) {
  std::sort(x.begin(), x.end());
  const std::size_t n = x.size();
  return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}
double product(const Data& x) {
  return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>());
}
double polynomial(const Data& x) {
  return x[0] * x[1] * x[1] + 10 * x[2] * x[2] * x[2];
}

// Over all data sets on the grid 0, 1/4, ..., 1 and all replacements of one number.
double largest_change(std::size_t n, const Statistic& f) {
  constexpr int kSteps = 5;
  std::size_t sets = 1;
  for (std::size_t i = 0; i < n; ++i) sets *= kSteps;
  double worst = 0;
  for (std::size_t code = 0; code < sets; ++code) {
    Data x(n);
    std::size_t rest = code;
    for (double& one : x) {
      one = static_cast<double>(rest % kSteps) / (kSteps - 1);
      rest /= kSteps;
    }
    const double before = f(x);
    for (std::size_t i = 0; i < n; ++i) {
      const double kept = x[i];
      for (int step = 0; step < kSteps; ++step) {
        x[i] = static_cast<double>(step) / (kSteps - 1);
        worst = std::max(worst, std::fabs(f(x) - before));
      }
      x[i] = kept;
    }
  }
  return worst;
}

struct Example {
  const char* name;
  Statistic f;
  std::function<double(std::size_t)> sensitivity;
  std::function<std::pair<Data, Data>(std::size_t)> witness;
};

std::pair<Data, Data> zeros_and_a_one(std::size_t n) {
  Data with(n);
  with[0] = 1;
  return {Data(n), with};
}

const std::vector<Example>& examples() {
  static const std::vector<Example> all = {
      {"mean", mean, [](std::size_t n) { return 1.0 / static_cast<double>(n); }, zeros_and_a_one},
      {"deviation", deviation,
       [](std::size_t n) { return std::sqrt(static_cast<double>(n - 1)) / static_cast<double>(n); },
       zeros_and_a_one},
      {"max", largest, [](std::size_t) { return 1.0; }, zeros_and_a_one},
      {"median", median, [](std::size_t n) { return n % 2 == 1 ? 1.0 : 0.5; },
       [](std::size_t n) {  // as many ones as let one more decide
         Data x(n);
         std::fill(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n / 2), 1.0);
         Data with = x;
         with[n / 2] = 1;
         return std::pair(x, with);
       }},
      {"product", product, [](std::size_t) { return 1.0; },
       [](std::size_t n) {
         Data with(n, 1.0);
         with[0] = 0;
         return std::pair(Data(n, 1.0), with);
       }},
      {"polynomial", polynomial, [](std::size_t) { return 10.0; },
       [](std::size_t n) {
         Data with(n);
         with[2] = 1;
         return std::pair(Data(n), with);
       }}};
  return all;
}

TEST(LectureSensitivityTest, WitnessesAttainTheSensitivity) {
  for (const Example& one : examples())
    for (const std::size_t n : {3u, 4u, 7u, 100u, 101u}) {
      const auto [x, y] = one.witness(n);
      EXPECT_EQ(std::inner_product(x.begin(), x.end(), y.begin(), 0, std::plus<>(),
                                   [](double a, double b) { return a != b; }),
                1)
          << one.name;
      EXPECT_NEAR(std::fabs(one.f(x) - one.f(y)), one.sensitivity(n), 1e-12) << one.name << n;
    }
}

TEST(LectureSensitivityTest, NoReplacementOnAGridExceedsTheSensitivity) {
  for (const Example& one : examples())
    for (const std::size_t n : {3u, 4u, 5u})
      EXPECT_NEAR(largest_change(n, one.f), one.sensitivity(n), 1e-12) << one.name << n;
}

TEST(LectureSensitivityTest, ATStatisticHasNoSensitivityToSpeakOf) {
  // Two samples of equal numbers: the spread is zero but for one person, who decides everything.
  const auto t = [](const Data& a, const Data& b) {
    const double va = deviation(a) * deviation(a), vb = deviation(b) * deviation(b);
    return (mean(a) - mean(b)) /
           std::sqrt(va / static_cast<double>(a.size()) + vb / static_cast<double>(b.size()));
  };
  Data a(1000, 1.0), b(1000, 0.0);
  a[0] = 0.5;
  const double before = t(a, b);
  a[0] = 1 - 1e-9;
  EXPECT_GT(t(a, b) / before, 1e6);  // the primer claims that it moves by 2 / 2000
}

}  // namespace
}  // namespace discreet
