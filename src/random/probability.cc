#include "random/probability.h"

#include <utility>

namespace discreet {
namespace {

// exp(-y) for 0 <= y < 2^-8, where y * 2^bits lies in [y_low, y_low + 1]: the alternating series,
// each term held by an interval, stopped when a term is below one unit (the rest is then below one
// unit too).
ScaledInterval exp_minus_small(const BigInt& y_low, unsigned bits) {
  const BigInt y_high = y_low + 1;
  const BigInt one = BigInt(1) << bits;
  ScaledInterval term{one, one};
  ScaledInterval sum{one, one};
  for (unsigned n = 1; term.high > 1; ++n) {
    term.low = ((term.low * y_low) >> bits) / n;
    term.high = ((term.high * y_high) >> bits) / n + 1;
    if (n % 2 == 1) {
      sum.low -= term.high;
      sum.high -= term.low;
    } else {
      sum.low += term.low;
      sum.high += term.high;
    }
  }
  sum.low -= 1;
  sum.high += 1;
  if (sum.high > one) sum.high = one;
  return sum;
}

}  // namespace

ScaledInterval squared(const ScaledInterval& e, unsigned bits) {
  return {(e.low * e.low) >> bits, ((e.high * e.high) >> bits) + 1};
}

ScaledInterval exp_minus_scaled(const Rational& x, unsigned bits) {
  DISCREET_CHECK(x >= 0, "exp(-x) is a probability only for x >= 0");
  if (x >= bits) return {0, 1};  // exp(-x) < 2^-x <= 2^-bits
  // x = y * 2^halvings with y < 2^-8. Each squaring at most doubles the absolute error of a number
  // below one and adds a unit, so `halvings` guard bits and a few more keep the width to a few
  // units.
  unsigned halvings = 8;
  for (BigInt whole = ceil(x); whole > 0; whole >>= 1) ++halvings;
  const unsigned work = bits + halvings + 8;
  ScaledInterval e = exp_minus_small(floor(x * Rational(BigInt(1) << (work - halvings))), work);
  for (unsigned i = 0; i < halvings; ++i) e = squared(e, work);
  const unsigned drop = work - bits;
  return {e.low >> drop, (e.high >> drop) + 1};
}

Result<Probability> Probability::rational(Rational p) {
  if (p < 0 || p > 1) return invalid_parameter("a probability must be between 0 and 1");
  return Probability(Form::Ratio, std::move(p));
}

Probability Probability::exp_minus(Rational x) {
  DISCREET_CHECK(x >= 0, "exp(-x) is a probability only for x >= 0");
  return Probability(Form::ExpMinus, std::move(x));
}

Probability Probability::logistic(Rational x) {
  return logistic(std::move(x), 1);
}

Probability Probability::logistic(Rational x, Rational m) {
  DISCREET_CHECK(x >= 0 && m >= 0, "the logistic digits are made for x >= 0 and m >= 0");
  if (m == 0) return Probability(Form::Ratio, 0);
  return Probability(Form::Logistic, std::move(x), std::move(m));
}

Probability Probability::twice_logistic(Rational x) {
  DISCREET_CHECK(x >= 0, "2 / (1 + exp(x)) is a probability only for x >= 0");
  return Probability(Form::TwiceLogistic, std::move(x));
}

BigInt Probability::digits(unsigned bits) const {
  const BigInt one = BigInt(1) << bits;
  if (form_ == Form::Ratio) return floor(x_ * Rational(one));
  const BigInt& a = numerator(m_);
  const BigInt& b = denominator(m_);
  if (x_ == 0) return form_ == Form::Logistic ? BigInt((one * a) / (a + b)) : one;
  if (x_ >= bits + 2 + static_cast<unsigned>(msb(a))) return 0;  // m exp(-x) < 2^-bits
  // For rational x > 0 all three forms are irrational (Lindemann-Weierstrass), so the ends of the
  // interval agree on these digits once the precision is high enough.
  for (unsigned precision = bits + 32;; precision *= 2) {
    ScaledInterval e = exp_minus_scaled(x_, precision);
    if (form_ != Form::ExpMinus) {
      const BigInt unit = BigInt(1) << precision;
      const unsigned shift = precision + (form_ == Form::TwiceLogistic ? 1 : 0);
      e.low *= a;
      e.high *= a;
      e.low = (e.low << shift) / (unit * b + e.low);
      e.high = (e.high << shift) / (unit * b + e.high) + 1;
    }
    e.low >>= precision - bits;
    e.high >>= precision - bits;
    if (e.low == e.high) return e.low;
  }
}

bool decide_beyond(const Probability& p, unsigned known, RandomSource& random) {
  const BigInt block = (BigInt(1) << 64) - 1;
  for (;;) {
    known += 64;
    const auto digits = static_cast<std::uint64_t>(p.digits(known) & block);
    const std::uint64_t drawn = random.bits64();
    if (drawn != digits) return drawn < digits;
  }
}

bool decide(const Probability& p, std::uint64_t first, RandomSource& random) {
  const BigInt digits = p.digits(64);
  if (first != digits) return first < digits;
  return decide_beyond(p, 64, random);
}

}  // namespace discreet
