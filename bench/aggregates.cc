// How large is the error of COUNT, AVG, VAR, COV, CORR and deciles at epsilon 1 on ADULT?
//
// Usage: aggregates [adult.csv] [runs]. Prints the root mean square error of each design beside the
// figure it should reach. Without the file it says so and ends.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "mechanisms/bivariate.h"
#include "mechanisms/moments.h"
#include "mechanisms/quantiles.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Columns = std::map<std::string, std::vector<std::int64_t>>;

Columns read_csv(const std::string& path) {
  std::ifstream file(path);
  Columns columns;
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string field;
    for (std::size_t i = 0; std::getline(fields, field, ','); ++i) {
      if (names.size() <= i && columns.empty()) {
        names.push_back(field);
        continue;
      }
      columns[names[i]].push_back(std::stoll(field));
    }
    if (columns.empty())
      for (const auto& name : names) columns[name];
  }
  return columns;
}

struct Exact {
  double n, mean, variance;
};

Exact exact_moments(const std::vector<std::int64_t>& values) {
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(values.size());
  for (const auto value : values) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  return {n, sum / n, squares / n - (sum / n) * (sum / n)};
}

void print(const char* what, double rmse, double wanted) {
  std::printf("%-46s %12.6g %12.6g %8.3f\n", what, rmse, wanted, rmse / wanted);
}

void moments_of(const char* name, const std::vector<std::int64_t>& values, IntegerRange range,
                double wanted_mean, double wanted_variance, int runs) {
  const Exact exact = exact_moments(values);
  const auto epsilon = Epsilon::make(1).value();
  const auto mean_only = KNorm::make(epsilon, {{range, false}}).value();
  const auto with_variance = KNorm::make(epsilon, {{range, true}}).value();
  std::vector<Int128> sums(mean_only.features()), more(with_variance.features());
  for (const auto value : values) {
    mean_only.add_row({&value, 1}, sums);
    with_variance.add_row({&value, 1}, more);
  }
  SeededRandom random(1);
  double mean2 = 0, variance2 = 0, deviation2 = 0;
  for (int i = 0; i < runs; ++i) {
    const MomentEstimates a(mean_only, mean_only.release(sums, random));
    const MomentEstimates b(with_variance, with_variance.release(more, random));
    mean2 += std::pow(a.mean(0).value - exact.mean, 2);
    variance2 += std::pow(b.variance(0, Divisor::Population).value - exact.variance, 2);
    deviation2 +=
        std::pow(b.deviation(0, Divisor::Population).value - std::sqrt(exact.variance), 2);
  }
  const std::string label(name);
  if (wanted_mean > 0) print((label + " AVG").c_str(), std::sqrt(mean2 / runs), wanted_mean);
  if (wanted_variance > 0) {
    print((label + " VAR").c_str(), std::sqrt(variance2 / runs), wanted_variance);
    print((label + " STDDEV").c_str(), std::sqrt(deviation2 / runs),
          wanted_variance / (2 * std::sqrt(exact.variance)));
  }
}

void pair_of(const char* name, const std::vector<std::int64_t>& x, IntegerRange range_x,
             const std::vector<std::int64_t>& y, IntegerRange range_y, double wanted_covariance,
             double wanted_correlation, int runs) {
  const auto epsilon = Epsilon::make(1).value();
  const auto corners =
      Bivariate::make(epsilon, range_x, range_y, BivariateDegree::Covariance).value();
  const auto bernstein =
      Bivariate::make(epsilon, range_x, range_y, BivariateDegree::Correlation).value();
  std::vector<std::int64_t> four(4), nine(9);
  const Exact ex = exact_moments(x), ey = exact_moments(y);
  double product = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    corners.add_row(x[i], y[i], four);
    bernstein.add_row(x[i], y[i], nine);
    product += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  }
  const double covariance = product / ex.n - ex.mean * ey.mean;
  const double correlation = covariance / std::sqrt(ex.variance * ey.variance);
  const double units =
      static_cast<double>(range_x.size() - 1) * static_cast<double>(range_y.size() - 1);
  SeededRandom random(2);
  double covariance2 = 0, correlation2 = 0;
  for (int i = 0; i < runs; ++i) {
    covariance2 += std::pow(
        (corners.release(four, random).covariance(Divisor::Population).value - covariance) / units,
        2);
    correlation2 += std::pow(bernstein.release(nine, random).correlation().value - correlation, 2);
  }
  const std::string label(name);
  print((label + " COV (unit-scaled, x1e5)").c_str(), 1e5 * std::sqrt(covariance2 / runs),
        wanted_covariance);
  print((label + " CORR (x1e3)").c_str(), 1e3 * std::sqrt(correlation2 / runs), wanted_correlation);
}

