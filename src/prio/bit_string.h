// A string of bits, the first bit the highest of the first byte: what Poplar1's clients hold, and
// the prefixes servers ask about.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "prio/bytes.h"

namespace discreet::prio {

class BitString {
 public:
  BitString() = default;
  /// The bytes' bits up to `length`; later bits are dropped. There are enough bytes.
  BitString(ByteSpan bytes, std::size_t length)
      : bytes_(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>((length + 7) / 8)),
        length_(length) {
    if (length % 8 != 0) bytes_.back() &= static_cast<std::uint8_t>(0xff00U >> (length % 8));
  }
  /// The bits of a text, eight a character.
  static BitString of_text(std::string_view text) { return {as_bytes(text), 8 * text.size()}; }

  std::size_t size() const { return length_; }
  bool empty() const { return length_ == 0; }
  /// 0 or 1.
  std::uint8_t bit(std::size_t at) const {
    return static_cast<std::uint8_t>(bytes_[at / 8] >> (7 - at % 8) & 1);
  }
  void push_back(bool bit) {
    if (length_ % 8 == 0) bytes_.push_back(0);
    bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | unsigned{bit} << (7 - length_ % 8));
    ++length_;
  }
  BitString prefix(std::size_t length) const { return {bytes_, length}; }
  /// Padded with zero bits to whole bytes.
  ByteSpan bytes() const { return bytes_; }

  /// Lexicographic for strings of one length, which is the only use.
  friend auto operator<=>(const BitString&, const BitString&) = default;

 private:
  Bytes bytes_;
  std::size_t length_ = 0;
};

}  // namespace discreet::prio
