// Repeatable random bits for tests and benchmarks. It lives under tests/, outside every library
// that ships, and the build refuses a library that links it: no analyst-facing path can be seeded.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "random/random_source.h"

namespace discreet {

/// ChaCha20 keyed by the seed: the same stream on every machine.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed);
  ~SeededRandom() override;

  std::uint64_t bits64() override;
  void fill(std::span<std::uint64_t> words) override;

 private:
  void refill();

  void* cipher_;
  std::array<std::uint64_t, 1024> buffer_{};
  std::size_t next_ = buffer_.size();
};

/// Hands out given words in order, then fails the test: for driving a sampler down a chosen path.
class ScriptedRandom final : public RandomSource {
 public:
  explicit ScriptedRandom(std::span<const std::uint64_t> words) : words_(words) {}

  std::uint64_t bits64() override;
  void fill(std::span<std::uint64_t> words) override;
  std::size_t used() const { return next_; }

 private:
  std::span<const std::uint64_t> words_;
  std::size_t next_ = 0;
};

}  // namespace discreet
