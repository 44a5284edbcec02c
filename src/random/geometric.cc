#include "random/geometric.h"

#include "base/saturating.h"
#include "random/bit_slice_internal.h"
#include "random/probability.h"

namespace discreet {
namespace {

CoinDigits split(const BigInt& digits) {
  const BigInt mask = (BigInt(1) << 64) - 1;
  return {static_cast<std::uint64_t>(digits >> 64), static_cast<std::uint64_t>(digits & mask)};
}

}  // namespace

Result<void> GeometricSampler::check(const Rational& rate) {
  if (rate <= 0) return invalid_parameter("the rate of a geometric variable must be positive");
  if (rate < exact_rational(kRateMin).value())
    return invalid_parameter(
        "noise of scale above 2^54 does not fit 64-bit integers; use a coarser grid");
  return {};
}

Result<GeometricSampler> GeometricSampler::make(Rational rate) {
  DISCREET_TRY_VOID(check(rate));
  // J is the least with rate 2^J >= 45, so that exp(-rate 2^J) < 2^-64.
  unsigned digits = 0;
  for (Rational reach = rate; reach < 45; reach *= 2) ++digits;

  // exp(-rate 2^j) by repeated squaring: each at most doubles the error, so 2 bits to spare per
  // digit and 64 more make a disagreement of the ends as rare as 2^-60; Probability settles it
  // then.
  const unsigned precision = 128 + 64 + 2 * digits;
  const BigInt one = BigInt(1) << precision;
  std::vector<CoinDigits> coins;
  ScaledInterval e = exp_minus_scaled(rate, precision);
  for (unsigned j = 0; j < digits; ++j) {
    const BigInt low = ((e.low << precision) / (one + e.low)) >> (precision - 128);
    const BigInt high = ((e.high << precision) / (one + e.high) + 1) >> (precision - 128);
    coins.push_back(split(
        low == high ? low : Probability::logistic(rate * Rational(BigInt(1) << j)).digits(128)));
    e = squared(e, precision);
  }
  coins.push_back(split(Probability::exp_minus(rate * Rational(BigInt(1) << digits)).digits(128)));
  return GeometricSampler(std::move(rate), std::move(coins));
}

bool GeometricSampler::decide_coin(std::size_t index, unsigned known, RandomSource& random) const {
  const Rational x = rate_ * Rational(BigInt(1) << static_cast<unsigned>(index));
  return decide_beyond(
      index + 1 < coins_.size() ? Probability::logistic(x) : Probability::exp_minus(x), known,
      random);
}

std::uint64_t GeometricSampler::draw_digits(RandomSource& random) const {
  std::uint64_t value = 0;
  for (std::size_t j = 0; j < coins_.size(); ++j) {
    const std::uint64_t drawn = random.bits64();
    bool one = drawn < coins_[j].high;
    if (drawn == coins_[j].high) [[unlikely]]
      one = decide_coin(j, 64, random);
    value |= std::uint64_t{one} << j;
  }
  return value;
}

std::int64_t GeometricSampler::draw_beyond(RandomSource& random) const {
  return saturating_add(std::int64_t{1} << (coins_.size() - 1), draw(random));
}

std::int64_t GeometricSampler::draw(RandomSource& random) const {
  const std::uint64_t value = draw_digits(random);
  if ((value >> (coins_.size() - 1)) != 0) [[unlikely]]
    return draw_beyond(random);
  return static_cast<std::int64_t>(value);
}

std::int64_t GeometricSampler::draw_below(std::uint64_t bound, RandomSource& random) const {
  DISCREET_CHECK(bound > 0, "no integer lies below zero");
  const std::uint64_t reach = std::uint64_t{1} << (coins_.size() - 1);
  UInt128 overshoot = 0;  // kept modulo the bound, so that it cannot saturate
  for (;;) {
    const std::uint64_t value = draw_digits(random);
    if (value < reach) return static_cast<std::int64_t>((overshoot + value) % bound);
    overshoot = (overshoot + reach) % bound;
  }
}

void GeometricSampler::draw_many(std::span<std::int64_t> out, RandomSource& random) const {
  bit_slice::draw_geometric(*this, out, random);
}

}  // namespace discreet
