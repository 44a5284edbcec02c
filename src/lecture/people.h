// A generator for made-up people, the same for a seed on every machine. Never near a release: noise
// comes from a RandomSource.
#pragma once

#include <cstdint>

namespace discreet::lecture {

class MadeUp {
 public:
  explicit MadeUp(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x1234567ULL) {}

  std::uint64_t bits() {  // SplitMix64 (Steele, Lea and Flood 2014)
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Strictly between 0 and 1.
  double unit() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

 private:
  std::uint64_t state_;
};

}  // namespace discreet::lecture
