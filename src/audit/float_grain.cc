#include "audit/float_grain.h"

#include <bit>
#include <cmath>
#include <limits>

namespace discreet {

std::int64_t lowest_bit(double value) {
  if (!std::isfinite(value)) return 2001;
  if (value == 0) return 2000;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  return exponent - 53 + std::countr_zero(mantissa);
}

std::int64_t ordered_bits(double value) {
  if (std::isnan(value)) return std::numeric_limits<std::int64_t>::max();
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

}  // namespace discreet
