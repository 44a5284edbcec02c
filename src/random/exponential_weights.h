// Picks index i with chance proportional to exp(-x_i), exactly.
//
// Weights are held to 96 binary digits with known error and the choice is made from the bounds;
// when a draw falls within the error (less than once in 2^40 for a million candidates) both the
// weights and the random number are refined until the choice is certain. All candidates are
// scanned, whichever is chosen. Guarantee: the distribution is exactly the stated one, given
// uniform bits. Proof:     docs/proofs/exact_samplers.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rational.h"
#include "base/saturating.h"
#include "random/random_source.h"

namespace discreet {

class ExponentialWeights {
 public:
  /// Exponents x_i = distances[i] * unit, with unit > 0 and at least one distance zero (subtract
  /// the least: only differences matter). InvalidParameter: no candidates, or more than 2^30.
  static Result<ExponentialWeights> make(std::span<const std::uint64_t> distances, Rational unit);
  /// Any exponents that are not negative, at least one of them zero.
  static Result<ExponentialWeights> make(std::vector<Rational> exponents);

  std::size_t size() const { return low_.size(); }
  std::size_t draw(RandomSource& random) const;
  /// `count` different indices, drawn one after another without replacement; count <= size().
  std::vector<std::size_t> draw_distinct(std::size_t count, RandomSource& random) const;

 private:
  ExponentialWeights() = default;
  std::size_t draw_among(std::span<const UInt128> low, const std::vector<bool>& removed,
                         RandomSource& random) const;
  std::size_t draw_refined(const BigInt& drawn, unsigned drawn_bits,
                           const std::vector<bool>& removed, RandomSource& random) const;
  Rational exponent(std::size_t index) const;
  Rational least_remaining(const std::vector<bool>& removed) const;
  static std::vector<std::size_t> remaining(const std::vector<bool>& removed);
  ExponentialWeights relative_to_heaviest(std::span<const std::size_t> indices) const;

  std::vector<UInt128> low_;              // floor-ish of exp(-x_i) 2^96, off by less than kSlack
  std::vector<std::uint64_t> distances_;  // either these and unit_, or exponents_
  Rational unit_;
  std::vector<Rational> exponents_;
};

}  // namespace discreet
