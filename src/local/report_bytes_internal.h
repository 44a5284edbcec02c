// Little-endian fields of reports.
#pragma once

#include <cstddef>
#include <cstdint>

namespace discreet::local {

inline void put(std::uint8_t* to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

inline std::uint64_t get(const std::uint8_t* from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}

/// Bytes that hold every number below `count`.
inline std::size_t bytes_below(std::uint64_t count) {
  std::size_t bytes = 1;
  while (bytes < 8 && (count - 1) >> (8 * bytes) != 0) ++bytes;
  return bytes;
}

inline bool bit(const std::uint8_t* bits, std::uint64_t index) {
  return ((bits[index / 8] >> (index % 8)) & 1) != 0;
}

/// Whether the bits beyond `count` in the last byte are zero.
inline bool tail_is_zero(const std::uint8_t* bits, std::uint64_t count) {
  return count % 8 == 0 || (bits[count / 8] >> (count % 8)) == 0;
}

}  // namespace discreet::local
