// Goodness of fit for tests: the statistic, and the value it exceeds with a stated false-alarm
// rate.
#pragma once

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <span>
#include <string>

#include <boost/math/distributions/chi_squared.hpp>

namespace discreet {

struct ChiSquare {
  double statistic = 0;
  double limit = 0;  ///< exceeded with chance 1e-7 when the samples follow the law
};

/// Counts `samples` against `chance(value)`; values outside [low, high] share one cell, whose
/// chance is what is left. Every cell should expect at least five samples.
inline ChiSquare chi_square(const std::string& what, std::span<const std::int64_t> samples,
                            std::int64_t low, std::int64_t high,
                            const std::function<double(std::int64_t)>& chance) {
  std::map<std::int64_t, std::uint64_t> seen;
  std::uint64_t outside = 0;
  for (const auto sample : samples) {
    if (sample < low || sample > high)
      ++outside;
    else
      ++seen[sample];
  }
  const auto n = static_cast<double>(samples.size());
  ChiSquare result;
  double rest = 1;
  int cells = 0;
  const auto add = [&](double observed, double p) {
    result.statistic += (observed - n * p) * (observed - n * p) / (n * p);
    ++cells;
  };
  for (std::int64_t value = low; value <= high; ++value) {
    const double p = chance(value);
    rest -= p;
    add(static_cast<double>(seen[value]), p);
  }
  if (n * rest > 5) add(static_cast<double>(outside), rest);
  result.limit = boost::math::quantile(
      boost::math::complement(boost::math::chi_squared_distribution<>(cells - 1), 1e-7));
  std::cout << what << ": chi-square " << result.statistic << ", limit " << result.limit
            << " (false alarm 1e-7)\n";
  return result;
}

}  // namespace discreet
