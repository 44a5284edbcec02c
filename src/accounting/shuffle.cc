#include "accounting/shuffle.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "accounting/binomial_internal.h"
#include "accounting/interval_internal.h"

namespace discreet {
namespace {

constexpr long double kNegligible = 1e-17L;
constexpr std::uint64_t kUsersMax = std::uint64_t{1} << 40;

Result<void> check(std::uint64_t n, double epsilon0) {
  if (n == 0 || n > kUsersMax)
    return invalid_parameter(fmt::format("shuffling needs between 1 and 2^40 users, not {}", n));
  if (!(std::isfinite(epsilon0) && epsilon0 >= 0))
    return invalid_parameter(
        fmt::format("epsilon0 must be finite and not negative, not {}", epsilon0));
  return {};
}

// P[Bin(c, 1/2) >= t] and P[Bin(c, 1/2) = t], moved one step of c or t at a time.
class FairTail {
 public:
  FairTail(std::uint64_t c, std::uint64_t t) : c_(c), t_(t) {
    mass_ = t > c ? 0 : std::exp(log_binomial(c, t, 0));
    // Upwards from t the terms rise to the middle and then fall fast.
    long double term = mass_, sum = 0;
    for (std::uint64_t j = t; j <= c; ++j) {
      sum += term;
      term *= static_cast<long double>(c - j) / static_cast<long double>(j + 1);
      if (2 * j > c && term < 1e-22L * sum) break;
    }
    tail_ = sum;
  }

  long double tail() const { return tail_; }
  /// P[Bin(c, 1/2) = t - 1].
  long double mass_below() const {
    if (t_ == 0 || t_ > c_ + 1) return 0;
    if (t_ == c_ + 1) return std::exp2(-static_cast<long double>(c_));
    return mass_ * static_cast<long double>(t_) / static_cast<long double>(c_ - t_ + 1);
  }

  /// P[Bin(c+1) >= t] = P[Bin(c) >= t] + P[Bin(c) = t-1] / 2.
  void raise_c() {
    const long double below = mass_below();
    tail_ += below / 2;
    mass_ = (mass_ + below) / 2;
    ++c_;
  }
  void lower_c() {
    // P[Bin(c-1) = t] = 2 P[Bin(c) = t] (c - t) / c.
    mass_ =
        t_ >= c_ ? 0 : 2 * mass_ * static_cast<long double>(c_ - t_) / static_cast<long double>(c_);
    --c_;
    tail_ = std::fmax(0.0L, tail_ - mass_below() / 2);
  }
  void raise_t() {
    tail_ = std::fmax(0.0L, tail_ - mass_);
    mass_ =
        t_ >= c_ ? 0 : mass_ * static_cast<long double>(c_ - t_) / static_cast<long double>(t_ + 1);
    ++t_;
  }
  void lower_t() {
    mass_ = mass_below();
    --t_;
    tail_ += mass_;
  }
  std::uint64_t t() const { return t_; }

 private:
  std::uint64_t c_, t_;
  long double mass_ = 0, tail_ = 0;
};

// The clone pair given C = c: X = A + B with P(X=x) = p b(x-1) + (1-p) b(x) against the same with p
// and 1-p exchanged, b the masses of Bin(c, 1/2). The ratio rises with x and passes e^epsilon at
// x = tau (c + 1).
class ClonePair {
 public:
  ClonePair(double epsilon0, double epsilon) {
    const long double e0 = epsilon0, e = epsilon;
    truth_ = 1 / (1 + std::exp(-e0));
    const long double lie = 1 / (1 + std::exp(e0));
    // (e^eps p - (1-p)) / ((2p - 1)(e^eps + 1)).
    tau_ = (truth_ * std::exp(e) - lie) / ((truth_ - lie) * (std::exp(e) + 1));
    gain_ = truth_ - std::exp(e) * lie;
    growth_ = std::expm1(e);
  }

  std::uint64_t threshold(std::uint64_t c) const {
    const long double x = tau_ * static_cast<long double>(c + 1);
    return static_cast<std::uint64_t>(std::ceil(std::fmax(0.0L, x)));
  }

