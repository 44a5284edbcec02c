// Public hash functions of local protocols. They carry no privacy: a report is private whatever the
// hash is; they only have to spread values evenly, so that estimates are unbiased.
//
// Both families are x -> (a x + b) mod p with p prime, which is pairwise independent for a, b drawn
// from [0, p) (Carter and Wegman 1979), then cut into equal ranges. Advancing x by one adds a,
// which is what makes decoding fast.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/saturating.h"

namespace discreet::local {

/// The small family: keys below 2^31 - 1, used for values that are numbered.
struct SmallHash {
  static constexpr std::uint32_t kPrime = 0x7fffffff;
  std::uint32_t a = 0, b = 0;

  std::uint32_t point(std::uint64_t x) const {
    return static_cast<std::uint32_t>((std::uint64_t{a} * x + b) % kPrime);
  }
  /// Which of `ranges` parts of the line the point falls into.
  std::uint32_t bucket(std::uint64_t x, std::uint32_t ranges) const {
    return static_cast<std::uint32_t>((std::uint64_t{point(x)} * ranges) >> 31);
  }
  /// The first point of a bucket; that of bucket `ranges` is the end of the line.
  static std::uint32_t first_point(std::uint64_t bucket, std::uint32_t ranges) {
    const auto first = ((bucket << 31) + ranges - 1) / ranges;
    return static_cast<std::uint32_t>(first > kPrime ? kPrime : first);
  }
};

/// The large family: keys below 2^61 - 1, used for text and for public sketches.
struct LargeHash {
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
  std::uint64_t a = 0, b = 0;

  std::uint64_t point(std::uint64_t x) const {
    const UInt128 sum = UInt128{a} * x + b;
    const auto folded =
        static_cast<std::uint64_t>(sum & kPrime) + static_cast<std::uint64_t>(sum >> 61);
    return folded >= kPrime ? folded - kPrime : folded;
  }
  std::uint32_t bucket(std::uint64_t x, std::uint32_t ranges) const {
    return static_cast<std::uint32_t>((UInt128{point(x)} * ranges) >> 61);
  }
};

/// Function `index` of the family a collection announces by its seed.
LargeHash large_hash(std::uint64_t seed, std::uint64_t index);

/// The key of a text: 61 bits, the same in every client.
std::uint64_t text_key(std::string_view text);

/// Steele, Lea and Flood 2014: a bijection of 64-bit words that looks random.
std::uint64_t mix64(std::uint64_t x);

}  // namespace discreet::local
