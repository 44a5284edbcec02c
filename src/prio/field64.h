// Numbers modulo 2^64 - 2^32 + 1.
//
// Guarantee: every operation takes the same steps whatever the numbers are; values are always
// reduced. Method:    2^64 = 2^32 - 1 and 2^96 = -1 modulo p, so a product is reduced by shifts and
// two
//            conditional corrections; no Montgomery form is needed and a Factor is the number
//            itself.
#pragma once

#include <cstdint>
#include <cstring>

#include "prio/field_sums.h"

namespace discreet::prio {

__extension__ using Wide = unsigned __int128;

class Field64 {
 public:
  static constexpr std::uint64_t kModulus = 0xffff'ffff'0000'0001;
  static constexpr std::size_t kBytes = 8;
  static constexpr std::size_t kWords = 1;
  static constexpr int kRootBits = 32;  ///< roots of unity of order 2^32 and below exist
  using Integer = std::uint64_t;
  using Factor = Field64;

  constexpr Field64() = default;
  /// `value` must be below the modulus.
  constexpr explicit Field64(Integer value) : value_(value) {}

  constexpr Integer integer() const { return value_; }
  constexpr const Field64& factor() const { return *this; }
  constexpr Field64 element() const { return *this; }

  friend constexpr Field64 operator+(Field64 a, Field64 b) {
    return Field64(subtract(a.value_, kModulus - b.value_));
  }
  friend constexpr Field64 operator-(Field64 a, Field64 b) {
    return Field64(subtract(a.value_, b.value_));
  }
  friend constexpr Field64 operator*(Field64 a, Field64 b) {
    return reduce(Wide{a.value_} * b.value_);
  }
  Field64& operator+=(Field64 b) { return *this = *this + b; }
  Field64& operator-=(Field64 b) { return *this = *this - b; }
  friend constexpr bool operator==(Field64, Field64) = default;

  /// An element of order 2^32: 7^(2^32 - 1).
  static constexpr Field64 root_generator();

  /// A sum of products that is reduced once, at the end. Up to 2^31 terms.
  class Sum {
   public:
    void add(Field64 a, Field64 b) {
      const Wide product = Wide{a.value_} * b.value_;
      low_ += product;
      high_ += low_ < product;
    }
    Field64 value() const { return reduce(low_) - Field64(high_ << 32); }  // 2^128 = -2^32
    /// The same, for terms of which neither was a Factor.
    Field64 value_of_elements() const { return value(); }

   private:
    Wide low_ = 0;
    std::uint64_t high_ = 0;
  };

  /// a += b on elements as words, `count` of them: how servers add up shares.
  static void add_words(std::uint64_t* a, const std::uint64_t* b, std::size_t count) {
    if (count == 1)
      *a = (Field64(*a) + Field64(*b)).value_;
    else
      add_elements64(a, b, count);
  }

  /// Little endian; false when the bytes hold a number that is not reduced.
  static bool load(const std::uint8_t* bytes, Field64& out) {
    std::memcpy(&out.value_, bytes, kBytes);
    return out.value_ < kModulus;
  }
  void store(std::uint8_t* bytes) const { std::memcpy(bytes, &value_, kBytes); }
  static Field64 from_words(const std::uint64_t* words) { return Field64(words[0]); }
  void to_words(std::uint64_t* words) const { words[0] = value_; }

 private:
  /// a - b, plus p if that is negative, for a < p and b <= p: modulo 2^64, p is 1 - 2^32, and 2^32
  /// - 1 is the borrow spread over half a word.
  static constexpr std::uint64_t subtract(std::uint64_t a, std::uint64_t b) {
    std::uint64_t difference = 0;
    const bool below = __builtin_sub_overflow(a, b, &difference);
    return difference - static_cast<std::uint32_t>(0U - std::uint32_t{below});
  }
  static constexpr Field64 reduce(Wide product) {
    constexpr std::uint64_t kLow32 = 0xffff'ffff;
    const auto low = static_cast<std::uint64_t>(product);
    const auto high = static_cast<std::uint64_t>(product >> 64);
    // low + (high mod 2^32) (2^32 - 1) - (high >> 32)
    std::uint64_t result = low - (high >> 32);
    result -= kLow32 & (0 - std::uint64_t{low < high >> 32});
    const std::uint64_t more = (high & kLow32) * kLow32;
    const std::uint64_t sum = result + more;
    result = sum + (kLow32 & (0 - std::uint64_t{sum < more}));
    return Field64(result - (kModulus & (0 - std::uint64_t{result >= kModulus})));
  }

  std::uint64_t value_ = 0;
};

template <class F>
constexpr typename F::Factor power(typename F::Factor base, Wide exponent);

}  // namespace discreet::prio
