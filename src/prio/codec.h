// Messages as bytes: big-endian integers and length-prefixed strings, as in TLS (RFC 8446, section
// 3).
//
// Guarantee: reading never passes the end; a reader that failed once keeps failing, and `end()` is
// true
//            only when everything was read and nothing failed.
#pragma once

#include <array>
#include <cstring>

#include "prio/bytes.h"

namespace discreet::prio {

class Writer {
 public:
  template <class Integer>
  Writer& integer(Integer value) {
    for (int shift = 8 * static_cast<int>(sizeof value) - 8; shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> shift));
    return *this;
  }
  Writer& raw(ByteSpan bytes) {
    append(bytes_, bytes);
    return *this;
  }
  /// opaque<0..2^16-1> and opaque<0..2^32-1>.
  Writer& opaque16(ByteSpan bytes) {
    return integer(static_cast<std::uint16_t>(bytes.size())).raw(bytes);
  }
  Writer& opaque32(ByteSpan bytes) {
    return integer(static_cast<std::uint32_t>(bytes.size())).raw(bytes);
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

class Reader {
 public:
  explicit Reader(ByteSpan bytes) : rest_(bytes) {}

  template <class Integer>
  Integer integer() {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : raw(sizeof(Integer))) value = value << 8 | byte;
    return static_cast<Integer>(value);
  }
  ByteSpan raw(std::size_t size) {
    if (failed_ || size > rest_.size()) {
      failed_ = true;
      return {};
    }
    const ByteSpan out = rest_.first(size);
    rest_ = rest_.subspan(size);
    return out;
  }
  Bytes bytes(std::size_t size) {
    const ByteSpan out = raw(size);
    return {out.begin(), out.end()};
  }
  template <std::size_t kSize>
  std::array<std::uint8_t, kSize> array() {
    std::array<std::uint8_t, kSize> out{};
    const ByteSpan from = raw(kSize);
    if (from.size() == kSize) std::memcpy(out.data(), from.data(), kSize);
    return out;
  }
  ByteSpan opaque16() { return raw(integer<std::uint16_t>()); }
  ByteSpan opaque32() { return raw(integer<std::uint32_t>()); }
  Bytes bytes16() {
    const ByteSpan out = opaque16();
    return {out.begin(), out.end()};
  }
  Bytes bytes32() {
    const ByteSpan out = opaque32();
    return {out.begin(), out.end()};
  }

  bool empty() const { return rest_.empty() || failed_; }
  bool failed() const { return failed_; }
  void fail() { failed_ = true; }
  bool end() const { return !failed_ && rest_.empty(); }

 private:
  ByteSpan rest_;
  bool failed_ = false;
};

}  // namespace discreet::prio
