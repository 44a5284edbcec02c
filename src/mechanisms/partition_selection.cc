#include "mechanisms/partition_selection.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/saturating.h"
#include "random/probability.h"

namespace discreet {
namespace {

constexpr double kEpsilonMin = 0x1p-40, kEpsilonMax = 512, kDeltaMin = 0x1p-1000;
// The chances in doubles are within 1e-12; a coin that falls this near is decided by exact_coin.
constexpr double kNear = 1e-9;
constexpr std::uint64_t kChancesKept = 256;
constexpr std::uint64_t kUnitsMax = std::uint64_t{1} << 62;

struct Pair {
  Rational low, high;
};

Pair exp_minus(const Rational& x, unsigned bits) {
  const ScaledInterval e = exp_minus_scaled(x, bits);
  const BigInt one = BigInt(1) << bits;
  return {Rational(e.low, one), Rational(e.high < one ? e.high : one, one)};
}

// delta (e^{n eps} - 1) / (e^eps - 1), the chance while it may still grow by the e^epsilon rule,
// with r = exp(-eps): delta (1 - r^n) r / (r^n (1 - r)).
Pair rising(const Rational& epsilon, const Rational& delta, std::uint64_t n, unsigned bits) {
  const Rational exponent = epsilon * BigInt(n);
  // r^n may be as small as delta: enough digits that its bounds are not zero and r is not one.
  const unsigned work = bits + 64 + 2 * static_cast<unsigned>(ceil(exponent));
  const Pair r = exp_minus(epsilon, work);
  const Pair rn = exp_minus(exponent, work);
  return {delta * (1 - rn.high) * r.low / (rn.high * (1 - r.low)),
          delta * (1 - rn.low) * r.high / (rn.low * (1 - r.high))};
}

// While pi(n) <= (1 - delta) / (1 + e^eps) the e^epsilon rule is the tighter of the two. Equality
// would make e^eps algebraic, so more digits always decide.
bool still_rising(const Rational& epsilon, const Rational& delta, std::uint64_t n) {
  for (unsigned bits = 128;; bits *= 2) {
    const Pair pi = rising(epsilon, delta, n, bits);
    const Pair r = exp_minus(epsilon, bits + 2 * static_cast<unsigned>(ceil(epsilon)));
    const Rational low = (1 - delta) * r.low / (1 + r.low);  // r/(1+r) grows with r
    const Rational high = (1 - delta) * r.high / (1 + r.high);
    if (pi.high <= low) return true;
    if (pi.low > high) return false;
  }
}

std::uint64_t effective(std::uint64_t units, const PartitionLimits& limits) {
  return units < limits.units_min ? 0 : units - (limits.units_min - 1);
}

// The least n with chance(n) >= p; the chance grows with n and reaches one.
template <class Chance>
std::uint64_t least_n(double p, const Chance& chance) {
  std::uint64_t high = 1;
  while (chance(high) < p && high < kUnitsMax) high *= 2;
  std::uint64_t low = high / 2;
  while (low + 1 < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (chance(middle) < p ? low : high) = middle;
  }
  return high;
}

Result<void> check_probability(double probability) {
  if (!(probability > 0 && probability <= 1))
    return invalid_parameter(
        fmt::format("the chance of keeping must lie within (0, 1], not {}", probability));
  return {};
}

// delta of the truncated geometric with this bound: P[Z = k] = (1 - r) r^k / (1 + r - 2 r^{k+1}).
Pair truncation_delta(const Rational& epsilon, std::uint64_t k, unsigned bits) {
  const Pair r = exp_minus(epsilon, bits);
  const Pair rk = exp_minus(epsilon * BigInt(k), bits);
  return {(1 - r.high) * rk.low / (1 + r.high - 2 * rk.low * r.low),
          (1 - r.low) * rk.high / (1 + r.low - 2 * rk.high * r.high)};
}

}  // namespace

Result<ApproxDp> partition_share(ApproxDp budget, PartitionLimits limits) {
  if (limits.partitions_per_unit_max == 0 || limits.units_min == 0)
    return invalid_parameter("the limits of partition selection must be at least one");
  const Epsilon epsilon = budget.epsilon.share(limits.partitions_per_unit_max);
  const double delta = div_down(budget.delta.value(), count_up(limits.partitions_per_unit_max));
  if (epsilon.value() < kEpsilonMin || epsilon.value() > kEpsilonMax)
    return invalid_parameter(fmt::format(
        "a key's share of epsilon must lie between 2^-40 and 512, not {}", epsilon.value()));
  if (!(delta >= kDeltaMin && delta < 1))
    return invalid_parameter(fmt::format(
        "a key's share of delta must lie between 2^-1000 and 1, not {}: without a delta no private "
        "key can be shown, list the keys as public instead",
        delta));
  return ApproxDp{epsilon, Delta::make(delta).value()};
}

PartitionSelection::PartitionSelection(ApproxDp share, PartitionLimits limits)
    : share_(share),
      limits_(limits),
      epsilon_(exact_rational(share.epsilon.value()).value()),
      delta_(exact_rational(share.delta.value()).value()) {}

Result<PartitionSelection> PartitionSelection::make(ApproxDp budget, PartitionLimits limits) {
  DISCREET_TRY(const ApproxDp share, partition_share(budget, limits));
  PartitionSelection selection(share, limits);
  // The last step n -> n + 1 by the e^epsilon rule starts from the last n that still rises, and
  // pi(0) = 0 always does. The doubles give the place to within a step or two.
  const double e = share.epsilon.value(), d = share.delta.value();
  const double guess = std::floor(std::log1p((1 - d) * std::expm1(e) / (1 + std::exp(e)) / d) / e);
  auto last = static_cast<std::uint64_t>(std::fmax(0, guess));
  while (last > 0 && !still_rising(selection.epsilon_, selection.delta_, last)) --last;
  while (still_rising(selection.epsilon_, selection.delta_, last + 1)) ++last;
  selection.rising_steps_ = last + 1;
  for (std::uint64_t units = 0; units < kChancesKept; ++units)
    selection.chances_.push_back(selection.keep_probability(units));
  return selection;
}

double PartitionSelection::keep_probability(std::uint64_t units) const {
  const std::uint64_t n = effective(units, limits_);
  if (n == 0) return 0;
  const double e = share_.epsilon.value(), d = share_.delta.value();
  const auto rise = [&](std::uint64_t m) {
    const auto count = static_cast<double>(m);
    return d * std::exp((count - 1) * e) * std::expm1(-count * e) / std::expm1(-e);
  };
  if (n <= rising_steps_) return std::fmin(1, rise(n));
  const auto beyond = static_cast<double>(n - rising_steps_);
  const double dropped = std::exp(-beyond * e) * (1 - rise(rising_steps_)) +
                         d * std::expm1(-beyond * e) * std::exp(-e) / -std::expm1(-e);
  return std::clamp(1 - dropped, 0.0, 1.0);
}

PartitionSelection::Bounds PartitionSelection::keep_bounds(std::uint64_t units,
                                                           unsigned bits) const {
  const std::uint64_t n = effective(units, limits_);
  if (n == 0) return {0, 0};
  const Pair top = rising(epsilon_, delta_, std::min(n, rising_steps_), bits);
  if (n <= rising_steps_) return {top.low, top.high};
  // 1 - pi(n1 + m) = r^m (1 - pi(n1)) - delta r (1 - r^m) / (1 - r), until that reaches zero.
  const unsigned work = bits + 64 + 2 * static_cast<unsigned>(ceil(epsilon_));
  const Pair r = exp_minus(epsilon_, work);
  const Pair rm = exp_minus(epsilon_ * BigInt(n - rising_steps_), work);
  Rational low = rm.low * (1 - top.high) - delta_ * r.high * (1 - rm.low) / (1 - r.high);
  Rational high = rm.high * (1 - top.low) - delta_ * r.low * (1 - rm.high) / (1 - r.low);
  if (low < 0) low = 0;
  if (high < 0) high = 0;
  return {1 - high, 1 - low};
}

bool PartitionSelection::keep(std::uint64_t units, RandomSource& random) const {
  const std::uint64_t first = random.bits64();
  const double chance = units < chances_.size() ? chances_[units] : keep_probability(units);
  const double uniform = static_cast<double>(first) * 0x1p-64;
  if (std::fabs(uniform - chance) > kNear) return uniform < chance;
  BigInt drawn = first;
  // Both the uniform number and the chance gain digits until their order is certain.
  for (unsigned bits = 64;; bits += 64) {
    const Bounds bounds = keep_bounds(units, bits + 64);
    const BigInt one = BigInt(1) << bits;
    if (Rational(drawn + 1, one) <= bounds.low) return true;
    if (Rational(drawn, one) >= bounds.high) return false;
    drawn = (drawn << 64) | random.bits64();
  }
}

Result<std::uint64_t> PartitionSelection::least_units_kept(double probability) const {
  DISCREET_TRY_VOID(check_probability(probability));
  return least_n(probability, [this](std::uint64_t n) { return keep_probability(n); });
}

LossEvent PartitionSelection::loss() const {
  const LossEvent one = loss::Approximate{share_.epsilon, share_.delta};
  if (limits_.partitions_per_unit_max == 1) return one;
  return loss::Repeated{limits_.partitions_per_unit_max, std::make_shared<const LossEvent>(one)};
}

Result<NoisyPartitionSelection> NoisyPartitionSelection::make(ApproxDp budget,
                                                              PartitionLimits limits) {
  DISCREET_TRY(const ApproxDp share, partition_share(budget, limits));
  const Rational epsilon = exact_rational(share.epsilon.value()).value();
  const Rational delta = exact_rational(share.delta.value()).value();
  // Upper bounds on delta decide, so that the bound k is never too small; with this many digits it
  // is the least one. A large epsilon needs digits down to its r^k.
  const auto spent = [&](std::uint64_t k) {
    const unsigned bits = 1280 + 2 * static_cast<unsigned>(ceil(epsilon));
    return truncation_delta(epsilon, k, bits).high;
  };
  std::uint64_t high = 1, low = 0;
  while (spent(high) > delta) {
    low = high;
    high *= 2;
  }
  while (low + 1 < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (spent(middle) > delta ? low : high) = middle;
  }
  DISCREET_TRY(auto magnitude, GeometricSampler::make(epsilon));
  const double actual = std::fmin(share.delta.value(), to_double_up(spent(high)));
  return NoisyPartitionSelection({share.epsilon, Delta::make(actual).value()}, limits,
                                 static_cast<std::int64_t>(high), std::move(magnitude));
}

std::optional<std::int64_t> NoisyPartitionSelection::release(std::uint64_t units,
                                                             RandomSource& random) const {
  // The magnitude is geometric below bound + 1 with a fair sign; zero has two ways to come up, so
  // one of them is drawn again. The number of attempts is independent of the value kept.
  std::int64_t noise = 0;
  for (;;) {
    const std::int64_t m = magnitude_.draw_below(static_cast<std::uint64_t>(bound_) + 1, random);
    const bool negative = random.bits64() >> 63;
    if (negative && m == 0) continue;
    noise = negative ? -m : m;
    break;
  }
  const std::int64_t n = saturate(Int128{effective(units, limits_)});
  if (saturating_add(n, noise) <= bound_) return std::nullopt;
  return saturate(Int128{units} + noise);
}

double NoisyPartitionSelection::keep_probability(std::uint64_t units) const {
  const std::uint64_t n = effective(units, limits_);
  const auto k = static_cast<std::uint64_t>(bound_);
  if (n > 2 * k) return 1;
  // A sum of m consecutive chances that starts at P[Z = k] or at P[Z = -k].
  const double e = spent_.epsilon.value(), d = spent_.delta.value();
  const auto run = [&](std::uint64_t m) {
    const auto count = static_cast<double>(m);
    return m == 0 ? 0 : d * std::exp((count - 1) * e) * std::expm1(-count * e) / std::expm1(-e);
  };
  return n <= k + 1 ? run(n) : 1 - run(2 * k + 1 - n);
}

Result<std::uint64_t> NoisyPartitionSelection::least_units_kept(double probability) const {
  DISCREET_TRY_VOID(check_probability(probability));
  return least_n(probability, [this](std::uint64_t n) { return keep_probability(n); });
}

double NoisyPartitionSelection::error_bound(double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  // P[|Z| > t] = 2 delta (e^{(k - t) eps} - 1) / (e^eps - 1); the least t at which it is within
  // beta.
  const double e = spent_.epsilon.value(), d = spent_.delta.value();
  const double beta = (1 - confidence) * (1 - 1e-12);
  const double steps = std::log1p(beta * std::expm1(std::fmin(e, 700)) / (2 * d)) / e;
  return std::fmax(0, static_cast<double>(bound_) - std::floor(steps * (1 - 1e-12)));
}

LossEvent NoisyPartitionSelection::loss() const {
  const LossEvent one = loss::TruncatedGeometric{spent_.epsilon, spent_.delta, bound_};
  if (limits_.partitions_per_unit_max == 1) return one;
  return loss::Repeated{limits_.partitions_per_unit_max, std::make_shared<const LossEvent>(one)};
}

}  // namespace discreet
