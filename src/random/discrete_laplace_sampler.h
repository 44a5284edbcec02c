// Two-sided geometric variables: P[Z = z] proportional to exp(-rate |z|) on the integers.
//
// Z is zero with chance (1 - r) / (1 + r), r = exp(-rate); otherwise a fair sign times one plus a
// geometric variable. No rejection: a draw takes the same time whatever comes out. Guarantee: the
// distribution is exactly the stated one, given uniform bits; values saturate at +-(2^63 - 1).
// Proof:     docs/proofs/exact_samplers.md
#pragma once

#include <cstdint>
#include <span>

#include "random/bernoulli.h"
#include "random/geometric.h"

namespace discreet {

class DiscreteLaplaceSampler {
 public:
  /// InvalidParameter: rate not positive, or below GeometricSampler::kRateMin.
  static Result<DiscreteLaplaceSampler> make(Rational rate);

  std::int64_t draw(RandomSource& random) const;
  void draw_many(std::span<std::int64_t> out, RandomSource& random) const;

  const Rational& rate() const { return magnitude_.rate(); }
  const GeometricSampler& magnitude() const { return magnitude_; }
  /// The coin for Z != 0 as digits; bulk draws use it.
  CoinDigits nonzero_digits() const { return nonzero_digits_; }
  bool decide_nonzero(unsigned known, RandomSource& random) const;

 private:
  explicit DiscreteLaplaceSampler(GeometricSampler magnitude);

  GeometricSampler magnitude_;
  CoinDigits nonzero_digits_;
};

}  // namespace discreet
