// How often do tests reject true nulls, do intervals hold, and are false nulls found?
//
// Usage: inference [data sets a cell, 300] [FILE.svg for the power curves] [power: only that]. Rows
// are made up, values within 0 .. 1000. Three tables: levels and coverage; the power of two-sample
// tests beside other ways (some of them not valid, some with help that we do not take); the naive
// way's level.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "inference/count_tests.h"
#include "inference/mean_tests.h"
#include "inference/quantile_interval.h"
#include "inference/regression.h"
#include "inference/resample.h"
#include "mechanisms/discrete_laplace.h"
#include "support/null_data.h"
#include "support/seeded_random.h"

namespace discreet::inference {
namespace {

constexpr double kLevel = 0.05;

Options options() {
  Options made;
  made.draws = 399;
  return made;
}
Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

struct Welch {
  double t, degrees;
};

Welch welch(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const auto moments = [](const std::vector<std::int64_t>& x) {
    const auto n = static_cast<double>(x.size());
    double mean = 0, squares = 0;
    for (const auto one : x) mean += static_cast<double>(one) / n;
    for (const auto one : x)
      squares += (static_cast<double>(one) - mean) * (static_cast<double>(one) - mean);
    return std::pair(mean, squares / (n - 1) / n);
  };
  const auto [ma, va] = moments(a);
  const auto [mb, vb] = moments(b);
  const double degrees = (va + vb) * (va + vb) /
                         (va * va / (static_cast<double>(a.size()) - 1) +
                          vb * vb / (static_cast<double>(b.size()) - 1));
  return {(ma - mb) / std::sqrt(va + vb), degrees};
}

// Two-sided 5 % point of Student's law, to three digits (Hill 1970's first terms).
double student975(double degrees) {
  const double z = 1.959964, g1 = (z * z * z + z) / 4,
               g2 = (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / 96;
  return z + g1 / degrees + g2 / (degrees * degrees);
}

bool rejects_without_noise(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const Welch found = welch(a, b);
  return std::fabs(found.t) > student975(found.degrees);
}

bool rejects_mean_without_noise(const std::vector<std::int64_t>& x, double mean) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, squares = 0;
  for (const auto one : x) sum += static_cast<double>(one);
  for (const auto one : x)
    squares += (static_cast<double>(one) - sum / n) * (static_cast<double>(one) - sum / n);
  return std::fabs(sum / n - mean) / std::sqrt(squares / (n - 1) / n) > student975(n - 1);
}

// A noisy t as if there were no noise: not valid.
bool rejects_naively(const NoisyMoments& a, const NoisyMoments& b) {
  const auto read = [](const NoisyMoments& m) {
    const double n = std::fmax(2, m.rows), mean = m.linear / n, second = (m.square / n + 1) / 2;
    return std::pair(mean, std::fmax(1e-9, second - mean * mean) / n);
  };
  const auto [ma, va] = read(a);
  const auto [mb, vb] = read(b);
  return std::fabs(ma - mb) / std::sqrt(va + vb) > 1.96;
}

// Subsample and aggregate for tests (after Kazan, Shi, Groce and Bray 2023): the test of each of m
// parts at level a0, and a noisy count of rejections against its exact null law.
class TestOfTests {
 public:
  TestOfTests(double epsilon, int parts, double level)
      : parts_(parts), noise_(DiscreteLaplace::make(eps(epsilon), L1Sensitivity{1}).value()) {
    // The least c with P[Binomial(m, a0) + noise >= c] <= 5 %.
    const double r = std::exp(-epsilon);
    const auto tail = [&](int c) {  // P[Z >= c]
      return c >= 1 ? std::pow(r, c) / (1 + r) : 1 - std::pow(r, 1 - c) / (1 + r);
    };
    for (critical_ = -50;; ++critical_) {
      double chance = 0, weight = std::pow(1 - level, parts);
      for (int k = 0; k <= parts; ++k) {
        chance += weight * tail(critical_ - k);
        weight *= (parts - k) / (k + 1.0) * level / (1 - level);
      }
      if (chance <= kLevel) break;
    }
  }
  bool rejects(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
               RandomSource& random) const {
    const auto piece = [&](const std::vector<std::int64_t>& x, int i) {
      const std::size_t from = x.size() * static_cast<std::size_t>(i) /
                               static_cast<std::size_t>(parts_),
                        to = x.size() * static_cast<std::size_t>(i + 1) /
                             static_cast<std::size_t>(parts_);
      return std::vector<std::int64_t>(x.begin() + static_cast<std::ptrdiff_t>(from),
                                       x.begin() + static_cast<std::ptrdiff_t>(to));
    };
    std::int64_t hits = 0;
    for (int i = 0; i < parts_; ++i) {
      const auto x = piece(a, i), y = piece(b, i);
      if (x.size() < 2 || y.size() < 2) continue;
      const Welch found = welch(x, y);
      // one-sided part tests at a0 = 1/4: |t| beyond the quartiles
      hits += std::fabs(found.t) > 1.15 + 0.33 * 1.15 / found.degrees;
    }
    return noise_.release(hits, random) >= critical_;
  }

