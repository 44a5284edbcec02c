// Decoding local hashing: which of the values 0, 1, 2, ... each report supports, counted.
//
// The hash of value v + 1 is that of v plus a, modulo 2^31 - 1, so a register of values advances by
// one addition, and support is one comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace discreet::local {

/// Value v is supported when (start + v * step) mod (2^31 - 1) < length.
struct HashWalk {
  std::uint32_t step = 0, start = 0, length = 0;
};

/// Counts are padded to this many, a whole number of the widest registers.
inline constexpr std::size_t kTileLanes = 64;

/// Adds one to counts[v] for every walk that supports v.
void count_support(std::span<const HashWalk> walks, std::span<std::int64_t> counts);

}  // namespace discreet::local
