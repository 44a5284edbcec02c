// The figures of the design on real data, with loose bounds; bench/aggregates prints the whole
// table.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "mechanisms/moments.h"
#include "support/seeded_random.h"
#include "support/shared_folder.h"

namespace discreet {
namespace {

// The codes of one column of ADULT; empty when the file is not there.
std::vector<std::int64_t> adult_column(const std::string& name) {
  std::ifstream file(shared_file("data/adult.csv"));
  std::vector<std::int64_t> values;
  std::string line, field;
  std::size_t wanted = 0;
  for (bool header = true; std::getline(file, line); header = false) {
    std::istringstream fields(line);
    for (std::size_t i = 0; std::getline(fields, field, ','); ++i) {
      if (header && field == name) wanted = i;
      if (!header && i == wanted) values.push_back(std::stoll(field));
    }
  }
  return values;
}

struct Rmse {
  double mean, variance;
};

Rmse measure(const std::vector<std::int64_t>& values, MomentColumn column) {
  const auto mechanism = KNorm::make(Epsilon::make(1).value(), {column}).value();
  std::vector<Int128> sums(mechanism.features());
  double sum = 0, squares = 0;
  for (const auto value : values) {
    mechanism.add_row({&value, 1}, sums);
    sum += static_cast<double>(value);
    squares += static_cast<double>(value * value);
  }
  const double mean = sum / static_cast<double>(values.size());
  const double variance = squares / static_cast<double>(values.size()) - mean * mean;
  SeededRandom random(1);
  constexpr int kRuns = 4000;
  double mean2 = 0, variance2 = 0;
  for (int i = 0; i < kRuns; ++i) {
    const MomentEstimates estimates(mechanism, mechanism.release(sums, random));
    mean2 += std::pow(estimates.mean(0).value - mean, 2);
    if (column.with_variance)
      variance2 += std::pow(estimates.variance(0, Divisor::Population).value - variance, 2);
  }
  return {std::sqrt(mean2 / kRuns), std::sqrt(variance2 / kRuns)};
}

TEST(AdultFiguresTest, MeansAndVariancesReachTheDesignsErrors) {
  const auto hours = adult_column("hours-per-week");
  auto age = adult_column("age");
  if (hours.empty())
    GTEST_SKIP() << "adult.csv is not beside this checkout; nothing to compare with";
  for (auto& value : age) value += 16;  // code 1 is age 17
  ASSERT_EQ(hours.size(), 48'842u);
  const double variance_of_hours = measure(hours, {{0, 98}, true}).variance;
  const double mean_of_age = measure(age, {{17, 90}, false}).mean;
  std::cout << "VAR(hours) " << variance_of_hours << " (.102), AVG(age) " << mean_of_age
            << " (.00162)\n";
  // Squared errors spread by about three times their mean: 4,000 runs are within 15 % at six
  // standard errors.
  EXPECT_NEAR(variance_of_hours / 0.102, 1, 0.17);
  EXPECT_NEAR(mean_of_age / 0.00162, 1, 0.17);
}

}  // namespace
}  // namespace discreet
