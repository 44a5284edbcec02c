// Integer arithmetic that stops at the limits instead of wrapping.
//
// A wrapped sum changes by about 2^64 when one person joins, which no sensitivity allows for; a
// saturated one changes by no more than the exact one would.
#pragma once

#include <cstdint>
#include <limits>

namespace discreet {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

inline std::int64_t saturate(Int128 value) {
  constexpr Int128 kMin = std::numeric_limits<std::int64_t>::min();
  constexpr Int128 kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(value < kMin ? kMin : value > kMax ? kMax : value);
}

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  return saturate(Int128{a} + b);
}
inline std::int64_t saturating_sub(std::int64_t a, std::int64_t b) {
  return saturate(Int128{a} - b);
}
inline std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  return saturate(Int128{a} * b);
}

}  // namespace discreet
