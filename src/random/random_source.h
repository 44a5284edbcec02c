// Where random bits come from. The one contact of the noise core with the outside, passed in by
// reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace discreet {

/// Independent uniform bits. Not safe for use by several threads at once: give each its own.
class RandomSource {
 public:
  RandomSource() = default;
  RandomSource(const RandomSource&) = delete;
  RandomSource& operator=(const RandomSource&) = delete;
  virtual ~RandomSource() = default;

  virtual std::uint64_t bits64() = 0;
  virtual void fill(std::span<std::uint64_t> words) = 0;
};

}  // namespace discreet
