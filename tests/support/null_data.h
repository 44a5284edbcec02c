// Made-up rows for calibrating tests: laws of values within 0 .. 1000, and counts of rejections.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "random/random_source.h"

namespace discreet {

/// A RandomSource as the standard library's generators want it. For data, never for noise.
class DataBits {
 public:
  using result_type = std::uint64_t;
  explicit DataBits(RandomSource& random) : random_(random) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }
  result_type operator()() { return random_.bits64(); }

 private:
  RandomSource& random_;
};

enum class RowLaw { Normal, Skewed, TwoPoint, Lognormal, Uniform, Bimodal };

inline const char* name(RowLaw law) {
  static constexpr const char* kNames[] = {"normal",    "exponential", "two-point",
                                           "lognormal", "uniform",     "bimodal"};
  return kNames[static_cast<int>(law)];
}

/// Means of the values below, as they are after moving them into 0 .. 1000 and rounding.
inline double mean_of(RowLaw law) {
  if (law == RowLaw::Normal) return 500;
  if (law == RowLaw::TwoPoint) return 300;
  if (law == RowLaw::Uniform || law == RowLaw::Bimodal) return 500;
  if (law == RowLaw::Lognormal) {  // P[value >= k] = Phi((log 150 - log(k - 1/2)) / .6)
    double sum = 0;
    for (int k = 1; k <= 1000; ++k)
      sum += std::erfc((std::log(k - 0.5) - std::log(150)) / (0.6 * std::sqrt(2))) / 2;
    return sum;
  }
  double mean = 0;  // P[value >= k] = exp(-(k - 1/2) / 100), k = 1 .. 1000
  for (int k = 1; k <= 1000; ++k) mean += std::exp(-(k - 0.5) / 100);
  return mean;
}

inline std::int64_t draw_value(RowLaw law, DataBits& bits) {
  double x = 0;
  if (law == RowLaw::Normal)
    x = std::normal_distribution<double>(500, 120)(bits);
  else if (law == RowLaw::Skewed)
    x = std::exponential_distribution<double>(0.01)(bits);
  else if (law == RowLaw::TwoPoint)
    x = std::bernoulli_distribution(0.3)(bits) ? 1000 : 0;
  else if (law == RowLaw::Lognormal)
    x = std::lognormal_distribution<double>(std::log(150), 0.6)(bits);
  else if (law == RowLaw::Uniform)
    x = std::uniform_int_distribution<int>(0, 1000)(bits);
  else
    x = std::normal_distribution<double>(std::bernoulli_distribution()(bits) ? 250 : 750, 60)(bits);
  return std::lround(std::fmin(1000, std::fmax(0, x)));
}

inline std::vector<std::int64_t> draw_values(RowLaw law, std::size_t rows, DataBits& bits) {
  std::vector<std::int64_t> values(rows);
  for (auto& value : values) value = draw_value(law, bits);
  return values;
}

/// The most rejections of `trials` at 5 % that chance explains: exceeded with probability below
/// 1e-6 by a test of level `level` (Chernoff, in the binomial's relative entropy).
inline int rejections_max(int trials, double level) {
  for (int k = static_cast<int>(trials * level) + 1; k < trials; ++k) {
    const double a = 1.0 * k / trials;
    const double entropy = a * std::log(a / level) + (1 - a) * std::log((1 - a) / (1 - level));
    if (trials * entropy > std::log(1e6)) return k;
  }
  return trials;
}

}  // namespace discreet
