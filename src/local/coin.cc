#include "local/coin.h"

#include <limits>

namespace discreet::local {

Coin Coin::at_least(const Probability& p) {
  const auto digits = static_cast<std::uint64_t>(p.digits(64));
  DISCREET_CHECK(digits < std::numeric_limits<std::uint64_t>::max(), "no coin is surer than this");
  return Coin(digits + 1);
}

Coin Coin::half_at_least(const Probability& p) {
  return Coin(static_cast<std::uint64_t>(p.digits(63)) + 1);
}

Coin Coin::at_most(const Probability& p) {
  return Coin(static_cast<std::uint64_t>(p.digits(64)));
}

// A toss compares a random number with heads_, highest digit first; a word of random bits is that
// digit of 64 numbers at once. Lanes equal in all 64 digits are not below, so they are tails.
void Coin::toss_many(std::span<std::uint64_t> words, RandomSource& random) const {
  for (auto& word : words) {
    std::uint64_t below = 0, open = ~std::uint64_t{0};
    for (int digit = 63; digit >= 0 && open != 0; --digit) {
      const std::uint64_t drawn = random.bits64();
      if (((heads_ >> digit) & 1) != 0) {
        below |= open & ~drawn;
        open &= drawn;
      } else {
        open &= ~drawn;
      }
    }
    word = below;
  }
}

Rational Coin::exact() const {
  return Rational(BigInt(heads_), BigInt(1) << 64);
}

double Coin::chance() const {
  return static_cast<double>(heads_) * 0x1p-64;
}

}  // namespace discreet::local
