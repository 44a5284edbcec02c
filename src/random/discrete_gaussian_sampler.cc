#include "random/discrete_gaussian_sampler.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <vector>

namespace discreet {
namespace {

constexpr std::int64_t kDirectLimit = std::int64_t{1} << 62;

Rational unit_of(const Rational& sigma2, std::int64_t t) {
  const BigInt& a = numerator(sigma2);
  const BigInt& b = denominator(sigma2);
  return Rational(BigInt(1), 2 * a * b * t * t);
}

// exp(-x) for any x: the same powers, of the unit 2^-64.
const ExpPowers& fine_powers() {
  static const ExpPowers powers(Rational(BigInt(1), BigInt(1) << 64));
  return powers;
}

}  // namespace

Result<DiscreteGaussianSampler> DiscreteGaussianSampler::make(Rational sigma2) {
  if (sigma2 <= 0) return invalid_parameter("the variance of Gaussian noise must be positive");
  if (sigma2 > Rational(BigInt(1) << 100))
    return invalid_parameter(
        "Gaussian noise of standard deviation above 2^50 does not fit 64-bit integers");
  const auto t = static_cast<std::int64_t>(sqrt(floor(sigma2))) + 1;
  DISCREET_TRY(DiscreteLaplaceSampler proposal, DiscreteLaplaceSampler::make(Rational(1, t)));
  return DiscreteGaussianSampler(std::move(sigma2), t, std::move(proposal));
}

DiscreteGaussianSampler::DiscreteGaussianSampler(Rational sigma2, std::int64_t t,
                                                 DiscreteLaplaceSampler proposal)
    : sigma2_(std::move(sigma2)),
      t_(t),
      proposal_(std::move(proposal)),
      powers_(unit_of(sigma2_, t)) {
  const BigInt bt = denominator(sigma2_) * t_;
  const BigInt& a = numerator(sigma2_);
  if (bt < kDirectLimit && a < kDirectLimit) {
    bt_ = static_cast<std::int64_t>(bt);
    a_ = static_cast<std::int64_t>(a);
    direct_max_ = static_cast<std::int64_t>(kDirectLimit / bt);
  }
}

Rational DiscreteGaussianSampler::exponent(std::int64_t magnitude) const {
  const BigInt distance = magnitude * denominator(sigma2_) * t_ - numerator(sigma2_);
  return powers_.unit() * Rational(distance * distance);
}

DiscreteGaussianSampler::Chance DiscreteGaussianSampler::chance(std::int64_t magnitude) const {
  if (magnitude <= direct_max_) {
    const Int128 distance = magnitude * bt_ - a_;
    const UInt128 low = powers_.low(static_cast<UInt128>(distance * distance));
    return {static_cast<std::uint64_t>(low >> 64), 2};
  }
  // x rounded up to a multiple of 2^-64 loses at most one part in 2^64 of exp(-x).
  const BigInt steps = ceil(exponent(magnitude) * Rational(BigInt(1) << 64));
  if ((steps >> 71) != 0) return {0, 2};  // x >= 128
  const UInt128 n = (UInt128{static_cast<std::uint64_t>(steps >> 64)} << 64) |
                    static_cast<std::uint64_t>(steps & ((BigInt(1) << 64) - 1));
  return {static_cast<std::uint64_t>(fine_powers().low(n) >> 64), 4};
}

bool DiscreteGaussianSampler::keep(std::int64_t magnitude, Chance chance,
                                   RandomSource& random) const {
  const std::uint64_t drawn = random.bits64();
  if (drawn < chance.low) return true;
  if (drawn - chance.low >= chance.slack) [[likely]]
    return false;
  return decide(Probability::exp_minus(exponent(magnitude)), drawn, random);
}

std::int64_t DiscreteGaussianSampler::draw(RandomSource& random) const {
  for (;;) {
    const std::int64_t y = proposal_.draw(random);
    const std::int64_t magnitude = std::abs(y);
    if (keep(magnitude, chance(magnitude), random)) return y;
  }
}

void DiscreteGaussianSampler::draw_many(std::span<std::int64_t> out, RandomSource& random) const {
  constexpr std::size_t kBatch = 2048;
  if (out.size() < 48) {
    for (auto& value : out) value = draw(random);
    return;
  }
  // Proposals within 16 t, all but one in nine million, find their chance in a table when there are
  // enough draws to pay for it.
  std::vector<Chance> table;
  if (t_ < 512 && static_cast<std::size_t>(16 * t_) <= out.size())
    for (std::int64_t magnitude = 0; magnitude < 16 * t_; ++magnitude)
      table.push_back(chance(magnitude));

  std::array<std::int64_t, kBatch> proposals;
  std::size_t filled = 0;
  while (filled < out.size()) {
    proposal_.draw_many(proposals, random);
    for (std::size_t i = 0; i < kBatch && filled < out.size(); ++i) {
      const std::int64_t magnitude = std::abs(proposals[i]);
      const bool listed = static_cast<std::size_t>(magnitude) < table.size();
      if (keep(magnitude, listed ? table[static_cast<std::size_t>(magnitude)] : chance(magnitude),
               random))
        out[filled++] = proposals[i];
    }
  }
  proposals.fill(0);
}

}  // namespace discreet
