// Coins with an exact chance of heads.
//
// Guarantee: P[draw] is exactly p, given uniform bits. One 64-bit word decides all but 2^-64 of the
// draws,
//            so the time taken does not depend on the outcome.
// Proof:     docs/proofs/exact_samplers.md
#pragma once

#include "random/probability.h"

namespace discreet {

class Bernoulli {
 public:
  explicit Bernoulli(Probability p);

  bool draw(RandomSource& random) const {
    const std::uint64_t drawn = random.bits64();
    if (drawn != first_) [[likely]]
      return (drawn < first_) | certain_;
    return certain_ || decide_beyond(p_, 64, random);
  }

 private:
  Probability p_;
  std::uint64_t first_ = 0;  // the first 64 binary digits of p
  bool certain_ = false;     // p is one, which has no 64-digit form
};

/// A single toss that is heads with chance exp(-x), x >= 0.
bool bernoulli_exp_minus(const Rational& x, RandomSource& random);

}  // namespace discreet