 private:
  int parts_;
  DiscreteLaplace noise_;
  int critical_ = 0;
};

// Mann and Whitney's U with Laplace noise for sensitivity max(n1, n2), after Couch, Kazan, Shi,
// Bray and Groce 2019; here with the group sizes given away for free, which helps it.
bool rejects_mann_whitney(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                          double epsilon, RandomSource& random, Resample& draws) {
  std::vector<std::int64_t> sorted = b;
  std::sort(sorted.begin(), sorted.end());
  double u = 0;
  for (const auto x : a)
    u += static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin()) +
         static_cast<double>(std::upper_bound(sorted.begin(), sorted.end(), x) -
                             std::lower_bound(sorted.begin(), sorted.end(), x)) /
             2;
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double sensitivity = std::max(n, m), sd = std::sqrt(n * m * (n + m + 1) / 12);
  const auto noise = DiscreteLaplace::make(eps(epsilon), L1Sensitivity{1}).value();
  const double found =
      std::fabs(u - n * m / 2 + sensitivity * static_cast<double>(noise.release(0, random)));
  int beyond = 0;
  for (int i = 0; i < 399; ++i)
    beyond +=
        std::fabs(sd * draws.normal() + sensitivity * draws.discrete_laplace(epsilon)) >= found;
  return (1 + beyond) / 400.0 <= kLevel;
}

void levels(int trials) {
  std::printf(
      "level of 5 %% tests and coverage of 95 %% intervals, %% (%d data sets; standard error "
      "%.1f)\n",
      trials, 100 * std::sqrt(0.0475 / trials));
  std::printf("%-12s %7s %6s | %8s %8s %8s %8s %8s | %8s %8s\n", "rows' law", "epsilon", "rows",
              "one", "two", "anova 4", "exact 1", "exact 2", "cover 1", "joint 4");
  for (const RowLaw law : {RowLaw::Normal, RowLaw::Skewed, RowLaw::TwoPoint})
    for (const double epsilon : {0.1, 1.0})
      for (const std::size_t rows : {20u, 100u, 1000u}) {
        SeededRandom random(31);
        DataBits bits(random);
        const auto mechanism = MomentsMechanism::make(eps(epsilon), {0, 1000}).value();
        int one = 0, two = 0, several = 0, exact = 0, exact_one = 0, held = 0, joint = 0;
        for (int i = 0; i < trials; ++i) {
          std::vector<std::vector<std::int64_t>> data;
          std::vector<NoisyMoments> noisy;
          for (int g = 0; g < 4; ++g) {
            data.push_back(draw_values(law, rows, bits));
            noisy.push_back(mechanism.release(data.back(), random));
          }
          const double mean = mean_of(law);
          const auto t = t_test(noisy[0], mean, options());
          one += t.p_value <= kLevel;
          held += t.interval.low <= mean && mean <= t.interval.high;
          two += t_test(noisy[0], noisy[1], options()).p_value <= kLevel;
          exact += rejects_without_noise(data[0], data[1]);
          exact_one += rejects_mean_without_noise(data[0], mean);
          if (i % 2 != 0) continue;
          const auto all = anova(noisy, options());
          several += 2 * (all.test.p_value <= kLevel);
          bool inside = true;
          for (const auto& m : all.means)
            inside &= m.simultaneous.low <= mean && mean <= m.simultaneous.high;
          joint += 2 * inside;
        }
        const auto percent = [&](int hits) { return 100.0 * hits / trials; };
        std::printf("%-12s %7.1f %6zu | %8.1f %8.1f %8.1f %8.1f %8.1f | %8.1f %8.1f\n", name(law),
                    epsilon, rows, percent(one), percent(two), percent(several), percent(exact_one),
                    percent(exact), percent(held), percent(joint));
        std::fflush(stdout);
      }
}

void other_levels(int trials) {
  std::printf("\n%7s %6s | %8s %8s %8s %8s | %8s %8s %8s | %8s %8s\n", "epsilon", "rows", "prop 1",
              "prop 2", "chi2 2x3", "fit 3", "corr", "slope", "cover b", "median", "p90");
  for (const double epsilon : {0.1, 1.0})
    for (const int rows : {100, 1000}) {
      SeededRandom random(32);
      DataBits bits(random);
      std::normal_distribution<double> normal;
      const auto laplace = DiscreteLaplace::make(eps(epsilon), L1Sensitivity{1}).value();
      const auto noisy = [&](int count) {
        return static_cast<double>(laplace.release(count, random));
      };
      const RegressionColumn column{{0, 1000}};
      const auto pairs = JointSumsMechanism::make(eps(epsilon), {column, column}).value();
      const auto triples = JointSumsMechanism::make(eps(epsilon), {column, column, column}).value();
      const auto median = QuantileInterval::make(eps(epsilon), 0.5, {0, 1000}).value();
      const auto high = QuantileInterval::make(eps(epsilon), 0.9, {0, 1000}).value();
      int hits[9] = {};
      const double even[] = {0.25, 0.25, 0.5};
      for (int i = 0; i < trials; ++i) {
        std::binomial_distribution<int> share(rows, 0.2);
        const int a = share(bits), b = share(bits);
        hits[0] +=
            proportion_test({{noisy(a), noisy(rows - a)}, epsilon}, 0.2, options()).p_value <=
            kLevel;
        hits[1] += two_proportion_test(
                       {{noisy(a), noisy(rows - a), noisy(b), noisy(rows - b)}, epsilon}, options())
                       .p_value <= kLevel;
        std::vector<int> table(6), cells(3);
        std::vector<std::vector<std::int64_t>> two, three;
        const auto value = [](double x) {
          return std::lround(std::fmin(1000, std::fmax(0, 500 + 150 * x)));
        };
        for (int r = 0; r < rows; ++r) {
          const std::uint64_t u = bits();
          const std::size_t c = u % 4 < 2 ? u % 4 : 2;
          ++table[3 * ((u >> 8) % 4 == 0) + c];
          ++cells[c];
          const double x = normal(bits), y = normal(bits), w = normal(bits);
          two.push_back({value(x), value(y)});
          three.push_back({value(x), value(0.5 * x + 0.8 * w), value(0.5 * x + 0.7 * y)});
        }
        NoisyCounts released{{}, epsilon}, margin{{}, epsilon};
        for (const int cell : table) released.cells.push_back(noisy(cell));
        for (const int cell : cells) margin.cells.push_back(noisy(cell));
        hits[2] += independence_test(released, 3, options()).p_value <= kLevel;
        hits[3] += goodness_of_fit(margin, even, options()).p_value <= kLevel;
        hits[4] += correlation_test(pairs.release(two, random), options()).p_value <= kLevel;
        const auto fit = linear_regression(triples.release(three, random), options());
        hits[5] += fit.coefficients[2].p_value <= kLevel;
        hits[6] +=
            fit.coefficients[1].interval.low <= 0.5 && 0.5 <= fit.coefficients[1].interval.high;
        const auto skewed = draw_values(RowLaw::Skewed, static_cast<std::size_t>(rows), bits);
        const auto middle = median.release(skewed, random), top = high.release(skewed, random);
        hits[7] += middle.interval.low <= 70 && 69 <= middle.interval.high;
        hits[8] += top.interval.low <= 231 && 230 <= top.interval.high;
      }
      std::printf("%7.1f %6d |", epsilon, rows);
      for (int i = 0; i < 9; ++i)
        std::printf(" %8.1f%s", 100.0 * hits[i] / trials, i == 3 || i == 6 ? " |" : "");
      std::printf("\n");
      std::fflush(stdout);
    }
}

struct Curve {
  const char* name;
  const char* colour;
  std::vector<double> power;
};

void draw(const std::vector<Curve>& curves, const std::vector<std::size_t>& rows,
          const std::string& path) {
  std::ofstream svg(path);
  const double left = 62, top = 44, width = 460, height = 270;
  const auto x = [&](std::size_t i) {
    return left + width * static_cast<double>(i) / static_cast<double>(rows.size() - 1);
  };
  const auto y = [&](double power) { return top + height * (1 - power); };
  svg << "<svg xmlns='http://www.w3.org/2000/svg' width='760' height='380' viewBox='0 0 760 380' "
         "font-family='sans-serif' font-size='13'>\n<rect width='760' height='380' fill='white'/>\n"
      << "<text x='" << left
      << "' y='22' font-size='15'>How often a difference of half a standard "
         "deviation is found (epsilon 1, 5 % tests)</text>\n";
  for (int i = 0; i <= 4; ++i)
    svg << "<line x1='" << left << "' x2='" << left + width << "' y1='" << y(i / 4.0) << "' y2='"
        << y(i / 4.0) << "' stroke='#ddd'/><text x='" << left - 8 << "' y='" << y(i / 4.0) + 4
        << "' text-anchor='end'>" << 25 * i << " %</text>\n";
  for (std::size_t i = 0; i < rows.size(); ++i)
    svg << "<text x='" << x(i) << "' y='" << top + height + 20 << "' text-anchor='middle'>"
        << rows[i] << "</text>\n";
  svg << "<text x='" << left + width / 2 << "' y='" << top + height + 44
      << "' text-anchor='middle'>rows in each of the two groups</text>\n";
  for (std::size_t c = 0; c < curves.size(); ++c) {
    svg << "<polyline fill='none' stroke-width='2.5' stroke='" << curves[c].colour << "' points='";
    for (std::size_t i = 0; i < rows.size(); ++i)
      svg << x(i) << "," << y(curves[c].power[i]) << " ";
    svg << "'/>\n<line x1='" << left + width + 14 << "' x2='" << left + width + 38 << "' y1='"
        << top + 20 + 26 * static_cast<double>(c) << "' y2='"
        << top + 20 + 26 * static_cast<double>(c) << "' stroke-width='3' stroke='"
        << curves[c].colour << "'/><text x='" << left + width + 44 << "' y='"
        << top + 24 + 26 * static_cast<double>(c) << "'>" << curves[c].name << "</text>\n";
  }
  svg << "</svg>\n";
}

void power(int trials, const char* svg) {
  Options p_only = options();
  p_only.intervals = false;
  const std::vector<std::size_t> sizes = {25, 50, 100, 200, 400, 800};
  for (const double epsilon : {1.0, 0.1}) {
    std::vector<Curve> curves = {{"without privacy", "#888888", {}},
                                 {"Discreet", "#1b6ca8", {}},
                                 {"test of tests", "#d1495b", {}},
                                 {"Mann-Whitney, sizes public", "#edae49", {}}};
    std::printf(
        "\npower, %%, epsilon %.1f: groups of normal rows, half a standard deviation apart "
        "(%d data sets)\n%6s | %10s %10s %10s %14s | %12s %12s\n",
        epsilon, trials, "rows", "no privacy", "Discreet", "of tests", "Mann-Whitney",
        "naive (bad)", "naive level");
    for (const std::size_t rows : sizes) {
      SeededRandom random(33);
      DataBits bits(random);
      const double seed[] = {static_cast<double>(rows), epsilon};
      Resample draws(seed);
      const auto mechanism = MomentsMechanism::make(eps(epsilon), {0, 1000}).value();
      const TestOfTests tests(epsilon, std::max(4, static_cast<int>(rows / 12)), 0.25);
      int found[6] = {};
      for (int i = 0; i < trials; ++i) {
        const auto a = draw_values(RowLaw::Normal, rows, bits),
                   c = draw_values(RowLaw::Normal, rows, bits);
        auto b = draw_values(RowLaw::Normal, rows, bits);
        for (auto& one : b) one = std::min<std::int64_t>(1000, one + 60);
        const auto na = mechanism.release(a, random), nb = mechanism.release(b, random),
                   nc = mechanism.release(c, random);
        found[0] += rejects_without_noise(a, b);
        found[1] += t_test(na, nb, p_only).p_value <= kLevel;
        found[2] += tests.rejects(a, b, random);
        found[3] += rejects_mann_whitney(a, b, epsilon, random, draws);
        found[4] += rejects_naively(na, nb);
        found[5] += rejects_naively(na, nc);
      }
      const auto share = [&](int i) { return 1.0 * found[i] / trials; };
      for (std::size_t c = 0; c < 4; ++c) curves[c].power.push_back(share(static_cast<int>(c)));
      std::printf("%6zu | %10.1f %10.1f %10.1f %14.1f | %12.1f %12.1f\n", rows, 100 * share(0),
                  100 * share(1), 100 * share(2), 100 * share(3), 100 * share(4), 100 * share(5));
      std::fflush(stdout);
    }
    if (svg != nullptr && epsilon == 1.0) draw(curves, sizes, svg);
  }
}

}  // namespace
}  // namespace discreet::inference

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::max(20, std::atoi(argv[1])) : 300;
  const bool only_power = argc > 3 && std::string(argv[3]) == "power";
  if (!only_power) {
    discreet::inference::levels(trials);
    discreet::inference::other_levels(trials);
  }
  discreet::inference::power(trials, argc > 2 ? argv[2] : nullptr);
}
