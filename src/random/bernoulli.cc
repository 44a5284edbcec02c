#include "random/bernoulli.h"

namespace discreet {

Bernoulli::Bernoulli(Probability p) : p_(std::move(p)) {
  const BigInt digits = p_.digits(64);
  certain_ = digits == BigInt(1) << 64;
  first_ = certain_ ? 0 : static_cast<std::uint64_t>(digits);
}

bool bernoulli_exp_minus(const Rational& x, RandomSource& random) {
  return decide(Probability::exp_minus(x), random.bits64(), random);
}

}  // namespace discreet
