// Noise drawn ahead of the question, so that the time of a release does not depend on the noise.
//
// A worker with a random source of its own keeps a shelf of samples for every distribution asked
// for. It draws in batches of a fixed size, and taking is a copy: how long a caller waits depends
// on how many samples are ready, never on their values. The server has one (docs/security.md).
//
// Guarantee: each sample is handed out once, to one caller, and its place is overwritten as it
//            leaves. The samples are exactly those of the samplers, drawn independently of every
//            question. A process that forked cannot use the pool it inherited: its samples belong
//            to the parent. Memory is bounded: the shelves used longest ago go first, wiped.
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/rational.h"
#include "random/random_source.h"

namespace discreet {

/// Which distribution: its sampler's name and parameter.
struct NoiseKey {
  enum class Kind { DiscreteLaplace, DiscreteGaussian };
  Kind kind;
  Rational parameter;  ///< the rate of Laplace noise, the sigma2 of Gaussian noise

  friend bool operator==(const NoiseKey&, const NoiseKey&) = default;
  friend bool operator<(const NoiseKey& a, const NoiseKey& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.parameter < b.parameter;
  }
};

class NoisePool {
 public:
  /// Samples are drawn this many at a time.
  static constexpr std::size_t kBatch = 1024;
  /// The most distributions kept, and samples of all of them together.
  static constexpr std::size_t kShelvesMax = 256;
  static constexpr std::size_t kReadyMax = std::size_t{1} << 22;

  using SourceFactory = std::function<std::unique_ptr<RandomSource>()>;

  /// Draws from a SecureRandom of its own.
  NoisePool();
  /// Draws from the source this makes; it is called once, in the worker.
  explicit NoisePool(SourceFactory make_source);
  ~NoisePool();
  NoisePool(const NoisePool&) = delete;
  NoisePool& operator=(const NoisePool&) = delete;

  /// Has `count` samples ready as soon as may be; returns at once. Once they are taken, a batch at
  /// most is kept ready. InvalidParameter: not a valid parameter, or too many samples.
  Result<void> prepare(const NoiseKey& key, std::size_t count);

  /// One sample, or as many as `out` holds. Waits while too few are ready. A distribution that was
  /// not prepared is prepared first.
  Result<std::int64_t> take(const NoiseKey& key);
  Result<void> take(const NoiseKey& key, std::span<std::int64_t> out);

  /// How many samples lie ready; for tests.
  std::size_t ready(const NoiseKey& key) const;

  struct Counts {
    std::uint64_t prepared = 0;  ///< samples that callers said they will take
    std::uint64_t taken = 0;     ///< samples handed out
    std::size_t shelves = 0;
    std::size_t held = 0;  ///< places for samples on all shelves
  };
  Counts counts() const;

  /// Throws InvariantViolation in a process that forked.
  void check_owner() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace discreet
