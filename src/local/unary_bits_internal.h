// Rows of random bits as bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "local/coin.h"
#include "local/report_bytes_internal.h"

namespace discreet::local {

/// `count` tosses, packed; bits beyond are zero.
inline void toss_bits(const Coin& coin, std::uint64_t count, RandomSource& random,
                      std::span<std::uint8_t> out) {
  for (std::uint64_t first = 0; first < count; first += 64) {
    std::uint64_t word = 0;
    coin.toss_many({&word, 1}, random);
    const std::uint64_t left = count - first;
    if (left < 64) word &= (std::uint64_t{1} << left) - 1;
    put(out.data() + first / 8, word, left < 64 ? (left + 7) / 8 : 8);
  }
}

inline void set_bit(std::span<std::uint8_t> bits, std::uint64_t index, bool one) {
  const auto mask = static_cast<std::uint8_t>(1U << (index % 8));
  bits[index / 8] = static_cast<std::uint8_t>((bits[index / 8] & ~mask) | (one ? mask : 0));
}

}  // namespace discreet::local
