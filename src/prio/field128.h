// Numbers modulo p = 2^128 - 28 * 2^64 + 1.
//
// Guarantee: every operation takes the same steps whatever the numbers are; values are always
// reduced. Method:    Montgomery's, with R = 2^128. Since p = 1 modulo 2^64, the quotient digits
// are the digits
//            of the number themselves (Montgomery 1985; subtracting instead of adding avoids a
//            carry). Elements stay as plain integers. What multiplies them - roots, weights,
//            randomness - is kept as a Factor, times R; element * factor is then one Montgomery
//            product and a plain integer again, so that no share is ever converted.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "prio/field64.h"

namespace discreet::prio {

class Field128 {
 public:
  static constexpr Wide kModulus = (Wide{0xffff'ffff'ffff'ffe4} << 64) | 1;
  static constexpr std::size_t kBytes = 16;
  static constexpr std::size_t kWords = 2;
  static constexpr int kRootBits = 66;
  using Integer = Wide;

  class Factor {
   public:
    constexpr Factor() = default;
    constexpr Field128 element() const { return Field128(multiply(value_, 1)); }
    constexpr Factor operator*(Factor b) const { return Factor(multiply(value_, b.value_)); }
    constexpr Factor operator+(Factor b) const {
      return Factor((Field128(value_) + Field128(b.value_)).value_);
    }
    constexpr Factor operator-(Factor b) const {
      return Factor((Field128(value_) - Field128(b.value_)).value_);
    }
    friend constexpr bool operator==(Factor, Factor) = default;

   private:
    friend class Field128;
    constexpr explicit Factor(Wide value) : value_(value) {}
    Wide value_ = 0;
  };

  constexpr Field128() = default;
  /// `value` must be below the modulus.
  constexpr explicit Field128(Integer value) : value_(value) {}

  constexpr Integer integer() const { return value_; }
  constexpr Factor factor() const { return Factor(multiply(value_, r_squared())); }

  friend constexpr Field128 operator+(Field128 a, Field128 b) {
    return Field128(subtract(a.value_, kModulus - b.value_));
  }
  friend constexpr Field128 operator-(Field128 a, Field128 b) {
    return Field128(subtract(a.value_, b.value_));
  }
  constexpr Field128 operator*(Factor b) const { return Field128(multiply(value_, b.value_)); }
  Field128& operator+=(Field128 b) { return *this = *this + b; }
  Field128& operator-=(Field128 b) { return *this = *this - b; }
  friend constexpr bool operator==(Field128, Field128) = default;

  /// An element of order 2^66: 7^4611686018427387897.
  static constexpr Factor root_generator();

  /// A sum of products that is reduced once, at the end. Up to 2^31 terms.
  class Sum {
   public:
    void add(Field128 a, Factor b) { add(a.value_, b.value_); }
    void add(Field128 a, Field128 b) { add(a.value_, b.value_); }
    Field128 value() const {
      // The columns weigh 1, 2^64 and 2^128, their carries 2^128 more.
      const Wide word1 = (low_.sum >> 64) + static_cast<std::uint64_t>(middle_.sum);
      const Wide word2 = (word1 >> 64) + (middle_.sum >> 64) + low_.carries;
      Wide high = high_.sum;
      const std::uint64_t over = __builtin_add_overflow(high, word2, &high);
      const std::uint64_t over_middle =
          __builtin_add_overflow(high, Wide{middle_.carries} << 64, &high);
      // 2^256 / R = 2^128 = 28 * 2^64 - 1 modulo p.
      const Wide top = Wide{high_.carries} + over + over_middle;
      return Field128(reduce(static_cast<std::uint64_t>(low_.sum),
                             static_cast<std::uint64_t>(word1), high)) +
             Field128(top * ((Wide{28} << 64) - 1));
    }
    /// The same, for terms of which neither was a Factor: they lack one R.
    Field128 value_of_elements() const { return value() * Factor(r_cubed_factor()); }

   private:
    // Three columns, each with its own carries: the chains of additions are short and independent.
    void add(Wide a, Wide b) {
      const auto a0 = static_cast<std::uint64_t>(a), a1 = static_cast<std::uint64_t>(a >> 64);
      const auto b0 = static_cast<std::uint64_t>(b), b1 = static_cast<std::uint64_t>(b >> 64);
      low_.add(Wide{a0} * b0);
      middle_.add(Wide{a0} * b1);
      middle_.add(Wide{a1} * b0);
      high_.add(Wide{a1} * b1);
    }
    struct Column {
      Wide sum = 0;
      std::uint64_t carries = 0;
      void add(Wide product) {
        carries += static_cast<std::uint64_t>(__builtin_add_overflow(sum, product, &sum));
      }
    };
    Column low_, middle_, high_;
  };

  /// a += b on elements as words, `count` of them: how servers add up shares.
  static void add_words(std::uint64_t* a, const std::uint64_t* b, std::size_t count) {
    add_elements128(a, b, count);
  }

  /// Little endian; false when the bytes hold a number that is not reduced.
  static bool load(const std::uint8_t* bytes, Field128& out) {
    std::memcpy(&out.value_, bytes, kBytes);
    return out.value_ < kModulus;
  }
  void store(std::uint8_t* bytes) const { std::memcpy(bytes, &value_, kBytes); }
  static Field128 from_words(const std::uint64_t* words) {
    return Field128((Wide{words[1]} << 64) | words[0]);
  }
  void to_words(std::uint64_t* words) const {
    words[0] = static_cast<std::uint64_t>(value_);
    words[1] = static_cast<std::uint64_t>(value_ >> 64);
  }

 private:
  static constexpr std::uint64_t kHigh = 0xffff'ffff'ffff'ffe4;  // p = kHigh 2^64 + 1

  /// a - b, plus p if that is negative: reduced for a < p and b <= p.
  static constexpr Wide subtract(Wide a, Wide b) {
#if defined(__x86_64__)
    if (!std::is_constant_evaluated()) {
      auto low = static_cast<std::uint64_t>(a), high = static_cast<std::uint64_t>(a >> 64);
      std::uint64_t below = 0;
      __asm__(
          "subq %[b0], %[low]\n\tsbbq %[b1], %[high]\n\tsbbq %[below], %[below]"
          : [low] "+&r"(low), [high] "+&r"(high), [below] "+&r"(below)
          : [b0] "rm"(static_cast<std::uint64_t>(b)), [b1] "rm"(static_cast<std::uint64_t>(b >> 64))
          : "cc");
      return ((Wide{high} << 64) | low) + ((Wide{below & kHigh} << 64) | (below & 1));
    }
#endif
    return (a - b) + (kModulus & (Wide{0} - Wide{a < b}));
  }

  /// (t0 + t1 2^64 + high 2^128) / R modulo p.
  static constexpr Wide reduce(std::uint64_t t0, std::uint64_t t1, Wide high) {
    // Take away t0 p, which clears the lowest word, then the next word times p 2^64.
    const Wide first = Wide{t0} * kHigh;
    const auto first_low = static_cast<std::uint64_t>(first);
    const std::uint64_t digit = t1 - first_low;
    const Wide taken = Wide{digit} * kHigh + ((first >> 64) + Wide{t1 < first_low});
    Wide result = 0;
    const bool below = __builtin_sub_overflow(high, taken, &result);
    const Wide corrected = result + (kModulus & (Wide{0} - Wide{below}));
    return corrected - (kModulus & (Wide{0} - Wide{corrected >= kModulus}));
  }

  /// a b / R modulo p, for reduced a and b: then the result needs one correction only.
  static constexpr Wide multiply(Wide a, Wide b) {
#if defined(__x86_64__)
    if (!std::is_constant_evaluated()) return multiply_in_registers(a, b);
#endif
    const auto a0 = static_cast<std::uint64_t>(a), a1 = static_cast<std::uint64_t>(a >> 64);
    const auto b0 = static_cast<std::uint64_t>(b), b1 = static_cast<std::uint64_t>(b >> 64);
    const Wide low = Wide{a0} * b0, cross_a = Wide{a0} * b1, cross_b = Wide{a1} * b0;
    const Wide middle =
        (low >> 64) + static_cast<std::uint64_t>(cross_a) + static_cast<std::uint64_t>(cross_b);
    const Wide high = Wide{a1} * b1 + (cross_a >> 64) + (cross_b >> 64) + (middle >> 64);
    return reduce(static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(middle), high);
  }

#if defined(__x86_64__)
  /// The same; compilers lose the carries between 128-bit sums, which here are the larger part.
  static Wide multiply_in_registers(Wide a, Wide b) {
    const auto a0 = static_cast<std::uint64_t>(a), a1 = static_cast<std::uint64_t>(a >> 64);
    const auto b0 = static_cast<std::uint64_t>(b), b1 = static_cast<std::uint64_t>(b >> 64);
    const Wide low = Wide{a0} * b0, cross_a = Wide{a0} * b1, cross_b = Wide{a1} * b0;
    const Wide top = Wide{a1} * b1;
    const auto t0 = static_cast<std::uint64_t>(low);
    auto t1 = static_cast<std::uint64_t>(low >> 64);
    auto t2 = static_cast<std::uint64_t>(top), t3 = static_cast<std::uint64_t>(top >> 64);
    const Wide first = Wide{t0} * kHigh;
    __asm__(
        "addq %[x0], %[t1]\n\tadcq %[x1], %[t2]\n\tadcq $0, %[t3]\n\t"
        "addq %[y0], %[t1]\n\tadcq %[y1], %[t2]\n\tadcq $0, %[t3]"
        : [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3)
        : [x0] "rm"(static_cast<std::uint64_t>(cross_a)),
          [x1] "rm"(static_cast<std::uint64_t>(cross_a >> 64)),
          [y0] "rm"(static_cast<std::uint64_t>(cross_b)),
          [y1] "rm"(static_cast<std::uint64_t>(cross_b >> 64))
        : "cc");
    std::uint64_t below = 0;
    __asm__("subq %[f0], %[t1]\n\tsbbq %[f1], %[t2]\n\tsbbq $0, %[t3]\n\tsbbq %[m], %[m]"
            : [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [m] "+&r"(below)
            : [f0] "rm"(static_cast<std::uint64_t>(first)), [f1] "rm"(static_cast<std::uint64_t>(
                                                                first >> 64))
            : "cc");
    const Wide second = Wide{t1} * kHigh;
    __asm__("subq %[s0], %[t2]\n\tsbbq %[s1], %[t3]\n\tsbbq $0, %[m]"
            : [t2] "+&r"(t2), [t3] "+&r"(t3), [m] "+&r"(below)
            : [s0] "rm"(static_cast<std::uint64_t>(second)), [s1] "rm"(static_cast<std::uint64_t>(
                                                                 second >> 64))
            : "cc");
    __asm__("addq %[one], %[t2]\n\tadcq %[high], %[t3]"
            : [t2] "+&r"(t2), [t3] "+&r"(t3)
            : [one] "r"(below & 1), [high] "r"(below & kHigh)
            : "cc");
    return (Wide{t3} << 64) | t2;
  }
#endif

  /// 2^(128 + doublings) modulo p.
  static constexpr Wide doubled(int doublings) {
    Field128 value(Wide{0} - kModulus);  // 2^128 - p
    for (int i = 0; i < doublings; ++i) value = value + value;
    return value.value_;
  }
  static constexpr Wide r_squared() {
    constexpr Wide kValue = doubled(128);
    return kValue;
  }
  static constexpr Wide r_cubed_factor() { return r_squared(); }  // the number R as a Factor

  Wide value_ = 0;
};

template <class F>
constexpr typename F::Factor power(typename F::Factor base, Wide exponent) {
  typename F::Factor result = F(1).factor();
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result * base;
    base = base * base;
  }
  return result;
}

constexpr Field64 Field64::root_generator() {
  return power<Field64>(Field64(7), 0xffff'ffff);
}
constexpr Field128::Factor Field128::root_generator() {
  return power<Field128>(Field128(7).factor(), 4611686018427387897ULL);
}

/// 1 / a for a public number (the exponent is public, so the steps are the same for all).
template <class F>
typename F::Factor inverse(typename F::Factor a) {
  return power<F>(a, static_cast<Wide>(F::kModulus) - 2);
}

/// The root of unity of order n, a power of two: a power of root_generator().
template <class F>
typename F::Factor root_of_unity(std::size_t n) {
  int bits = 0;
  while ((std::size_t{1} << bits) < n) ++bits;
  typename F::Factor root = F::root_generator();
  for (int i = bits; i < F::kRootBits; ++i) root = root * root;
  return root;
}

}  // namespace discreet::prio
