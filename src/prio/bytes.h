// Byte strings, and the two ways they are written down: hexadecimal for people and files, base64url
// for addresses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace discreet::prio {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline void append(Bytes& to, ByteSpan more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::string to_hex(ByteSpan bytes);
/// InvalidInput: not an even number of hexadecimal digits.
Result<Bytes> from_hex(std::string_view text);

/// Without padding (RFC 4648 section 5).
std::string to_base64url(ByteSpan bytes);
/// InvalidInput: padding, other characters, or bits that no encoder would leave set.
Result<Bytes> from_base64url(std::string_view text);

/// Compares in time that depends on the lengths only.
bool equal_constant_time(ByteSpan a, ByteSpan b);

}  // namespace discreet::prio
