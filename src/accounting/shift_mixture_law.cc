#include "accounting/shift_mixture_law.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = 0x1p-53;
constexpr double kFarthest = 38;  // beyond, a normal tail is below the least double
constexpr double kNarrow = 0.1;   // up to where the series of gaussian_between is exact

double gaussian_right(double x) {
  return static_cast<double>(
      0.5L * std::erfc(static_cast<long double>(x) / std::numbers::sqrt2_v<long double>));
}

// The normal mass of (a, a + width). A narrow cell takes the density at its middle and four terms
// of its Taylor series, whose even derivatives are Hermite polynomials (the next term is below
// 1e-16 of the whole); a wide one takes tails in extended precision.
double gaussian_between(double a, double width) {
  const double m = a + width / 2;
  if (width * std::fmax(1.0, std::fabs(m)) < kNarrow) {
    const double m2 = m * m, h2 = width * width / 4;
    const double he2 = m2 - 1;
    const double he4 = (m2 - 6) * m2 + 3;
    const double he6 = ((m2 - 15) * m2 + 45) * m2 - 15;
    const double he8 = (((m2 - 28) * m2 + 210) * m2 - 420) * m2 + 105;
    const double series =
        1 + h2 * (he2 / 6 + h2 * (he4 / 120 + h2 * (he6 / 5040 + h2 * he8 / 362880)));
    return width * std::exp(-m2 / 2) * series *
           (0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
  }
  constexpr long double kRoot = std::numbers::sqrt2_v<long double>;
  const long double left = static_cast<long double>(a) / kRoot;
  const long double right = (static_cast<long double>(a) + static_cast<long double>(width)) / kRoot;
  const long double mass =
      m > 0 ? std::erfc(left) - std::erfc(right) : std::erfc(-right) - std::erfc(-left);
  return static_cast<double>(mass / 2);
}

double laplace_right(double x) {
  return x >= 0 ? std::exp(-x) / 2 : 1 - std::exp(x) / 2;
}

double laplace_between(double a, double width) {
  if (a >= 0) return -std::expm1(-width) * std::exp(-a) / 2;
  const double b = a + width;
  if (b <= 0) return -std::expm1(-width) * std::exp(b) / 2;
  return -(std::expm1(a) + std::expm1(-b)) / 2;
}

}  // namespace

ShiftMixtureLaw::ShiftMixtureLaw(NoiseShape shape, double scale, std::vector<Shift> p,
                                 std::vector<Shift> q)
    : shape_(shape) {
  const auto take = [scale](const std::vector<Shift>& shifts, std::vector<Component>& into) {
    for (const Shift& s : shifts)
      if (s.weight > 0) into.push_back({s.weight, std::log(s.weight), s.shift / scale});
  };
  take(p, p_);
  take(q, q_);
  DISCREET_CHECK(!p_.empty() && !q_.empty(), "a mixture needs a component");
  shift_low_ = kInfinity;
  shift_high_ = -kInfinity;
  for (const auto* mixture : {&p_, &q_}) {
    for (const Component& c : *mixture) {
      shift_low_ = std::fmin(shift_low_, c.shift);
      shift_high_ = std::fmax(shift_high_, c.shift);
    }
  }
  const double span = shift_high_ - shift_low_;
  if (shape_ == NoiseShape::Gaussian) {
    const auto is_pair = [](const std::vector<Component>& m) {
      return m.size() == 2 && m[0].shift == 0 && m[1].shift != 0;
    };
    const auto is_origin = [](const std::vector<Component>& m) {
      return m.size() == 1 && m[0].shift == 0;
    };
    if (is_origin(q_) && (is_pair(p_) || p_.size() == 1)) {
      inverse_ = Inverse::SampledP;
      rate_ = p_.back().weight;
    } else if (is_origin(p_) && (is_pair(q_) || q_.size() == 1)) {
      inverse_ = Inverse::SampledQ;
      rate_ = q_.back().weight;
    }
    outcome_low_ = shift_low_ - kFarthest;
    outcome_high_ = shift_high_ + kFarthest;
    // Log-ratios are sums of terms as large as shift * outcome.
    loss_error_ = 8 * kUnit * (4 + span * (span + 12));
    const auto limit = [this](double sign) {
      // Far out the mixture is its extreme component; the loss has a limit only if P and Q share
      // it.
      const auto extreme = [sign](const std::vector<Component>& m) {
        return *std::max_element(m.begin(), m.end(), [sign](const auto& a, const auto& b) {
          return sign * a.shift < sign * b.shift;
        });
      };
      const Component a = extreme(p_), b = extreme(q_);
      return a.shift == b.shift ? a.log_weight - b.log_weight : sign * kInfinity;
    };
    loss_low_ = limit(-1);
    loss_high_ = limit(+1);
  } else {
    outcome_low_ = shift_low_;
    outcome_high_ = shift_high_;
    loss_low_ = loss_at(outcome_low_);
    loss_high_ = loss_at(outcome_high_);
    loss_error_ = 8 * kUnit * (4 + 2 * span);
    atoms_ = {{loss_low_, mass_left(p_, outcome_low_, true)},
              {loss_high_, mass_right(p_, outcome_high_, true)}};
  }
}

