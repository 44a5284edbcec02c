#include "accounting/lattice_noise.h"

#include <cmath>

#include <fmt/format.h>

namespace discreet {
namespace {

constexpr double kLengthMax = 1e7;
constexpr long double kRelative = 4e-16L;  // rounding of the parameter, and of sums below
constexpr long double kLogCut = -90;       // terms below e^-90 of the largest are cut off

Bracket around(long double value, long double relative) {
  const auto nearest = static_cast<double>(value);
  const auto slack =
      static_cast<double>(std::fabs(value) * relative) + std::fabs(nearest) * 0x1p-53;
  return {std::fmax(0.0, nearest - slack), nearest + slack};
}

Result<void> check_positive(const char* what, double value) {
  if (!(value > 0) || std::isinf(value))
    return invalid_parameter(fmt::format("{} must be positive and finite, not {}", what, value));
  return {};
}

// Sum of exp(-x^2 / (2 sigma2)) f(x) over x >= first, largest terms first.
template <class F>
long double gaussian_sum(double sigma2, long double first, F f) {
  long double sum = 0;
  for (long double x = first;; ++x) {
    const long double exponent = -x * x / (2 * static_cast<long double>(sigma2));
    if (exponent < 2 * kLogCut && x > first + 1) return sum;
    sum += std::exp(exponent) * f(x);
  }
}

}  // namespace

Result<LatticeNoise> discrete_laplace_noise(double scale, std::int64_t reach) {
  DISCREET_TRY_VOID(check_positive("the scale", scale));
  const long double s = scale;
  const double last = std::ceil(static_cast<double>(-kLogCut * s)) + static_cast<double>(reach);
  if (!(2 * last < kLengthMax))
    return invalid_parameter(fmt::format("a discrete Laplace scale of {} is too large", scale));
  LatticeNoise noise;
  noise.first = -static_cast<std::int64_t>(last);
  const long double one = -std::expm1(-1 / s) / (1 + std::exp(-1 / s));
  for (std::int64_t z = noise.first; z <= -noise.first; ++z)
    noise.mass.push_back(
        static_cast<double>(one * std::exp(-static_cast<long double>(std::llabs(z)) / s)));
  noise.cut_off = static_cast<double>(2 * std::exp(-static_cast<long double>(last) / s));
  return noise;
}

Result<LatticeNoise> discrete_gaussian_noise(double sigma2, std::int64_t reach) {
  DISCREET_TRY_VOID(check_positive("sigma2", sigma2));
  const double last =
      std::ceil(std::sqrt(static_cast<double>(-2 * kLogCut) * sigma2)) + static_cast<double>(reach);
  if (!(2 * last < kLengthMax))
    return invalid_parameter(fmt::format("a discrete Gaussian sigma2 of {} is too large", sigma2));
  const long double total = 1 + 2 * gaussian_sum(sigma2, 1, [](long double) { return 1; });
  LatticeNoise noise;
  noise.first = -static_cast<std::int64_t>(last);
  for (std::int64_t z = noise.first; z <= -noise.first; ++z) {
    const auto x = static_cast<long double>(z);
    noise.mass.push_back(
        static_cast<double>(std::exp(-x * x / (2 * static_cast<long double>(sigma2))) / total));
  }
  noise.cut_off = static_cast<double>(
      2 * gaussian_sum(sigma2, static_cast<long double>(last), [](long double) { return 1; }) /
      total);
  return noise;
}

Result<Bracket> discrete_laplace_variance(double scale) {
  DISCREET_TRY_VOID(check_positive("the scale", scale));
  const long double r = std::exp(-1 / static_cast<long double>(scale));
  const long double gap = -std::expm1(-1 / static_cast<long double>(scale));
  return around(2 * r / (gap * gap), kRelative);
}

Result<Bracket> discrete_gaussian_variance(double sigma2) {
  DISCREET_TRY_VOID(check_positive("sigma2", sigma2));
  if (sigma2 > 1e10) {
    // By Poisson summation the variance is below sigma2 by a share under e^{-2 pi^2 sigma2}.
    return around(static_cast<long double>(sigma2), kRelative);
  }
  const long double total = 1 + 2 * gaussian_sum(sigma2, 1, [](long double) { return 1.0L; });
  const long double second = 2 * gaussian_sum(sigma2, 1, [](long double x) { return x * x; });
  return around(second / total, kRelative);
}

Result<Bracket> discrete_laplace_tail(double scale, double t) {
  DISCREET_TRY_VOID(check_positive("the scale", scale));
  if (t <= 0) return Bracket{1, 1};
  const long double s = scale, at = std::ceil(t);
  return around(2 * std::exp(-at / s) / (1 + std::exp(-1 / s)), kRelative * (4 + at / s));
}

Result<Bracket> discrete_gaussian_tail(double sigma2, double t) {
  DISCREET_TRY_VOID(check_positive("sigma2", sigma2));
  if (t <= 0) return Bracket{1, 1};
  if (sigma2 > 1e10)
    return invalid_parameter(fmt::format("a discrete Gaussian sigma2 of {} is too large", sigma2));
  const long double total = 1 + 2 * gaussian_sum(sigma2, 1, [](long double) { return 1.0L; });
  const long double at = std::ceil(t);
  // Beyond the range of extended precision the tail is zero to any double.
  if (at * at / (2 * sigma2) > 11000) return Bracket{0, 0x1p-1022};
  const long double tail = 2 * gaussian_sum(sigma2, at, [](long double) { return 1.0L; });
  return around(tail / total, kRelative * (4 + at * at / sigma2));
}

}  // namespace discreet
