// Noise drawn ahead of the question, so that the time of a release does not depend on the noise.
//
// A worker with a random source of its own keeps a shelf of samples for every distribution asked
// for. It draws in batches of a fixed size, and taking is a copy: how long a caller waits depends
// on how many samples are ready, never on their values. Guarantee: each sample is handed out once,
// to one caller, and its place is overwritten as it leaves. The
//            samples are exactly those of the samplers, drawn independently of every question.
//            A process that forked cannot use the pool it inherited: its samples belong to the
//            parent.
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
  /// The most distributions kept, and samples kept of each.
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

  /// Keeps at least `count` samples ready from now on; returns at once.
  /// InvalidParameter: not a valid parameter, too many samples or too many distributions.
  Result<void> prepare(const NoiseKey& key, std::size_t count);

  /// One sample, or as many as `out` holds. Waits while too few are ready. A distribution that was
  /// not prepared is prepared first.
  Result<std::int64_t> take(const NoiseKey& key);
  Result<void> take(const NoiseKey& key, std::span<std::int64_t> out);

  /// How many samples lie ready; for operators and tests.
  std::size_t ready(const NoiseKey& key) const;

 private:
  struct State;
  void check_owner() const;

  std::unique_ptr<State> state_;
};

}  // namespace discreet
