// Fast random numbers for work on what has already been released: starting points, the order of
// steps, rounding to records. Never for noise: privacy does not rest on them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/saturating.h"
#include "random/random_source.h"

namespace discreet::synth {

/// xoshiro256** (Blackman and Vigna 2018), started from the secure source.
class Dice {
 public:
  explicit Dice(RandomSource& random) {
    for (auto& word : state_) word = random.bits64();
    state_[0] |= 1;  // all zeros would stay zero
  }
  /// A stream of its own for task number `stream`.
  Dice(std::uint64_t seed, std::uint64_t stream) {
    std::uint64_t x = seed + 0x9e3779b97f4a7c15ull * (stream + 1);
    for (auto& word : state_) {  // splitmix64
      x += 0x9e3779b97f4a7c15ull;
      std::uint64_t z = x;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  /// Below `bound`, near enough to uniform (bias under 2^-32 for bounds below 2^32).
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((UInt128{bits()} * bound) >> 64);
  }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double normal() {
    const double u = 1 - unit(), v = unit();
    return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

 private:
  std::uint64_t state_[4] = {};
};

}  // namespace discreet::synth