double ShiftMixtureLaw::mass_error() const {
  if (shape_ == NoiseShape::Laplace) return 16 * kUnit;
  // exp(-z^2/2) loses z^2 units; outcomes are looked at up to twelve deviations past the shifts.
  const double z = 12 + (shift_high_ - shift_low_);
  return (16 + 3 * z * z) * kUnit;
}

double ShiftMixtureLaw::log_mixture(const std::vector<Component>& mixture, double x,
                                    double* slope) const {
  double largest = -kInfinity;
  const auto exponent = [&](const Component& c) {
    return c.log_weight + (shape_ == NoiseShape::Gaussian
                               ? c.shift * (x - c.shift / 2)
                               : std::fabs(x - shift_low_) - std::fabs(x - c.shift));
  };
  for (const Component& c : mixture) largest = std::fmax(largest, exponent(c));
  double sum = 0, weighted = 0;
  for (const Component& c : mixture) {
    const double term = std::exp(exponent(c) - largest);
    sum += term;
    weighted += term * (shape_ == NoiseShape::Gaussian ? c.shift : (x < c.shift ? 1 : -1));
  }
  *slope = weighted / sum;
  return largest + std::log(sum);
}

double ShiftMixtureLaw::loss_at(double x) const {
  double slope;
  return log_mixture(p_, x, &slope) - log_mixture(q_, x, &slope);
}

// Newton's method inside a shrinking bracket.
double ShiftMixtureLaw::solve(double loss, double guess) const {
  double low = outcome_low_, high = outcome_high_;
  double x = guess > low && guess < high ? guess : low + (high - low) / 2;
  for (int step = 0; step < 200; ++step) {
    double slope_p, slope_q;
    const double error = log_mixture(p_, x, &slope_p) - log_mixture(q_, x, &slope_q) - loss;
    if (std::fabs(error) <= loss_error_ / 4) return x;
    (error < 0 ? low : high) = x;
    const double newton = x - error / (slope_p - slope_q);
    const double next = newton > low && newton < high ? newton : low + (high - low) / 2;
    if (next == x || !(low < high)) return x;
    x = next;
  }
  return x;
}

double ShiftMixtureLaw::outcome_at(double loss) const {
  if (loss <= loss_low_) return shape_ == NoiseShape::Gaussian ? -kInfinity : outcome_low_;
  if (loss >= loss_high_) return shape_ == NoiseShape::Gaussian ? kInfinity : outcome_high_;
  // e^loss = 1 - rate + rate e^{shift (x - shift/2)}, or the same with the loss and x negated.
  const auto sampled = [this](double l, double shift) {
    const double inner = std::expm1(l) + rate_;
    return inner <= 0 ? -kInfinity : std::log(inner / rate_) / shift + shift / 2;
  };
  switch (inverse_) {
    case Inverse::SampledP:
      return rate_ == 1 ? loss / p_.back().shift + p_.back().shift / 2
                        : sampled(loss, p_.back().shift);
    case Inverse::SampledQ:
      return -sampled(-loss, -q_.back().shift);
    case Inverse::Numeric:
      return solve(loss, kInfinity);
  }
  return kInfinity;
}

double ShiftMixtureLaw::mass_between(const std::vector<Component>& mixture, double a,
                                     double b) const {
  if (!(a < b)) return 0;
  if (a == -kInfinity) return mass_left(mixture, b, false);
  if (b == kInfinity) return mass_right(mixture, a, false);
  const double width = b - a;  // of the outcomes themselves: the same for P and Q
  double sum = 0;
  for (const Component& c : mixture)
    sum += c.weight * (shape_ == NoiseShape::Gaussian ? gaussian_between(a - c.shift, width)
                                                      : laplace_between(a - c.shift, width));
  return sum;
}

double ShiftMixtureLaw::mass_right(const std::vector<Component>& mixture, double x,
                                   bool atoms_too) const {
  if (shape_ == NoiseShape::Laplace && !atoms_too) return mass_between(mixture, x, outcome_high_);
  double sum = 0;
  for (const Component& c : mixture)
    sum += c.weight * (shape_ == NoiseShape::Gaussian ? gaussian_right(x - c.shift)
                                                      : laplace_right(x - c.shift));
  return sum;
}

