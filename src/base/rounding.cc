#include "base/rounding.h"

#include <cmath>
#include <limits>

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Below this the error term of an fma may itself underflow, so the result is moved unconditionally.
constexpr double kErrorTermTrusted = 0x1p-960;

bool trusted(double x) {
  return std::isfinite(x) && std::fabs(x) > kErrorTermTrusted;
}

// The exact rounding error of a + b (Knuth's TwoSum); zero when the sum is exact.
double sum_error(double a, double b, double sum) {
  const double b_seen = sum - a;
  return (a - (sum - b_seen)) + (b - b_seen);
}

double move_up(double x, int steps) {
  for (int i = 0; i < steps; ++i) x = next_up(x);
  return x;
}

double move_down(double x, int steps) {
  for (int i = 0; i < steps; ++i) x = next_down(x);
  return x;
}

// An overflow to infinity is a correct upper bound; as a lower bound it must come back to finite.
double finite_below(double x) {
  return x == kInfinity ? std::numeric_limits<double>::max() : x;
}
double finite_above(double x) {
  return x == -kInfinity ? std::numeric_limits<double>::lowest() : x;
}

constexpr int kLibmUlps = 2;

}  // namespace

double next_up(double x) {
  return std::nextafter(x, kInfinity);
}
double next_down(double x) {
  return std::nextafter(x, -kInfinity);
}

double count_up(std::uint64_t count) {
  const auto value = static_cast<double>(count);
  return count <= (std::uint64_t{1} << 53) ? value : next_up(value);
}
double count_down(std::uint64_t count) {
  const auto value = static_cast<double>(count);
  return count <= (std::uint64_t{1} << 53) ? value : next_down(value);
}

double add_up(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(a) || !std::isfinite(b)) return sum;
  if (!std::isfinite(sum)) return finite_above(sum);
  // Near the largest double the error term itself can overflow to NaN, which must count as an
  // error.
  return sum_error(a, b, sum) <= 0 ? sum : next_up(sum);
}

double add_down(double a, double b) {
  return -add_up(-a, -b);
}
double sub_up(double a, double b) {
  return add_up(a, -b);
}
double sub_down(double a, double b) {
  return add_down(a, -b);
}

double mul_up(double a, double b) {
  const double product = a * b;
  if (a == 0 || b == 0 || !std::isfinite(a) || !std::isfinite(b)) return product;
  if (!std::isfinite(product)) return finite_above(product);
  if (!trusted(product)) return next_up(product);
  return std::fma(a, b, -product) > 0 ? next_up(product) : product;
}

double mul_down(double a, double b) {
  return -mul_up(-a, b);
}

double div_up(double a, double b) {
  const double quotient = a / b;
  if (a == 0 || !std::isfinite(a) || !std::isfinite(b) || b == 0) return quotient;
  if (!std::isfinite(quotient)) return finite_above(quotient);
  if (!trusted(quotient) || !trusted(a)) return next_up(quotient);
  // The remainder a - quotient * b has the sign of the error times the sign of b.
  const double remainder = std::fma(-quotient, b, a);
  return (b > 0 ? remainder > 0 : remainder < 0) ? next_up(quotient) : quotient;
}

double div_down(double a, double b) {
  return -div_up(-a, b);
}

double sqrt_up(double x) {
  const double root = std::sqrt(x);
  if (!std::isfinite(root) || x == 0) return root;
  if (!trusted(x)) return next_up(root);
  return std::fma(root, root, -x) < 0 ? next_up(root) : root;
}

double sqrt_down(double x) {
  const double root = std::sqrt(x);
  if (!std::isfinite(root) || x == 0) return root;
  if (!trusted(x)) return std::fmax(0.0, next_down(root));
  return std::fma(root, root, -x) > 0 ? next_down(root) : root;
}

double exp_up(double x) {
  return x == 0 ? 1.0 : move_up(std::exp(x), kLibmUlps);
}
double exp_down(double x) {
  if (x == 0) return 1.0;
  return std::fmax(0.0, move_down(finite_below(std::exp(x)), kLibmUlps));
}
double log_up(double x) {
  return x == 1 ? 0.0 : move_up(std::log(x), kLibmUlps);
}
double log_down(double x) {
  return x == 1 ? 0.0 : move_down(std::log(x), kLibmUlps);
}
double expm1_up(double x) {
  if (x == 0) return 0.0;
  const double bound = move_up(std::expm1(x), kLibmUlps);
  return x < 0 ? std::fmin(0.0, bound) : bound;
}
double expm1_down(double x) {
  if (x == 0) return 0.0;
  // expm1(x) >= x: keeps the bound of a tiny positive x positive, where a step down would cross
  // zero.
  return std::fmax(std::fmax(-1.0, x), move_down(finite_below(std::expm1(x)), kLibmUlps));
}
double log1p_up(double x) {
  return x == 0 ? 0.0 : std::fmin(x, move_up(std::log1p(x), kLibmUlps));  // log1p(x) <= x
}
double log1p_down(double x) {
  return x == 0 ? 0.0 : move_down(std::log1p(x), kLibmUlps);
}

}  // namespace discreet
