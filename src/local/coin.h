// Coins whose chance is a whole number of 2^-64: the only source of chance in a report.
//
// A client in any language tosses the same coin by comparing one 64-bit word with an integer, so no
// floating point stands between a person's value and the report. The integer is an irrational
// chance of the textbook rounded to the side that reveals less. Guarantee: toss() is heads with
// chance exactly heads() / 2^64, given uniform bits, and takes the
//            same time either way. toss_many() draws the same law 64 coins at a time.
// Proof:     docs/proofs/local_reports.md
#pragma once

#include <cstdint>
#include <span>

#include "base/rational.h"
#include "random/probability.h"
#include "random/random_source.h"

namespace discreet::local {

class Coin {
 public:
  /// Chance heads / 2^64.
  static Coin of(std::uint64_t heads) { return Coin(heads); }
  static Coin fair() { return Coin(std::uint64_t{1} << 63); }
  /// The chance p, or more by at most 2^-64. p is below 1 - 2^-64.
  static Coin at_least(const Probability& p);
  /// Half of p, or more by at most 2^-64.
  static Coin half_at_least(const Probability& p);
  /// The chance p, or less by at most 2^-64.
  static Coin at_most(const Probability& p);
  /// Heads where this one is tails. This coin's heads() is not zero.
  Coin opposite() const { return Coin(0 - heads_); }

  bool toss(RandomSource& random) const { return random.bits64() < heads_; }
  /// Every bit of every word is a toss of its own.
  void toss_many(std::span<std::uint64_t> words, RandomSource& random) const;

  std::uint64_t heads() const { return heads_; }
  Rational exact() const;
  double chance() const;

 private:
  explicit Coin(std::uint64_t heads) : heads_(heads) {}
  std::uint64_t heads_;
};

}  // namespace discreet::local