double ShiftMixtureLaw::mass_left(const std::vector<Component>& mixture, double x,
                                  bool atoms_too) const {
  if (shape_ == NoiseShape::Laplace && !atoms_too) return mass_between(mixture, outcome_low_, x);
  double sum = 0;
  for (const Component& c : mixture)
    sum += c.weight * (shape_ == NoiseShape::Gaussian ? gaussian_right(c.shift - x)
                                                      : laplace_right(c.shift - x));
  return sum;
}

void ShiftMixtureLaw::cells(std::span<const double> cuts, std::span<double> p,
                            std::span<double> q) const {
  double slope = 0;  // of the outcome in the loss, to guess the next cut
  double previous = kInfinity;
  for (std::size_t j = 0; j < cuts.size(); ++j) {
    double x = 0;
    if (inverse_ == Inverse::Numeric && cuts[j] > loss_low_ && cuts[j] < loss_high_)
      x = solve(cuts[j], std::isfinite(previous) && j > 0
                             ? previous + slope * (cuts[j] - cuts[j - 1])
                             : kInfinity);
    else
      x = outcome_at(cuts[j]);
    if (j > 0) {
      p[j - 1] = mass_between(p_, previous, x);
      q[j - 1] = mass_between(q_, previous, x);
      slope = (x - previous) / (cuts[j] - cuts[j - 1]);
    }
    previous = x;
  }
}

double ShiftMixtureLaw::mass_above(double loss) const {
  if (loss >= loss_high_) return 0;
  if (loss < loss_low_) return 1;
  return std::fmin(1.0, mass_right(p_, outcome_at(loss), true) * (1 + mass_error()));
}

double ShiftMixtureLaw::mass_below(double loss) const {
  if (loss <= loss_low_) return 0;
  if (loss > loss_high_) return 1;
  return std::fmin(1.0, mass_left(p_, outcome_at(loss), true) * (1 + mass_error()));
}

LossLaw::Range ShiftMixtureLaw::range(double tail) const {
  if (shape_ == NoiseShape::Laplace) return {loss_low_, loss_high_};
  const auto bisect = [&](auto too_far, double near, double far) {
    for (int step = 0; step < 36; ++step) {
      const double middle = near + (far - near) / 2;
      (too_far(middle) ? far : near) = middle;
    }
    return far;
  };
  // Half of the tail is asked for, so that quick tails will do.
  const auto beyond = [this](double x, double sign) {
    double sum = 0;
    for (const Component& c : p_)
      sum += c.weight * 0.5 * std::erfc(sign * (x - c.shift) / std::numbers::sqrt2);
    return sum;
  };
  const double middle = (shift_low_ + shift_high_) / 2;
  const double right =
      bisect([&](double x) { return beyond(x, +1) <= tail / 2; }, middle, outcome_high_);
  const double left =
      bisect([&](double x) { return beyond(x, -1) <= tail / 2; }, middle, outcome_low_);
  return {loss_at(left), loss_at(right)};
}

Bracket ShiftMixtureLaw::delta(double epsilon) const {
  const double slack = mass_error();
  if (epsilon >= loss_high_ + loss_error_) return {0, 0};
  if (epsilon <= loss_low_ - loss_error_) {
    const double whole = -std::expm1(epsilon);
    return {std::fmax(0.0, whole - 4 * kUnit), std::fmin(1.0, whole + 4 * kUnit)};
  }
  // The optimal event is a half-line. Any half-line bounds delta from below; from above the found
  // one is optimal for an epsilon within loss_error_.
  const double x = outcome_at(epsilon);
  const bool laplace = shape_ == NoiseShape::Laplace;
  const double edge = laplace ? std::clamp(x, outcome_low_, outcome_high_) : x;
  const double p = mass_right(p_, edge, true), q = mass_right(q_, edge, true);
  const double lower = p * (1 - slack) - std::exp(epsilon) * q * (1 + slack);
  const double upper =
      p * (1 + slack) - std::exp(epsilon) * q * (1 - slack) * (1 - 2 * loss_error_);
  // Below the loss's supremum delta is positive, even where it is too small for a double.
  return {std::fmax(0.0, lower), std::clamp(upper, std::numeric_limits<double>::min(), 1.0)};
}

Bracket ShiftMixtureLaw::loss_max() const {
  return {loss_high_ - loss_error_, loss_high_ + loss_error_};
}

}  // namespace discreet
