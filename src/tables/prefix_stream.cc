#include "tables/prefix_stream.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace discreet::tables {
namespace {

constexpr double kScale = 65'536;
constexpr double kLimitMax = 0x1p40;

}  // namespace

PrefixStream::PrefixStream(std::vector<std::int64_t> coefficients, DiscreteGaussian noise, Rho rho,
                           double limit)
    : coefficients_(std::move(coefficients)), noise_(std::move(noise)), rho_(rho), limit_(limit) {
  // The power series 1 / ((1 - z) c(z)): prefix sums after undoing c.
  const auto first = static_cast<double>(coefficients_.front());
  for (std::size_t t = 0; t < coefficients_.size(); ++t) {
    double rest = 1;
    for (std::size_t k = 1; k <= t; ++k)
      rest -= static_cast<double>(coefficients_[k]) * weights_[t - k];
    weights_.push_back(rest / first);
  }
}

Result<PrefixStream> PrefixStream::make(std::uint32_t periods, Rho rho, double limit) {
  if (periods == 0 || periods > kPeriodsMax)
    return invalid_parameter(
        fmt::format("a stream has 1 to {} periods, not {}", kPeriodsMax, periods));
  if (!(limit >= 1) || limit > kLimitMax)
    return invalid_parameter("what one unit may add to a stream must be between 1 and 2^40");
  std::vector<std::int64_t> coefficients;
  double share = 1, squares = 0;
  for (std::uint32_t k = 0; k < periods; ++k) {
    if (k > 0) share *= (2.0 * k - 1) / (2.0 * k);
    coefficients.push_back(std::llround(kScale * share));
    const double c = static_cast<double>(coefficients.back());
    squares = add_up(squares, c * c);  // below 2^33, exact
  }
  // A unit's records move y by at most limit times the length of c (proof page).
  const double length = mul_up(limit, sqrt_up(squares));
  DISCREET_TRY(const L2Sensitivity sensitivity, L2Sensitivity::make(length));
  DISCREET_TRY(auto noise, DiscreteGaussian::make(rho, sensitivity, periods));
  const Rho paid = noise.rho();
  return PrefixStream(std::move(coefficients), std::move(noise), paid, limit);
}

std::int64_t PrefixStream::release(std::span<const std::int64_t> increments,
                                   RandomSource& random) const {
  DISCREET_CHECK(!increments.empty() && increments.size() <= coefficients_.size(),
                 "a period of the stream");
  // Modulo 2^64, which is linear.
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < increments.size(); ++s)
    sum += static_cast<std::uint64_t>(coefficients_[increments.size() - 1 - s]) *
           static_cast<std::uint64_t>(increments[s]);
  return noise_.release(static_cast<std::int64_t>(sum), random);
}

double PrefixStream::total(std::span<const std::int64_t> released) const {
  DISCREET_CHECK(!released.empty() && released.size() <= coefficients_.size(),
                 "periods of the stream");
  double sum = 0;
  for (std::size_t s = 0; s < released.size(); ++s)
    sum += weights_[released.size() - 1 - s] * static_cast<double>(released[s]);
  return sum;
}

double PrefixStream::variance(std::uint32_t t) const {
  double sum = 0;
  for (std::uint32_t k = 0; k <= t; ++k) sum += weights_[k] * weights_[k];
  return sum * noise_.variance();
}

double PrefixStream::tree_variance() const {
  // A record is in one node of each level; the total up to t is as many nodes as t + 1 has ones.
  std::uint32_t levels = 1;
  while ((std::uint64_t{1} << (levels - 1)) < periods()) ++levels;
  const double each = limit_ * limit_ * levels / (2 * rho_.value());
  double nodes = 0;
  for (std::uint32_t t = 1; t <= periods(); ++t) nodes += std::popcount(t);
  return each * nodes / periods();
}

}  // namespace discreet::tables
