#include "privacy/group.h"

#include <cmath>

namespace discreet {

ApproxDp group_privacy(ApproxDp one, std::uint64_t size) {
  if (size == 0) return {Epsilon::zero(), Delta::zero()};
  if (size == 1) return one;
  const Epsilon epsilon = size * one.epsilon;
  if (one.delta.value() == 0) return {epsilon, one.delta};
  // The sum 1 + e^eps + ... + e^{(k-1) eps}; for eps near zero the quotient of expm1 is ill-formed.
  const double count = count_up(size);
  const double factor = one.epsilon.value() == 0
                            ? count
                            : div_up(expm1_up(epsilon.value()), expm1_down(one.epsilon.value()));
  const double delta = mul_up(one.delta.value(), factor);
  return {epsilon, Delta::make(delta < 1 ? delta : 1).value()};
}

Rho group_privacy(Rho one, std::uint64_t size) {
  return size * (size * one);
}

}  // namespace discreet