// Means (and variances) of the first d of these columns in one release, in half-ranges times 1e5.
void joint(const std::vector<const std::vector<std::int64_t>*>& columns,
           const std::vector<IntegerRange>& ranges, bool with_variance, double wanted, int runs) {
  std::vector<MomentColumn> shape;
  for (const auto range : ranges) shape.push_back({range, with_variance});
  const auto mechanism = KNorm::make(Epsilon::make(1).value(), shape).value();
  std::vector<Int128> sums(mechanism.features());
  std::vector<std::int64_t> row(columns.size());
  for (std::size_t i = 0; i < columns[0]->size(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) row[j] = (*columns[j])[i];
    mechanism.add_row(row, sums);
  }
  SeededRandom random(3);
  double squares = 0;
  for (int i = 0; i < runs; ++i) {
    const MomentEstimates estimates(mechanism, mechanism.release(sums, random));
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const double half = static_cast<double>(ranges[j].size() - 1) / 2;
      const Exact exact = exact_moments(*columns[j]);
      squares +=
          with_variance
              ? std::pow((estimates.variance(j, Divisor::Population).value - exact.variance) /
                             (half * half),
                         2)
              : std::pow((estimates.mean(j).value - exact.mean) / half, 2);
    }
  }
  char label[80];
  std::snprintf(label, sizeof label, "%s of %zu columns, one release (x1e5)",
                with_variance ? "VAR" : "AVG", columns.size());
  print(label, 1e5 * std::sqrt(squares / (runs * static_cast<double>(columns.size()))), wanted);
}

double rank_error(const std::vector<std::int64_t>& values, double q, std::int64_t v) {
  double below = 0, up_to = 0;
  for (const auto x : values) below += x < v, up_to += x <= v;
  const double target = q * static_cast<double>(values.size());
  return std::fmax(0, std::fmax(below - target, target - up_to));
}

void deciles_of(const char* name, const std::vector<std::int64_t>& values, IntegerRange range,
                QuantilesMethod method, double wanted, int runs) {
  const std::vector<double> deciles = {.1, .2, .3, .4, .5, .6, .7, .8, .9};
  const auto mechanism = Quantiles::make(Epsilon::make(1).value(), deciles, range, method).value();
  SeededRandom random(4);
  double squares = 0;
  for (int i = 0; i < runs; ++i) {
    const auto released = mechanism.release(values, random);
    for (std::size_t j = 0; j < 9; ++j)
      squares += std::pow(rank_error(values, deciles[j], released[j]), 2);
  }
  print(name, std::sqrt(squares / (9.0 * runs)), wanted);
}

int run(const std::string& path, int runs) {
  Columns columns = read_csv(path);
  if (columns.empty()) {
    std::printf("aggregates: no data at %s; give the path of adult.csv\n", path.c_str());
    return 0;
  }
  auto age = columns["age"];
  for (auto& value : age) value += 16;  // code 1 is age 17, code 74 is 90 and above
  const auto& hours = columns["hours-per-week"];
  const auto& gain = columns["capital-gain"];
  const auto& education = columns["education-num"];
  std::printf("ADULT, %zu rows, epsilon 1, %d runs\n%-46s %12s %12s %8s\n", age.size(), runs,
              "RMSE of", "here", "wanted", "ratio");
  moments_of("age [17,101]", age, {17, 101}, .00189, 0, runs);
  moments_of("age [0,100]", age, {0, 100}, .00210, .105, runs);
  moments_of("age [17,90]", age, {17, 90}, .00162, .0731, runs);
  moments_of("hours [0,98]", hours, {0, 98}, .00206, .102, runs);
  moments_of("capital-gain [0,99]", gain, {0, 99}, .00284, .294, runs);
  moments_of("education [0,15]", education, {0, 15}, .00031, .0023, runs);
  pair_of("age-hours", age, {17, 101}, hours, {0, 98}, 1.61, .823, runs);
  pair_of("hours-education", hours, {0, 98}, education, {0, 15}, 1.51, .729, runs);
  pair_of("age-education", age, {17, 101}, education, {0, 15}, 1.64, .627, runs);
  pair_of("capital-gain-education", gain, {0, 99}, education, {0, 15}, 2.06, 2.03, runs);
  joint({&age, &hours}, {{17, 101}, {0, 98}}, false, 5.59, runs / 4);
  joint({&age, &hours, &gain, &education}, {{17, 101}, {0, 98}, {0, 99}, {0, 15}}, false, 8.75,
        runs / 4);
  joint({&age, &hours}, {{17, 101}, {0, 98}}, true, 7.41, runs / 4);
  joint({&age, &hours, &gain, &education}, {{17, 101}, {0, 98}, {0, 99}, {0, 15}}, true, 16.6,
        runs / 4);
  std::vector<std::int64_t> some_hours, some_ages;  // a thousand rows spread over the file
  for (std::size_t i = 0; i < 1000; ++i) {
    some_hours.push_back(hours[i * hours.size() / 1000]);
    some_ages.push_back(age[i * age.size() / 1000]);
  }
  const int fewer = runs / 20;
  deciles_of("deciles, hours, 1000 rows, tree (ranks)", some_hours, {0, 98}, QuantilesMethod::Tree,
             2.2, fewer);
  deciles_of("deciles, age, 1000 rows, tree (ranks)", some_ages, {17, 101}, QuantilesMethod::Tree,
             2.4, fewer);
  deciles_of("deciles, hours, 1000 rows, recursive (ranks)", some_hours, {0, 98},
             QuantilesMethod::Recursive, 4.3, fewer);
  deciles_of("deciles, age, 1000 rows, recursive (ranks)", some_ages, {17, 101},
             QuantilesMethod::Recursive, 3.9, fewer);
  return 0;
}

}  // namespace
}  // namespace discreet

int main(int argc, char** argv) {
  return discreet::run(argc > 1 ? argv[1] : "../shared/data/adult.csv",
                       argc > 2 ? std::stoi(argv[2]) : 10'000);
}
