#include "prio/bytes.h"

namespace discreet::prio {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int digit_of(std::string_view digits, char c) {
  const std::size_t at = digits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

char lower(char c) {
  return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string to_hex(ByteSpan bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 15];
  }
  return text;
}

Result<Bytes> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return invalid_input("hexadecimal text needs an even number of digits");
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit_of(kHexDigits, lower(text[i]));
    const int low = digit_of(kHexDigits, lower(text[i + 1]));
    if (high < 0 || low < 0) return invalid_input("hexadecimal text holds another character");
    bytes.push_back(static_cast<std::uint8_t>(16 * high + low));
  }
  return bytes;
}

std::string to_base64url(ByteSpan bytes) {
  std::string text;
  std::uint32_t held = 0;
  int bits = 0;
  for (const std::uint8_t byte : bytes) {
    held = (held << 8 | byte) & 0xffff;
    for (bits += 8; bits >= 6; bits -= 6) text += kBase64Digits[held >> (bits - 6) & 63];
  }
  if (bits > 0) text += kBase64Digits[held << (6 - bits) & 63];
  return text;
}

Result<Bytes> from_base64url(std::string_view text) {
  Bytes bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const int digit = digit_of(kBase64Digits, c);
    if (digit < 0) return invalid_input("base64url text holds another character");
    held = (held << 6 | static_cast<std::uint32_t>(digit)) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<std::uint8_t>(held >> bits));
    }
  }
  const bool impossible_length = text.size() % 4 == 1;
  if (impossible_length || (held & ((1U << bits) - 1)) != 0)
    return invalid_input("base64url text ends in the middle of a byte");
  return bytes;
}

bool equal_constant_time(ByteSpan a, ByteSpan b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(a[i]) ^ static_cast<unsigned>(b[i]);
  return difference == 0;
}

}  // namespace discreet::prio
