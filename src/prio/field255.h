// Numbers modulo 2^255 - 19: the values at the leaves of Poplar1's tree, where soundness needs a
// larger field than 64 bits.
//
// Guarantee: every operation takes the same steps whatever the numbers are; values are always
//            reduced.
// Method:    four limbs of 64 bits; 2^256 = 38 and 2^255 = 19 modulo p, so a product is folded
// twice
//            and corrected once.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "prio/field64.h"

namespace discreet::prio {

class Field255 {
 public:
  static constexpr std::size_t kBytes = 32;
  static constexpr std::size_t kWords = 4;
  /// Candidates drawn from a stream drop the bit above the modulus (draft, section 6.2).
  static constexpr std::uint8_t kTopByteMask = 0x7f;

  constexpr Field255() = default;
  constexpr explicit Field255(std::uint64_t value) : limbs_{value, 0, 0, 0} {}

  friend constexpr Field255 operator+(const Field255& a, const Field255& b) {
    Field255 sum;
    Wide carry = 0;
    for (int i = 0; i < 4; ++i) {
      carry += Wide{a.limbs_[i]} + b.limbs_[i];
      sum.limbs_[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    return sum.reduced();
  }
  friend constexpr Field255 operator-(const Field255& a, const Field255& b) {
    Field255 difference;
    std::uint64_t borrow = 0;
    for (int i = 0; i < 4; ++i) {
      const Wide step = Wide{a.limbs_[i]} - b.limbs_[i] - borrow;
      difference.limbs_[i] = static_cast<std::uint64_t>(step);
      borrow = static_cast<std::uint64_t>(step >> 64) & 1;
    }
    // Below zero the limbs hold a - b + 2^256, which is the result + 2^255 + 19.
    const std::uint64_t below = 0 - borrow;
    std::uint64_t take = below & 19;
    for (std::uint64_t& limb : difference.limbs_) {
      const Wide step = Wide{limb} - take;
      limb = static_cast<std::uint64_t>(step);
      take = static_cast<std::uint64_t>(step >> 64) & 1;
    }
    difference.limbs_[3] ^= below & kTopBit;
    return difference;
  }
  friend constexpr Field255 operator*(const Field255& a, const Field255& b) {
    std::uint64_t product[8] = {};
    for (int i = 0; i < 4; ++i) {
      Wide carry = 0;
      for (int j = 0; j < 4; ++j) {
        carry += Wide{a.limbs_[i]} * b.limbs_[j] + product[i + j];
        product[i + j] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
      }
      product[i + 4] = static_cast<std::uint64_t>(carry);
    }
    Field255 folded;
    Wide carry = 0;
    for (int i = 0; i < 4; ++i) {
      carry += Wide{product[i + 4]} * 38 + product[i];
      folded.limbs_[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    // What stands at 2^255 and above is less than 80.
    Wide more = Wide{static_cast<std::uint64_t>(carry) << 1 | folded.limbs_[3] >> 63} * 19;
    folded.limbs_[3] &= ~kTopBit;
    for (std::uint64_t& limb : folded.limbs_) {
      more += limb;
      limb = static_cast<std::uint64_t>(more);
      more >>= 64;
    }
    return folded.reduced();
  }
  constexpr Field255& operator+=(const Field255& b) { return *this = *this + b; }
  constexpr Field255& operator-=(const Field255& b) { return *this = *this - b; }
  friend constexpr bool operator==(const Field255& a, const Field255& b) {
    std::uint64_t different = 0;
    for (int i = 0; i < 4; ++i) different |= a.limbs_[i] ^ b.limbs_[i];
    return different == 0;
  }

  /// Little endian; false when the bytes hold a number that is not reduced.
  static bool load(const std::uint8_t* bytes, Field255& out) {
    std::memcpy(out.limbs_.data(), bytes, kBytes);
    const Field255 again = out.reduced();
    return (out.limbs_[3] & kTopBit) == 0 && again == out;
  }
  void store(std::uint8_t* bytes) const { std::memcpy(bytes, limbs_.data(), kBytes); }
  static Field255 from_words(const std::uint64_t* words) {
    Field255 out;
    std::memcpy(out.limbs_.data(), words, kBytes);
    return out;
  }
  void to_words(std::uint64_t* words) const { std::memcpy(words, limbs_.data(), kBytes); }

 private:
  static constexpr std::uint64_t kTopBit = std::uint64_t{1} << 63;

  /// For a number below 2p: it is at least p exactly if adding 19 reaches 2^255, and then the sum
  /// without that bit is the number less p.
  constexpr Field255 reduced() const {
    Field255 plus;
    Wide carry = 19;
    for (int i = 0; i < 4; ++i) {
      carry += limbs_[i];
      plus.limbs_[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    const std::uint64_t over = 0 - (plus.limbs_[3] >> 63);
    plus.limbs_[3] &= ~kTopBit;
    for (int i = 0; i < 4; ++i) plus.limbs_[i] = (plus.limbs_[i] & over) | (limbs_[i] & ~over);
    return plus;
  }

  std::array<std::uint64_t, 4> limbs_{};
};

}  // namespace discreet::prio
