#include "mechanisms/quantile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "random/interval_weights.h"
#include "random/uniform.h"

namespace discreet {
namespace {

constexpr double kEpsilonMin = 0x1p-40, kEpsilonMax = 0x1p20, kQuantileMin = 1e-9;

// (2 max(q, 1 - q)) ln((size - 1) / beta): the rank error bound times epsilon.
double bound_times_epsilon(double q, double size, double beta) {
  if (size <= 1) return 0;
  return mul_up(mul_up(2, std::fmax(q, sub_up(1, q))),
                std::fmax(0, log_up(div_up(size - 1, beta))));
}

Result<void> check_epsilon(Epsilon epsilon) {
  if (epsilon.value() < kEpsilonMin || epsilon.value() > kEpsilonMax)
    return invalid_parameter(
        fmt::format("epsilon must lie between 2^-40 and 2^20, not {}", epsilon.value()));
  return {};
}

}  // namespace

Result<void> check_range(IntegerRange range) {
  if (range.upper < range.lower)
    return invalid_parameter(fmt::format("the range [{}, {}] is empty", range.lower, range.upper));
  // The size of the whole of int64 wraps to zero; both it and large sizes are refused.
  if (range.size() == 0 || range.size() >= (std::uint64_t{1} << 62))
    return invalid_parameter("a range must hold fewer than 2^62 values; use a coarser grid");
  return {};
}

Result<void> check_quantile(double q) {
  if (!(q >= kQuantileMin && q <= 1 - kQuantileMin))
    return invalid_parameter(
        fmt::format("a quantile must lie strictly between 0 and 1 (0.5 is the median), not {}", q));
  return {};
}

std::int64_t draw_quantile(std::span<const std::int64_t> sorted, IntegerRange range,
                           const Rational& q, const ExpPowers& powers, RandomSource& random) {
  // Distances are rank errors times the denominator b of q = a / b, so that they are whole numbers.
  const BigInt& a_big = boost::multiprecision::numerator(q);
  const BigInt& b_big = boost::multiprecision::denominator(q);
  DISCREET_CHECK(a_big > 0 && a_big < b_big && msb(b_big) < 90,
                 "a quantile strictly within (0, 1)");
  DISCREET_CHECK(sorted.size() < (std::uint64_t{1} << 36), "fewer than 2^36 rows");
  const auto a = static_cast<Int128>(a_big), b = static_cast<Int128>(b_big);
  const Int128 target = a * static_cast<Int128>(sorted.size());  // b times the wanted rank

  std::vector<IntervalWeight> candidates;
  std::vector<std::int64_t> starts;
  const auto consider = [&](std::int64_t start, std::uint64_t length, std::size_t below,
                            std::size_t up_to) {
    const Int128 over = b * static_cast<Int128>(below) - target;   // #{x < v} - q n
    const Int128 under = target - b * static_cast<Int128>(up_to);  // q n - #{x <= v}
    candidates.push_back({length, static_cast<UInt128>(std::max<Int128>({0, over, under}))});
    starts.push_back(start);
  };
  std::int64_t next = range.lower;  // the first value not yet a candidate
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t j = i;
    while (j < sorted.size() && sorted[j] == sorted[i]) ++j;
    if (sorted[i] > next) consider(next, static_cast<std::uint64_t>(sorted[i] - next), i, i);
    consider(sorted[i], 1, i, j);
    next = sorted[i] + 1;
    i = j;
  }
  if (next <= range.upper)
    consider(next, static_cast<std::uint64_t>(range.upper - next) + 1, sorted.size(),
             sorted.size());

  const std::size_t chosen = draw_interval(candidates, powers, random);
  return starts[chosen] +
         static_cast<std::int64_t>(uniform_below(candidates[chosen].length, random));
}

ExpPowers quantile_powers(const Rational& q, const Rational& epsilon) {
  const Rational widest = q > Rational(1, 2) ? q : Rational(1 - q);
  return ExpPowers(epsilon / (2 * widest * Rational(boost::multiprecision::denominator(q))));
}

Quantile::Quantile(Epsilon epsilon, double q, IntegerRange range)
    : epsilon_(epsilon),
      q_(q),
      range_(range),
      powers_(quantile_powers(exact_rational(q).value(), exact_rational(epsilon.value()).value())) {
}

Result<Quantile> Quantile::make(Epsilon epsilon, double q, IntegerRange range) {
  DISCREET_TRY_VOID(check_range(range));
  DISCREET_TRY_VOID(check_quantile(q));
  DISCREET_TRY_VOID(check_epsilon(epsilon));
  return Quantile(epsilon, q, range);
}

Result<Quantile> Quantile::for_rank_error(double rows, double confidence, double q,
                                          IntegerRange range) {
  DISCREET_TRY_VOID(check_range(range));
  DISCREET_TRY_VOID(check_quantile(q));
  if (!(rows > 0) || !std::isfinite(rows))
    return invalid_parameter(
        fmt::format("the wanted rank error must be positive and finite, not {}", rows));
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter(
        fmt::format("confidence must lie strictly between 0 and 1, not {}", confidence));
  const double scaled = bound_times_epsilon(q, count_up(range.size()), sub_down(1, confidence));
  DISCREET_TRY(const auto epsilon, Epsilon::make(std::fmax(kEpsilonMin, div_up(scaled, rows))));
  return make(epsilon, q, range);
}

std::int64_t Quantile::release(std::span<const std::int64_t> values, RandomSource& random) const {
  std::vector<std::int64_t> sorted(values.size());
  std::transform(values.begin(), values.end(), sorted.begin(),
                 [this](std::int64_t value) { return range_.clamp(value); });
  std::sort(sorted.begin(), sorted.end());
  return draw_quantile(sorted, range_, exact_rational(q_).value(), powers_, random);
}

LossEvent Quantile::loss() const {
  return loss::BoundedRange{epsilon_};
}

double Quantile::rank_error_bound(double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  return div_up(bound_times_epsilon(q_, count_up(range_.size()), sub_down(1, confidence)),
                epsilon_.value());
}

}  // namespace discreet