  /// P(X >= t) - e^eps Q(X >= t), and how far rounding may have moved it.
  struct Value {
    long double value, error;
  };
  Value value(const FairTail& tail, long double steps) const {
    const long double plus = tail.mass_below() * gain_, minus = tail.tail() * growth_;
    return {std::fmax(0.0L, plus - minus), (1e-18L + 4e-19L * steps) * (std::fabs(plus) + minus)};
  }

 private:
  long double truth_ = 0, tau_ = 0, gain_ = 0, growth_ = 0;
};

// Sum over the outcomes of C, from the most likely outwards. Whatever is left out counts in full.
double clones_delta(std::uint64_t n, double epsilon0, double epsilon) {
  const std::uint64_t others = n - 1;
  const ClonePair pair(epsilon0, epsilon);
  const long double share = std::exp(-static_cast<long double>(epsilon0));
  const auto mode =
      std::min(others, static_cast<std::uint64_t>(std::floor(share * static_cast<long double>(n))));
  const long double odds = share / -std::expm1(-static_cast<long double>(epsilon0));
  const long double anchor = std::exp(log_binomial_exp(others, mode, epsilon0));
  // The middle outcome dominates neither tail; delta is at least this, so "negligible" is known.
  long double sum = 0, error = 0, left_out = 0, steps = 0;

  const FairTail start(mode, pair.threshold(mode));
  const auto take = [&](const FairTail& tail, long double mass) {
    const auto here = pair.value(tail, steps);
    sum += mass * here.value;
    error += mass * here.error;
  };
  {
    FairTail tail = start;
    long double mass = anchor;
    take(tail, mass);
    for (std::uint64_t c = mode; c < others; ++c, ++steps) {
      const long double ratio =
          static_cast<long double>(others - c) / static_cast<long double>(c + 1) * odds;
      if (ratio < 1 && mass * ratio <= kNegligible * sum * (1 - ratio)) {
        left_out += mass * ratio / (1 - ratio);
        break;
      }
      mass *= ratio;
      tail.raise_c();
      while (tail.t() < pair.threshold(c + 1)) tail.raise_t();
      take(tail, mass);
    }
  }
  steps = 0;
  FairTail tail = start;
  long double mass = anchor;
  for (std::uint64_t c = mode; c > 0; --c, ++steps) {
    const long double ratio =
        static_cast<long double>(c) / static_cast<long double>(others - c + 1) / odds;
    if (ratio < 1 && mass * ratio <= kNegligible * sum * (1 - ratio)) {
      left_out += mass * ratio / (1 - ratio);
      break;
    }
    mass *= ratio;
    while (tail.t() > pair.threshold(c - 1)) tail.lower_t();
    tail.lower_c();
    take(tail, mass);
  }
  const long double upper = (sum + left_out + error) * (1 + 1e-13L);
  return std::fmin(1.0, next_up(static_cast<double>(upper)));
}

// Two-point limits that need no sum.
double one_user_delta(double epsilon0, double epsilon) {
  if (epsilon >= epsilon0) return 0;
  const Interval e0 = epsilon0, e = epsilon;  // (e^e0 - e^eps) / (1 + e^e0)
  const Interval scaled = -expm1(e - e0) / (Interval(1) + exp(-e0));
  return std::fmin(1.0, scaled.hi);
}

}  // namespace

Result<double> shuffle_clones_delta(std::uint64_t n, double epsilon0, double epsilon) {
  DISCREET_TRY_VOID(check(n, epsilon0));
  if (!(epsilon >= 0)) return invalid_parameter("epsilon must not be negative");
  if (epsilon >= epsilon0) return 0.0;  // each report is epsilon0-DP by itself
  const double alone = one_user_delta(epsilon0, epsilon);
  if (n == 1 || epsilon0 > 700) return alone;
  return std::fmin(alone, clones_delta(n, epsilon0, epsilon));
}

Result<double> shuffle_clones_epsilon(std::uint64_t n, double epsilon0, double delta) {
  DISCREET_TRY_VOID(check(n, epsilon0));
  if (!(delta > 0 && delta < 1))
    return invalid_parameter(
        fmt::format("shuffling needs a delta strictly between 0 and 1, not {}", delta));
  DISCREET_TRY(const double at_zero, shuffle_clones_delta(n, epsilon0, 0));
  if (at_zero <= delta) return 0.0;
  double bad = 0, good = epsilon0;
  for (int step = 0; step < 60 && good - bad > 1e-10 * good; ++step) {
    const double middle = bad + (good - bad) / 2;
    DISCREET_TRY(const double there, shuffle_clones_delta(n, epsilon0, middle));
    (there <= delta ? good : bad) = middle;
  }
  return good;
}

Result<double> shuffle_closed_form_epsilon(std::uint64_t n, double epsilon0, double delta) {
  DISCREET_TRY_VOID(check(n, epsilon0));
  if (!(delta > 0 && delta < 1))
    return invalid_parameter(
        fmt::format("shuffling needs a delta strictly between 0 and 1, not {}", delta));
  const Interval users(count_down(n), count_up(n));
  const Interval log_term = log(Interval(4) / delta);
  if (!(epsilon0 <= log(users / (Interval(16) * log_term)).lo))
    return Error{ErrorCode::Refused,
                 "the closed form is proved for epsilon0 <= ln(n / (16 ln(4/delta))) only; use the "
                 "numeric bound"};
  const Interval e0 = exp(Interval(epsilon0));
  const Interval spread = Interval(8) * sqrt(e0 * log_term / users) + Interval(8) * e0 / users;
  return std::fmin(epsilon0, log1p((e0 - 1) / (e0 + 1) * spread).hi);
}

Result<double> shuffled_randomized_response_delta_lower(std::uint64_t n, double epsilon0,
                                                        double epsilon) {
  DISCREET_TRY_VOID(check(n, epsilon0));
  if (!(epsilon >= 0)) return invalid_parameter("epsilon must not be negative");
  if (epsilon >= epsilon0 || epsilon0 > 700) return 0.0;
  // b = Bin(n-1, lie); the two laws of the count of ones are b * Ber(truth) and b * Ber(lie).
  const std::uint64_t others = n - 1;
  const long double truth = 1 / (1 + std::exp(-static_cast<long double>(epsilon0)));
  const long double lie = 1 / (1 + std::exp(static_cast<long double>(epsilon0)));
  const long double scale = std::exp(static_cast<long double>(epsilon));
  const auto mode =
      std::min(others, static_cast<std::uint64_t>(std::floor(lie * static_cast<long double>(n))));
  long double above = 0, below = 0;  // the two directions
  // x counts ones; b(x-1) and b(x) move along. Terms left out only lower the bound.
  const auto take = [&](long double before, long double here) {
    const long double one = truth * before + lie * here, zero = lie * before + truth * here;
    above += std::fmax(0.0L, one - scale * zero);
    below += std::fmax(0.0L, zero - scale * one);
  };
  const long double anchor = std::exp(log_binomial(others, mode, -epsilon0));
  const auto up = [&](std::uint64_t x) {  // b(x+1) / b(x)
    return static_cast<long double>(others - x) / static_cast<long double>(x + 1) * (lie / truth);
  };
  long double here = anchor;
  for (std::uint64_t x = mode; x <= others; ++x) {  // the outcome x + 1
    const long double next = here * up(x);
    take(here, next);
    if (next <= kNegligible * std::fmax(above, below)) break;
    here = next;
  }
  here = anchor;
  for (std::uint64_t x = mode;; --x) {  // the outcome x
    const long double before = x == 0 ? 0 : here / up(x - 1);
    take(before, here);
    if (x == 0 || before <= kNegligible * std::fmax(above, below)) break;
    here = before;
  }
  const long double best = std::fmax(above, below) * (1 - 1e-12L);
  return std::fmax(0.0, next_down(static_cast<double>(best)));
}

}  // namespace discreet
