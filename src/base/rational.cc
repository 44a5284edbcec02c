#include "base/rational.h"

#include <cmath>
#include <limits>

namespace discreet {

Result<Rational> exact_rational(double value) {
  if (!std::isfinite(value)) return invalid_parameter("a number must be finite");
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent
  BigInt numerator = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  if (exponent >= 0) return Rational(numerator << exponent, BigInt(1));
  return Rational(numerator, BigInt(1) << -exponent);
}

BigInt floor(const Rational& value) {
  const BigInt& numerator = boost::multiprecision::numerator(value);
  const BigInt& denominator = boost::multiprecision::denominator(value);
  BigInt quotient, remainder;
  divide_qr(numerator, denominator, quotient, remainder);
  if (remainder < 0) --quotient;
  return quotient;
}

BigInt ceil(const Rational& value) {
  return -floor(-value);
}

double to_double_down(const Rational& value) {
  if (value == 0) return 0;
  // The conversion is near the value; exact comparison then settles the side.
  double guess = value.convert_to<double>();
  if (std::isnan(guess))
    guess =
        value > 0 ? std::numeric_limits<double>::max() : -std::numeric_limits<double>::infinity();
  if (guess == std::numeric_limits<double>::infinity()) guess = std::numeric_limits<double>::max();
  while (std::isfinite(guess) && exact_rational(guess).value() > value)
    guess = std::nextafter(guess, -std::numeric_limits<double>::infinity());
  while (std::isfinite(guess)) {
    const double above = std::nextafter(guess, std::numeric_limits<double>::infinity());
    if (!std::isfinite(above) || exact_rational(above).value() > value) break;
    guess = above;
  }
  return guess;
}

double to_double_up(const Rational& value) {
  return -to_double_down(-value);
}

}  // namespace discreet
