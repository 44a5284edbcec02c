// Geometric variables: P[G = g] = (1 - r) r^g for g = 0, 1, 2, ..., with r = exp(-rate).
//
// The binary digits of G are independent, digit j being one with chance 1 / (1 + exp(rate 2^j)). A
// draw tosses one exact coin per digit, so it takes the same time whatever comes out; digits beyond
// the table are reached with chance below 2^-64 and are then drawn by memorylessness. Guarantee:
// the distribution is exactly the stated one, given uniform bits; values above 2^63 - 1 saturate.
// Proof:     docs/proofs/exact_samplers.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rational.h"
#include "random/random_source.h"

namespace discreet {

/// The first 128 binary digits of a probability below one.
struct CoinDigits {
  std::uint64_t high = 0, low = 0;
};

class GeometricSampler {
 public:
  /// Rates below this would put most of the mass beyond 64-bit integers.
  static constexpr double kRateMin = 0x1p-54;

  /// InvalidParameter: rate not positive, or below kRateMin.
  static Result<GeometricSampler> make(Rational rate);
  /// Fails where make() does, without working out any coin.
  static Result<void> check(const Rational& rate);

  std::int64_t draw(RandomSource& random) const;
  /// Fills `out` with independent draws, hundreds at a time.
  void draw_many(std::span<std::int64_t> out, RandomSource& random) const;

  /// Exactly the distribution of G given G < bound, without rejection: it is G modulo `bound`.
  std::int64_t draw_below(std::uint64_t bound, RandomSource& random) const;

  const Rational& rate() const { return rate_; }
  /// Coins for digits 0, 1, ..., J - 1, then one for "G >= 2^J".
  std::span<const CoinDigits> coins() const { return coins_; }
  /// Decides coin `index` when its first `known` digits were matched.
  bool decide_coin(std::size_t index, unsigned known, RandomSource& random) const;
  /// A draw whose last coin came up: by memorylessness 2^J plus a fresh draw, saturating.
  std::int64_t draw_beyond(RandomSource& random) const;

 private:
  /// One coin per digit; bit J is set when the last coin came up.
  std::uint64_t draw_digits(RandomSource& random) const;
  GeometricSampler(Rational rate, std::vector<CoinDigits> coins)
      : rate_(std::move(rate)), coins_(std::move(coins)) {}

  Rational rate_;
  std::vector<CoinDigits> coins_;
};

}  // namespace discreet
