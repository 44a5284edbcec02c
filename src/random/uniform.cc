#include "random/uniform.h"

#include "base/saturating.h"

namespace discreet {

// The high word of word * bound is uniform once the low words that would favour some results are
// drawn again (Lemire 2019).
std::uint64_t uniform_below(std::uint64_t bound, RandomSource& random) {
  DISCREET_CHECK(bound > 0, "no integer lies below zero");
  UInt128 product = UInt128{random.bits64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t unfair = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < unfair) product = UInt128{random.bits64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

BigInt uniform_below(const BigInt& bound, RandomSource& random) {
  DISCREET_CHECK(bound > 0, "no integer lies below zero");
  const unsigned bits = static_cast<unsigned>(msb(bound)) + 1;
  for (;;) {
    BigInt drawn = 0;
    for (unsigned have = 0; have < bits; have += 64) drawn = (drawn << 64) | random.bits64();
    drawn >>= (64 - bits % 64) % 64;
    if (drawn < bound) return drawn;
  }
}

}  // namespace discreet
