#include "curator/clipped_sums.h"

#include <algorithm>
#include <cmath>

#include "mechanisms/bound_search.h"
#include "random/discrete_laplace_sampler.h"

namespace discreet {
namespace {

// Sizes are whole numbers; a row of largest size counts 2^kSizeBits (bounded sums), so that
// rounding up costs nothing that can be seen.
constexpr int kSizeBits = 20;
constexpr double kSearchShare = 0.25;

UInt128 absolute(Int128 value) {
  return value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
}

BigInt to_big(UInt128 value) {
  return (BigInt(static_cast<std::uint64_t>(value >> 64)) << 64) |
         static_cast<std::uint64_t>(value);
}

// floor(value * bound / size), towards zero; bound < size.
Int128 scaled_down(Int128 value, UInt128 bound, UInt128 size) {
  UInt128 product = 0;
  UInt128 magnitude = absolute(value);
  if (!__builtin_mul_overflow(magnitude, bound, &product)) {
    magnitude = product / size;
  } else {
    const BigInt exact = to_big(magnitude) * to_big(bound) / to_big(size);
    magnitude = (UInt128{static_cast<std::uint64_t>(exact >> 64)} << 64) |
                static_cast<std::uint64_t>(exact & ((BigInt(1) << 64) - 1));
  }
  return value < 0 ? -static_cast<Int128>(magnitude) : static_cast<Int128>(magnitude);
}

}  // namespace

Result<ClippedSums> ClippedSums::make(Epsilon epsilon, std::vector<Sum> sums,
                                      std::optional<std::uint64_t> rows_max) {
  DISCREET_CHECK(!sums.empty(), "a release of sums needs a sum");
  DISCREET_CHECK(sums.size() == 1 ||
                     std::all_of(sums.begin(), sums.end(), [](const Sum& s) { return s.bounded; }),
                 "sums without declared bounds are released one by one");
  ClippedSums clipped(epsilon, std::move(sums));
  DISCREET_TRY(clipped.search_, Epsilon::make(mul_down(kSearchShare, epsilon.value())));
  DISCREET_TRY(clipped.noise_, Epsilon::make(sub_down(epsilon.value(), clipped.search_.value())));

  // Bounded: from 1/64 of a row to all the rows a unit may have, by factors of sqrt(2).
  // Unbounded: from one grid unit to 2^50 of them.
  const bool bounded = clipped.sums_.front().bounded;
  double weight = 0;
  for (const Sum& sum : clipped.sums_) weight += sum.weight;
  const double rows = rows_max ? static_cast<double>(*rows_max) : 0x1p20;
  const double first = bounded ? kSizeBits - 6 : 0;
  const double last = bounded ? kSizeBits + std::log2(weight * rows) : 50;
  for (double power = first; power < last + 0.5; power += 0.5)
    clipped.bounds_.push_back(static_cast<UInt128>(std::exp2(power)));
  // The noise at the largest bound must still fit: bounds beyond that are left out, which is
  // decided before anything is charged. Nobody has that many rows of largest size where noise would
  // fit.
  const auto noise_fits = [&] {
    for (std::size_t sum = 0; sum < clipped.sums_.size(); ++sum)
      if (!DiscreteLaplaceSampler::make(clipped.rate(sum, to_big(clipped.bounds_.back()))))
        return false;
    return true;
  };
  const auto one_row = static_cast<UInt128>(bounded ? std::exp2(kSizeBits) * weight : 1);
  while (!noise_fits()) {
    clipped.bounds_.pop_back();
    if (clipped.bounds_.empty() || clipped.bounds_.back() < one_row)
      return invalid_parameter(
          "this epsilon is too small for values of this range: the noise would not fit 64 bits");
  }
  return clipped;
}

// ceil(|value| weight 2^kSizeBits / row_max), or |value| itself where there is no row maximum.
UInt128 ClippedSums::size_of(Int128 value, std::size_t sum) const {
  const Sum& s = sums_[sum];
  const UInt128 magnitude = absolute(value);
  if (!s.bounded) return magnitude;
  const auto factor = static_cast<UInt128>(std::ldexp(s.weight, kSizeBits));
  const auto row_max = static_cast<UInt128>(s.row_max);
  // Nearly always all fits 64 bits, where a division is ten times cheaper.
  constexpr UInt128 kSmall = UInt128{1} << 62;
  if (row_max < kSmall && (magnitude >> 40) == 0 && (factor >> 22) == 0) {
    const auto product = static_cast<std::uint64_t>(magnitude * factor);
    const auto row = static_cast<std::uint64_t>(row_max);
    return product / row + (product % row != 0);
  }
  // Whole rows and the rest apart, so that the product cannot overflow.
  return magnitude / row_max * factor + (magnitude % row_max * factor + row_max - 1) / row_max;
}

Rational ClippedSums::rate(std::size_t sum, const BigInt& bound) const {
  const Rational noise = exact_rational(noise_.value()).value();
  if (!sums_[sum].bounded) return noise / Rational(bound);
  const BigInt factor = BigInt(static_cast<std::int64_t>(std::ldexp(sums_[sum].weight, kSizeBits)));
  return noise * Rational(factor, to_big(static_cast<UInt128>(sums_[sum].row_max)) * bound);
}

NoisySums ClippedSums::release(const Contributions& contributions, std::size_t groups,
                               RandomSource& random) const {
  const std::size_t count = sums_.size();
  std::vector<UInt128> sizes(contributions.units());
  std::vector<std::int64_t> above(bounds_.size());
  for (std::size_t unit = 0; unit < sizes.size(); ++unit) {
    for (std::size_t row = contributions.begin(unit); row < contributions.begin(unit + 1); ++row)
      for (std::size_t sum = 0; sum < count; ++sum)
        sizes[unit] += size_of(sums_[sum].of(contributions.values(row)), sum);
    for (std::size_t i = 0; i < bounds_.size() && sizes[unit] > bounds_[i]; ++i) ++above[i];
  }
  const auto search = BoundSearch::balanced(search_, noise_, groups * count);
  const UInt128 bound = bounds_[search.value().release(above, random)];

  NoisySums noisy;
  noisy.cells.assign(count, std::vector<Int128>(groups));
  for (std::size_t unit = 0; unit < sizes.size(); ++unit)
    for (std::size_t row = contributions.begin(unit); row < contributions.begin(unit + 1); ++row)
      for (std::size_t sum = 0; sum < count; ++sum) {
        const Int128 value = sums_[sum].of(contributions.values(row));
        noisy.cells[sum][contributions.group(row)] +=
            sizes[unit] > bound ? scaled_down(value, bound, sizes[unit]) : value;
      }

  std::vector<std::int64_t> noise(groups);
  for (std::size_t sum = 0; sum < count; ++sum) {
    const auto sampler = DiscreteLaplaceSampler::make(rate(sum, to_big(bound))).value();
    sampler.draw_many(noise, random);
    for (std::size_t group = 0; group < groups; ++group) noisy.cells[sum][group] += noise[group];
    const double r = rate(sum, to_big(bound)).convert_to<double>();
    noisy.noise_sd.push_back(std::sqrt(2 * std::exp(-r)) / -std::expm1(-r));
  }
  noisy.bound = static_cast<double>(bound) / (sums_.front().bounded ? std::exp2(kSizeBits) : 1);
  return noisy;
}

double ClippedSums::noise_sd_per_row(std::size_t sum) const {
  const double row_max =
      sums_[sum].bounded ? static_cast<double>(sums_[sum].row_max) / sums_[sum].weight : 1;
  return std::sqrt(2.0) * row_max / noise_.value();
}

}  // namespace discreet
