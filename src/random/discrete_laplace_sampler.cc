#include "random/discrete_laplace_sampler.h"

#include "base/saturating.h"
#include "random/bit_slice_internal.h"

namespace discreet {

DiscreteLaplaceSampler::DiscreteLaplaceSampler(GeometricSampler magnitude)
    : magnitude_(std::move(magnitude)) {
  const BigInt digits = Probability::twice_logistic(magnitude_.rate()).digits(128);
  const BigInt mask = (BigInt(1) << 64) - 1;
  nonzero_digits_ = {static_cast<std::uint64_t>(digits >> 64),
                     static_cast<std::uint64_t>(digits & mask)};
}

Result<DiscreteLaplaceSampler> DiscreteLaplaceSampler::make(Rational rate) {
  DISCREET_TRY(GeometricSampler magnitude, GeometricSampler::make(std::move(rate)));
  return DiscreteLaplaceSampler(std::move(magnitude));
}

bool DiscreteLaplaceSampler::decide_nonzero(unsigned known, RandomSource& random) const {
  return decide_beyond(Probability::twice_logistic(rate()), known, random);
}

std::int64_t DiscreteLaplaceSampler::draw(RandomSource& random) const {
  const std::uint64_t drawn = random.bits64();
  bool nonzero = drawn < nonzero_digits_.high;
  if (drawn == nonzero_digits_.high) [[unlikely]]
    nonzero = decide_nonzero(64, random);
  const bool negative = (random.bits64() & 1) != 0;
  const std::int64_t magnitude = saturating_add(magnitude_.draw(random), 1);
  return nonzero ? (negative ? -magnitude : magnitude) : 0;
}

void DiscreteLaplaceSampler::draw_many(std::span<std::int64_t> out, RandomSource& random) const {
  bit_slice::draw_discrete_laplace(*this, out, random);
}

}  // namespace discreet
