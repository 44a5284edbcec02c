#include "mechanisms/box_norm.h"

#include <cmath>

#include <fmt/format.h>

#include "base/rational.h"
#include "random/uniform.h"

namespace discreet {
namespace {

BigInt big(UInt128 value) {
  return (BigInt(static_cast<std::uint64_t>(value >> 64)) << 64) |
         static_cast<std::uint64_t>(value);
}

Int128 small(const BigInt& value) {
  const auto low = static_cast<std::uint64_t>(value & UINT64_MAX);
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return static_cast<Int128>((UInt128{high} << 64) | low);
}

}  // namespace

Result<BoxNorm> BoxNorm::make(Epsilon epsilon, std::vector<Int128> row_max) {
  if (epsilon.value() < 0x1p-10 || epsilon.value() > 0x1p20)
    return invalid_parameter(
        fmt::format("epsilon must lie between 2^-10 and 2^20, not {}", epsilon.value()));
  if (row_max.empty() || row_max.size() > kSumsMax)
    return invalid_parameter(
        fmt::format("a joint release has 1 to {} sums, not {}", kSumsMax, row_max.size()));
  std::vector<std::int64_t> factor;
  for (const Int128 most : row_max) {
    if (most <= 0 || most > (Int128{1} << 80))
      return invalid_parameter("the most that a row adds to a sum must lie between 1 and 2^80");
    factor.push_back(most >= kSteps ? 1 : static_cast<std::int64_t>((kSteps + most - 1) / most));
  }
  const Rational rate = exact_rational(epsilon.value()).value() / kSteps;
  DISCREET_TRY(auto radius, GeometricSampler::make(rate));
  return BoxNorm(epsilon, std::move(row_max), std::move(factor), std::move(radius));
}

std::vector<Int128> BoxNorm::release_scaled(std::span<const Int128> sums,
                                            RandomSource& random) const {
  DISCREET_CHECK(sums.size() == row_max_.size(), "one sum for each row_max");
  const std::size_t dimension = row_max_.size();
  std::vector<BigInt> reach(dimension);
  // P[k] proportional to the number of lattice points of the box of radius k times r^k: a sum of
  // D + 1 geometric variables has C(k + D, D) r^k, and is kept with the product of
  // (2 floor(k M / S) + 1) S / (2 M (k + i)), one exact coin for each factor (M >= S: at most 1).
  for (;;) {
    std::int64_t k = radius_.draw(random);
    for (std::size_t i = 0; i < dimension; ++i) k = saturating_add(k, radius_.draw(random));
    bool kept = k < INT64_MAX;
    for (std::size_t i = 0; i < dimension; ++i) {
      const BigInt most = big(static_cast<UInt128>(row_max_[i] * factor_[i]));
      reach[i] = most * k / kSteps;
      const BigInt whole = 2 * most * (BigInt(k) + static_cast<std::uint64_t>(i + 1));
      kept &= uniform_below(whole, random) < (2 * reach[i] + 1) * kSteps;
    }
    if (kept) break;
  }
  std::vector<Int128> noisy;
  for (std::size_t i = 0; i < dimension; ++i) {
    const Int128 drawn = small(uniform_below(BigInt(2 * reach[i] + 1), random));
    noisy.push_back(sums[i] * factor_[i] + (drawn - small(reach[i])));
  }
  return noisy;
}

std::vector<double> BoxNorm::release(std::span<const Int128> sums, RandomSource& random) const {
  std::vector<double> rows;
  const auto noisy = release_scaled(sums, random);
  for (std::size_t i = 0; i < noisy.size(); ++i)
    rows.push_back(static_cast<double>(noisy[i]) / static_cast<double>(row_max_[i] * factor_[i]));
  return rows;
}

LossEvent BoxNorm::loss() const {
  return loss::Pure{epsilon_};
}

double BoxNorm::noise_sd() const {
  const auto d = static_cast<double>(row_max_.size());
  return std::sqrt((d + 1) * (d + 2) / 3) / epsilon_.value();
}

}  // namespace discreet
