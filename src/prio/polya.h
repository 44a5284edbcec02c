// A share of a geometric variable: the sum of `parts` independent ones is exactly geometric.
//
// P[X = x] = C(x + 1/parts - 1, x) r^x (1 - r)^(1/parts), r = exp(-rate): the negative binomial of
// shape 1/parts. Drawn by rejection from the geometric variable of the same rate, kept with chance
// prod_{i=1..x} (parts (i - 1) + 1) / (parts i), a product of fractions, one exact coin each.
// Guarantee: the distribution is exactly the stated one, given uniform bits.
// Assumes:   nobody measures the time of a draw, which grows with the value (unlike those of
// random/). Proof:     docs/proofs/prio_noise.md
#pragma once

#include <cstdint>

#include "random/geometric.h"

namespace discreet::prio {

class PolyaSampler {
 public:
  /// InvalidParameter: rate not positive or below 2^-20 (a draw takes about 1/rate steps), or no
  /// parts.
  static Result<PolyaSampler> make(const Rational& rate, unsigned parts);

  std::int64_t draw(RandomSource& random) const;

 private:
  PolyaSampler(GeometricSampler whole, unsigned parts) : whole_(std::move(whole)), parts_(parts) {}
  bool keep(std::int64_t value, RandomSource& random) const;

  GeometricSampler whole_;
  unsigned parts_;
};

}  // namespace discreet::prio
