#include "random/exp_powers.h"

#include <limits>

#include "random/probability.h"

namespace discreet {
namespace {

constexpr UInt128 kOne = std::numeric_limits<UInt128>::max();  // one, rounded down to 128 digits

// floor(a * b / 2^128).
UInt128 multiply_high(UInt128 a, UInt128 b) {
  const std::uint64_t a0 = static_cast<std::uint64_t>(a), a1 = static_cast<std::uint64_t>(a >> 64);
  const std::uint64_t b0 = static_cast<std::uint64_t>(b), b1 = static_cast<std::uint64_t>(b >> 64);
  const UInt128 low = UInt128{a0} * b0;
  const UInt128 middle = UInt128{a1} * b0 + static_cast<std::uint64_t>(low >> 64);
  const UInt128 other = UInt128{a0} * b1 + static_cast<std::uint64_t>(middle);
  return UInt128{a1} * b1 + (middle >> 64) + (other >> 64);
}

UInt128 to_uint128(const BigInt& value) {
  if ((value >> 128) != 0) return kOne;
  const BigInt mask = (BigInt(1) << 64) - 1;
  return (UInt128{static_cast<std::uint64_t>(value >> 64)} << 64) |
         static_cast<std::uint64_t>(value & mask);
}

}  // namespace

// Errors, in units of 2^-128. 124 squarings at most double the absolute error of a number below one
// each time, so with 160 bits to spare `power` is off by less than 2^-30 units and every table
// entry by less than two. A product of two numbers below one that are off by ea and eb is off by at
// most ea + eb + 2; low() takes 32 factors, so it is off by less than 1 + 32 * 4 < kSlack. All
// roundings are downwards.
ExpPowers::ExpPowers(const Rational& unit) : unit_(unit) {
  DISCREET_CHECK(unit > 0, "the exponent must fall");
  constexpr unsigned kBits = 128 + 160;
  ScaledInterval power = exp_minus_scaled(unit, kBits);
  for (int nibble = 0; nibble < kNibbles; ++nibble) {
    BigInt entry = BigInt(1) << kBits;
    for (int v = 0; v < 16; ++v) {
      table_[nibble][v] = to_uint128(entry >> (kBits - 128));
      entry = (entry * power.low) >> kBits;
    }
    for (int i = 0; i < 4; ++i) power = squared(power, kBits);
  }
}

// All nibbles are multiplied in, zero or not, so that the time does not depend on n.
UInt128 ExpPowers::low(UInt128 n) const {
  UInt128 product = kOne;
  for (int nibble = 0; nibble < kNibbles; ++nibble, n >>= 4)
    product = multiply_high(product, table_[nibble][static_cast<unsigned>(n & 15)]);
  return product;
}

}  // namespace discreet
