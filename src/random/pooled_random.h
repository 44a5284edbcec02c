// Random bits with a pool of noise beside them: what a statement will need is drawn while the
// engine runs, by whoever knows its distributions before a row is read.
//
// A NoiseAhead says what will be wanted; draw_noise() hands it out where it was said, and draws
// from the sampler where it was not, or where `random` has no pool. A seeded source has none, so
// what it gives does not depend on this file.
// Guarantee: draw_noise() has exactly the sampler's distribution. Each sample goes to one caller
//            once; what a statement asked for and did not use is wiped. How many samples come from
//            the pool is fixed by what was said beforehand, not by rows, noise or time.
// Thread safety: one thread at a time, as for every RandomSource; many of them may share a pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "random/noise_pool.h"
#include "random/random_source.h"

namespace discreet {

class DiscreteLaplaceSampler;
class DiscreteGaussianSampler;

class PooledRandom final : public RandomSource {
 public:
  /// The most samples of one distribution that a statement has drawn ahead; it draws the rest
  /// itself.
  static constexpr std::size_t kAheadMax = std::size_t{1} << 20;

  /// Both must outlive it.
  PooledRandom(RandomSource& bits, NoisePool& pool) : bits_(bits), pool_(pool) {}
  ~PooledRandom() override;

  std::uint64_t bits64() override { return bits_.bits64(); }
  void fill(std::span<std::uint64_t> words) override { bits_.fill(words); }

  /// Hands out what was said beforehand; how many of `out` that was, from the front.
  std::size_t take(NoiseKey::Kind kind, const Rational& parameter, std::span<std::int64_t> out);

 private:
  friend class NoiseAhead;
  struct Ahead {
    NoiseKey key;
    std::size_t left;                 // said, and not taken from the pool yet
    std::vector<std::int64_t> block;  // taken, and not handed out yet: from `next` on
    std::size_t next = 0;
  };
  void forget(std::size_t first);
  friend std::uint64_t noise_from_pool(const RandomSource& random);

  RandomSource& bits_;
  NoisePool& pool_;
  std::vector<Ahead> ahead_;
  std::uint64_t handed_out_ = 0;
};

/// What one statement will want. Forgotten when this ends.
class NoiseAhead {
 public:
  /// Does nothing where `random` has no pool.
  explicit NoiseAhead(RandomSource& random);
  ~NoiseAhead();
  NoiseAhead(const NoiseAhead&) = delete;
  NoiseAhead& operator=(const NoiseAhead&) = delete;

  /// Whether saying something is of use.
  bool has_pool() const { return random_ != nullptr; }
  void prepare(const DiscreteLaplaceSampler& sampler, std::size_t count);
  void prepare(const DiscreteGaussianSampler& sampler, std::size_t count);

 private:
  void prepare(NoiseKey key, std::size_t count);

  PooledRandom* random_;
  std::size_t first_ = 0;  // of random_'s list: those before belong to an outer one
};

std::int64_t draw_noise(const DiscreteLaplaceSampler& sampler, RandomSource& random);
void draw_noise(const DiscreteLaplaceSampler& sampler, std::span<std::int64_t> out,
                RandomSource& random);
void draw_noise(const DiscreteGaussianSampler& sampler, std::span<std::int64_t> out,
                RandomSource& random);

/// How many samples draw_noise() has handed out from the pool of `random` so far.
std::uint64_t noise_from_pool(const RandomSource& random);

}  // namespace discreet
