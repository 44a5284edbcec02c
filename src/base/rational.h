// Exact numbers: integers of any size and their quotients.
//
// Every double is a rational with a power of two below the line, so parameters given as doubles are
// taken at their exact value and nothing is rounded before a sampler sees it.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include "base/result.h"

namespace discreet {

using BigInt = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;

/// The exact value of a finite double. InvalidParameter for NaN and infinities.
Result<Rational> exact_rational(double value);

/// The nearest doubles on either side; infinity or zero beyond the range of doubles.
double to_double_up(const Rational& value);
double to_double_down(const Rational& value);

/// The greatest integer not above the value.
BigInt floor(const Rational& value);
/// The least integer not below the value.
BigInt ceil(const Rational& value);

}  // namespace discreet
