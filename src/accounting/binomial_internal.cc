#include "accounting/binomial_internal.h"

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace discreet {
namespace {

using Quad = boost::multiprecision::cpp_bin_float_quad;

// ln n!: a table below 64, Stirling's series above it, whose first left-out term is below 1e-22.
Quad log_factorial(std::uint64_t n) {
  constexpr std::uint64_t kTable = 64;
  static const auto table = [] {
    std::array<Quad, kTable> values{};
    values[0] = 0;
    for (std::uint64_t i = 1; i < kTable; ++i) values[i] = values[i - 1] + log(Quad(i));
    return values;
  }();
  if (n < kTable) return table[n];
  static const Quad half_log_two_pi = log(2 * boost::math::constants::pi<Quad>()) / 2;
  const Quad x(n), inverse = 1 / x, square = inverse * inverse;
  const Quad series =
      inverse *
      (Quad(1) / 12 -
       square * (Quad(1) / 360 -
                 square * (Quad(1) / 1260 -
                           square * (Quad(1) / 1680 -
                                     square * (Quad(1) / 1188 - square * Quad(691) / 360360)))));
  return (x + Quad(0.5)) * log(x) - x + half_log_two_pi + series;
}

long double assemble(std::uint64_t n, std::uint64_t k, const Quad& log_p, const Quad& log_rest) {
  const Quad value = log_factorial(n) - log_factorial(k) - log_factorial(n - k) + Quad(k) * log_p +
                     Quad(n - k) * log_rest;
  return value.convert_to<long double>();
}

}  // namespace

long double log_binomial(std::uint64_t n, std::uint64_t k, double log_odds) {
  const Quad odds(log_odds);
  // ln p = -ln(1 + e^-odds); ln(1-p) = ln p - odds. The smaller exponent avoids overflow.
  const Quad log_p =
      odds > 0 ? Quad(-log1p(Quad(exp(-odds)))) : Quad(odds - log1p(Quad(exp(odds))));
  return assemble(n, k, log_p, log_p - odds);
}

long double log_binomial_exp(std::uint64_t n, std::uint64_t k, double x) {
  const Quad log_p = -Quad(x);
  return assemble(n, k, log_p, k == n ? Quad(0) : Quad(log(Quad(-expm1(log_p)))));
}

}  // namespace discreet
