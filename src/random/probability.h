// A probability known to as many binary digits as anyone asks for.
//
// The samplers compare random bits with these digits one block at a time, so a decision is exact:
// it is made by integers, and only digits that are certain are ever compared. Digits of exp(-x)
// come from interval arithmetic on integers, repeated with more precision until both ends agree.
// Proof: docs/proofs/exact_samplers.md
#pragma once

#include <cstdint>

#include "base/rational.h"
#include "random/random_source.h"

namespace discreet {

class Probability {
 public:
  /// InvalidParameter: not within [0, 1].
  static Result<Probability> rational(Rational p);
  /// exp(-x), for x >= 0.
  static Probability exp_minus(Rational x);
  /// 1 / (1 + exp(x)), for x >= 0.
  static Probability logistic(Rational x);
  /// m / (m + exp(x)), for x >= 0 and m >= 0: the chance that alternatives of total weight m win
  /// against one of weight exp(x). With m = 1 this is logistic(x).
  static Probability logistic(Rational x, Rational m);
  /// 2 / (1 + exp(x)), for x >= 0: the chance that a discrete Laplace variable of rate x is not
  /// zero.
  static Probability twice_logistic(Rational x);

  /// floor(p * 2^bits), exactly.
  BigInt digits(unsigned bits) const;

 private:
  enum class Form { Ratio, ExpMinus, Logistic, TwiceLogistic };
  Probability(Form form, Rational x, Rational m = 1)
      : form_(form), x_(std::move(x)), m_(std::move(m)) {}

  Form form_;
  Rational x_;
  Rational m_;  // of the logistic form; one in the others
};

/// An interval of integers that holds exp(-x) * 2^bits; its width is a few units.
struct ScaledInterval {
  BigInt low, high;
};
ScaledInterval exp_minus_scaled(const Rational& x, unsigned bits);
/// The interval for the square of a number held by `e`, both scaled by 2^bits.
ScaledInterval squared(const ScaledInterval& e, unsigned bits);

/// Decides U < p for a uniform U whose first `known` digits are equal to those of p: draws further
/// digits until they differ. Needed about once in 2^known decisions.
bool decide_beyond(const Probability& p, unsigned known, RandomSource& random);

/// Decides U < p, where `first` holds the first 64 digits of U.
bool decide(const Probability& p, std::uint64_t first, RandomSource& random);

}  // namespace discreet
