// Repeatable draws for making up data.
//
// This is data generation, not noise: nothing drawn here protects anybody, so a seeded Mersenne
// twister is what is wanted, and the samplers of random/ (which cannot be seeded) are not.
//
// Guarantee: the same seed and purpose give the same draws on every machine and compiler. Only raw
//            outputs of std::mt19937_64, which the standard fixes, and integer arithmetic are used;
//            the standard's distributions differ between libraries, and libm between machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace discreet::town {

class Dice {
 public:
  /// Streams of different purposes are independent, so a new table does not change the others.
  Dice(std::uint64_t seed, std::string_view purpose);

  std::uint64_t below(std::uint64_t count);                     ///< uniform in 0 .. count - 1
  std::int64_t between(std::int64_t least, std::int64_t most);  ///< uniform, both ends included
  bool chance(std::int64_t per_mille);
  /// An index with probability proportional to its weight.
  std::size_t pick(std::span<const int> weights);
  /// About normal (a sum of twelve uniforms), rounded to an integer.
  std::int64_t bell(std::int64_t mean, std::int64_t deviation);
  /// The value times a log-normal factor (median 1, sigma 0.5, cut at the 0.5 % tails).
  std::int64_t skewed(std::int64_t median);
  /// How often a chance comes true in a row, up to a limit.
  std::int64_t streak(std::int64_t per_mille, std::int64_t most);

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

/// FNV-1a, to tell contents apart (not a defence against anybody).
class Fingerprint {
 public:
  void add(std::string_view bytes);
  void add(std::int64_t value);
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 14695981039346656037ULL;
};

}  // namespace discreet::town
