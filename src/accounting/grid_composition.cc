#include "accounting/grid_composition.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include "base/check.h"

namespace discreet {
namespace {

using Complex = std::complex<double>;

constexpr double kUnit = 0x1p-53;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// tilted mass let outside the window, on each side
constexpr double kTiltMin = 1e-4;
constexpr double kExponentMax = 600;
constexpr int kRefresh = 48;  // running products of exponentials are restarted this often
constexpr std::size_t kLongWindow = 1 << 13;  // from here on vanishing frequencies are looked for
constexpr std::size_t kProved = 3;            // parts that are asked whether they do
constexpr double kTransformWork = 4;          // of a transform and its reading, against a product
constexpr std::size_t kBandShare = 128;  // points a frequency, from where masses are not formed

struct LawCumulants {
  double log_mass, mean, variance;
};

// Of one law's masses under e^{tilt * loss}. Powers are running products while the points are
// equally far apart, refreshed often enough to stay within rounding.
LawCumulants law_cumulants(const GridLaw& law, const std::vector<double>& masses, double tilt) {
  const double top = tilt >= 0 ? law.loss(masses.size() - 1) : law.loss(0);
  double m0 = 0, m1 = 0, m2 = 0;
  double power = 0, ratio = 1;
  std::int64_t gap = 0;
  int since = kRefresh;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    if (i > 0 && law.at[i] - law.at[i - 1] != gap) {
      gap = law.at[i] - law.at[i - 1];
      ratio = std::exp(tilt * law.step * static_cast<double>(gap));
      since = kRefresh;
    }
    power *= ratio;
    if (++since > kRefresh) {
      power = std::exp(tilt * (law.loss(i) - top));
      since = 0;
    }
    const double term = masses[i] * power;
    const double x = law.step * static_cast<double>(law.at[i] - law.at[0]);
    m0 += term;
    m1 += term * x;
    m2 += term * x * x;
  }
  if (!(m0 > 0)) return {-kInfinity, 0, 0};
  const double mean = m1 / m0;
  return {std::log(m0) + tilt * top, mean + law.loss(0), std::fmax(0.0, m2 / m0 - mean * mean)};
}

double log_sum(std::span<const GridPart> parts, double tilt, bool upper) {
  double sum = 0;
  for (const GridPart& part : parts)
    sum += static_cast<double>(part.count) * log_moment(*part.law, upper, tilt);
  return sum;
}

// ln |E e^{i frequency loss}| under the tilted upper masses; roughly, since it only sets an order.
double log_damping(const GridLaw& law, double tilt, double frequency) {
  const double top = law.loss(law.upper.size() - 1);
  std::complex<double> power, ratio, sum;
  double total = 0;
  std::int64_t gap = 0;
  int since = kRefresh;
  for (std::size_t i = 0; i < law.upper.size(); ++i) {
    if (i > 0 && law.at[i] - law.at[i - 1] != gap) {
      gap = law.at[i] - law.at[i - 1];
      ratio = std::exp(std::complex<double>(tilt, frequency) * law.step * static_cast<double>(gap));
      since = kRefresh;
    }
    power *= ratio;
    if (++since > kRefresh) {
      const double x = law.loss(i) - top;
      power = std::polar(std::exp(tilt * x), frequency * x);
      since = 0;
    }
    sum += law.upper[i] * power;
    total += law.upper[i] * std::sqrt(std::norm(power));
  }
  return total > 0 ? std::log(std::fmax(std::abs(sum) / total, 1e-300)) : 0;
}

// ln max over x >= 0 of e^{-c x} (1 - e^{-x}): what Chernoff's bound loses at best.
double log_peak(double c) {
  return c * std::log(c / (c + 1)) - std::log1p(c);
}

// A bound, in the Euclidean norm, on what a sum of errors of norm one can do to
// sum_j e_j e^{-c j h} (1 - e^{-j h}).
double weight_norm(double c, double step, std::size_t points) {
  const double terms = std::fmin(static_cast<double>(points), 1 + 1 / (c * step));
  return std::exp(log_peak(c / 2)) * std::sqrt(terms);
}

struct Ends {
  double low, high;  // the last that does not fit and the first that does
};

// Where a function that falls like an exponential comes down to the target: false position on its
// logarithm, with a bisection whenever that closes in slowly.
template <class F>
Ends least_fitting(F f, double target, double low, double high) {
  double at_low = f(low), at_high = f(high);
  for (int step = 0; step < 200 && high - low > 1e-11 * (1 + high); ++step) {
    double share = 0.5;
    if (step % 3 != 2 && at_high > 0 && at_low > at_high)
      share = std::log(at_low / target) / std::log(at_low / at_high);
    // Past the estimate, alternately, so that both ends close in.
    share = std::clamp(share + (step % 2 == 0 ? 1e-3 : -1e-3), 1e-4, 0.9999);
    const double middle = low + share * (high - low);
    const double value = f(middle);
    (value <= target ? high : low) = middle;
    (value <= target ? at_high : at_low) = value;
  }
  return {low, high};
}

double newton_tilt(std::span<const GridPart> parts, auto&& residual) {
  // The residual increases in the tilt: bracket by doubling, then Newton's method inside.
  double low = 0, high = kInfinity, tilt = 1;
  for (int step = 0; step < 60; ++step) {
    const Cumulants k = cumulants(parts, tilt);
    const auto [value, slope] = residual(k, tilt);
    if (std::fabs(value) < 1e-3) break;
    (value < 0 ? low : high) = tilt;
    double next = slope > 0 ? tilt - value / slope : kInfinity;
    if (!(next > low && next < high)) next = std::isinf(high) ? tilt * 4 : low + (high - low) / 2;
    next = std::fmin(next, tilt * 8);
    if (high < kTiltMin || std::fabs(next - tilt) < 1e-3 * tilt || next > 1e7) {
      tilt = next;
      break;
    }
    tilt = next;
  }
  return std::clamp(tilt, kTiltMin, 1e7);
}

}  // namespace

double log_moment(const GridLaw& law, bool upper, double tilt) {
  return law_cumulants(law, upper ? law.upper : law.lower, tilt).log_mass;
}

Cumulants cumulants(std::span<const GridPart> parts, double tilt) {
  Cumulants sum;
  for (const GridPart& part : parts) {
    const LawCumulants one = law_cumulants(*part.law, part.law->upper, tilt);
    const auto count = static_cast<double>(part.count);
    sum.value += count * one.log_mass;
    sum.slope += count * one.mean;
    sum.curvature += count * one.variance;
  }
  return sum;
}

double tilt_for_epsilon(std::span<const GridPart> parts, double epsilon) {
  // d/dc of K(c) - c eps + log_peak(c) is K'(c) - eps + ln(c / (c + 1)).
  return newton_tilt(parts, [epsilon](const Cumulants& k, double c) {
    const double scale = std::sqrt(std::fmax(k.curvature, 1e-300));
    return std::pair{(k.slope - epsilon + std::log(c / (c + 1))) / scale,
                     (k.curvature + 1 / (c * (c + 1))) / scale};
  });
}

double tilt_for_delta(std::span<const GridPart> parts, double delta) {
  // The best c for eps(c) = (K(c) - ln delta + log_peak(c)) / c has c K' - K = ln(1/delta) + ...
  return newton_tilt(parts, [delta](const Cumulants& k, double c) {
    const double value = c * k.slope - k.value + std::log(delta) + std::log1p(c);
    return std::pair{value, c * k.curvature + 1 / (1 + c)};
  });
}

GridComposition::GridComposition(std::span<const GridPart> parts, double tilt,
                                 std::size_t points_max)
    : tilt_(tilt) {
  DISCREET_CHECK(!parts.empty(), "nothing to compose");
  step_ = parts.front().law->step;
  const Cumulants k = cumulants(parts, tilt);
  centre_ = k.slope;
  spread_ = std::fmax(std::sqrt(k.curvature), step_);

  // The window: Chernoff's bound under the tilted law, at the best of a few rates.
  const double log_outside = std::log(kOutside);
  double high = -kInfinity, low = kInfinity;
  const double rate = std::sqrt(-2 * log_outside) / spread_;
  double total_up = 0, total_low = 0;  // no sum lies outside these
  for (const GridPart& part : parts) {
    total_up += static_cast<double>(part.count) * part.law->loss(part.law->upper.size() - 1);
    total_low += static_cast<double>(part.count) * part.law->loss(0);
  }
  // Each side of the bracket must fit: the widest of the two sides' best windows.
  for (const bool upper : {true, false}) {
    const double at = log_sum(parts, tilt, upper);
    if (!std::isfinite(at)) continue;
    // (K(c + s) - K(c) - ln outside) / s has one minimum in s; a Gaussian sum has it at `rate`, one
    // with rare large losses far below.
    const auto search = [&](double sign) {
      double bound = kInfinity;
      for (double s = rate; s > 1e-4 * rate; s /= 1.7) {
        const double here = (log_sum(parts, tilt + sign * s, upper) - at - log_outside) / s;
        if (!std::isfinite(here)) continue;  // a rate beyond what can be computed says nothing
        if (!(here < bound)) break;
        bound = here;
      }
      return bound;
    };
    const double side_high = search(+1), side_low = -search(-1);
    high = std::fmax(high, side_high);
    low = std::fmin(low, side_low);
  }
  high = std::fmin(high, total_up) + 2 * step_;
  low = std::fmax(low, total_low) - 2 * step_;
  const double wanted = (high - low) / step_ + 2;
  if (!std::isfinite(low) || !(wanted > 0 && wanted < static_cast<double>(points_max))) return;
  points_ = std::bit_ceil(static_cast<std::size_t>(std::fmax(wanted, 16.0)));
  if (points_ > points_max) return;
  ok_ = true;

  // Laws that damp high frequencies most come first: they leave few of them for the others.
  std::vector<std::pair<double, std::size_t>> order;
  double entries = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    order.emplace_back(
        static_cast<double>(parts[i].count) * log_damping(*parts[i].law, tilt, 8 / spread_), i);
    entries += static_cast<double>(parts[i].law->upper.size());
  }
  std::sort(order.begin(), order.end());
  std::vector<GridPart> sorted;
  for (const auto& [damping, i] : order) sorted.push_back(parts[i]);
  const auto n = static_cast<double>(points_);
  if (points_ >= kLongWindow) {
    auto lasting = lasting_frequencies(std::span(sorted).first(std::min(sorted.size(), kProved)),
                                       tilt, points_);
    if (static_cast<double>(lasting.size()) * entries < n * std::log2(n) * kTransformWork) {
      TiltedProduct product(step_, tilt, points_, std::move(lasting));
      for (const GridPart& part : sorted) product.multiply(part);
      read(product, low, high);
      return;
    }
  }
  TiltedProduct product(step_, tilt, points_);
  for (const GridPart& part : sorted) product.multiply(part);
  read(product, low, high);
}

GridComposition::GridComposition(const TiltedProduct& product, double centre, double spread,
                                 double low, double high)
    : step_(product.step()),
      tilt_(product.tilt()),
      centre_(centre),
      spread_(spread),
      points_(product.points()) {
  ok_ = (high - low) / step_ + 2 <= static_cast<double>(points_);
  if (ok_) read(product, low, high);
}

// Suffix sums over the window, from which every delta and epsilon is read.
void GridComposition::read(const TiltedProduct& product, double low, double high) {
  // Indices: the sum of all parts' indices, reduced to the window.
  const double offset = product.offset();
  const double room = (static_cast<double>(points_) - ((high - low) / step_ + 2)) / 2;
  const auto window_first = static_cast<std::int64_t>(std::floor((low - offset) / step_ - room));
  window_low_ = offset + step_ * static_cast<double>(window_first);
  window_usable_ = window_low_;
  loss_error_ = product.loss_error() +
                8 * kUnit * (std::fabs(offset) + std::fabs(window_low_) + std::fabs(high));
  const std::size_t n = points_;
  const bool banded = product.alive().size() * kBandShare < n;
  std::vector<Complex> masses;
  if (banded)  // left of here only Chernoff's bound is given
    window_usable_ = std::fmax(window_usable_, centre_ - kExponentMax / tilt_);
  else
    masses = product.masses();
  const auto fill = [&](Side& side, bool upper) {
    side.infinite = -std::expm1(product.log_finite(upper));
    side.infinite *= upper ? 1 + 16 * kUnit : 1 - 16 * kUnit;
    side.empty = !std::isfinite(product.log_mass(upper));
    if (side.empty) return;
    side.log_scale = product.log_mass(upper) - tilt_ * centre_;
    side.outside = 2.01 * kOutside;
    side.rounding = product.rounding();
    side.log_error = product.tilt_error() +
                     16 * kUnit * (1 + std::fabs(side.log_scale) + std::fabs(tilt_ * centre_));
    if (banded) {
      side.bands.emplace_back(product, upper, window_first, tilt_ * step_);
      side.bands.emplace_back(product, upper, window_first, (tilt_ + 1) * step_);
      return;
    }
    side.first.resize(n + 1);
    side.second.resize(n + 1);
    long double first = 0, second = 0;
    side.first[n] = side.second[n] = 0;
    const double grow_power = std::exp(tilt_ * step_), grow_decay = std::exp(step_);
    double power = 0, decay = 0;
    int since = kRefresh;
    for (std::size_t i = n; i-- > 0;) {
      const auto slot =
          static_cast<std::size_t>(window_first + static_cast<std::int64_t>(i)) & (n - 1);
      const double w = upper ? masses[slot].real() : masses[slot].imag();
      const double x = window_low_ + step_ * static_cast<double>(i) - centre_;
      if (-tilt_ * x > kExponentMax) {  // left of here only Chernoff's bound is given
        window_usable_ =
            std::fmax(window_usable_, window_low_ + step_ * static_cast<double>(i + 1));
        break;
      }
      if (++since > kRefresh) {
        power = std::exp(-tilt_ * x);
        decay = std::exp(-x);
        since = 0;
      }
      const double weight = w * power;
      first += weight;
      second += weight * decay;
      power *= grow_power;
      decay *= grow_decay;
      side.first[i] = static_cast<double>(first);
      side.second[i] = static_cast<double>(second);
    }
  };
  fill(upper_, true);
  fill(lower_, false);
}

double GridComposition::finite_part(const Side& side, double epsilon, double sign) const {
  const double position = std::ceil((epsilon - window_low_) / step_);
  const auto i = static_cast<std::size_t>(std::clamp(position, 0.0, static_cast<double>(points_)));
  if (!side.bands.empty()) {
    const double x = window_low_ + step_ * static_cast<double>(i);
    const double power = std::exp(-tilt_ * (x - centre_)), ratio = std::exp(epsilon - x);
    const double above = side.bands[0].from(i), scaled = ratio * side.bands[1].from(i);
    const double rounding =
        side.bands[0].error() + ratio * side.bands[1].error() +
        kUnit * (16 + 4 * tilt_ * std::fabs(x - centre_)) * (std::fabs(above) + std::fabs(scaled));
    return std::exp(side.log_scale) * power * (above - scaled + sign * rounding);
  }
  // The two sums are close where few losses exceed epsilon by little; their rounding is absolute.
  const double above = side.first[i], scaled = std::exp(epsilon - centre_) * side.second[i];
  const double rounding = 4 * kRefresh * kUnit * (std::fabs(above) + std::fabs(scaled));
  return std::exp(side.log_scale) * (above - scaled + sign * rounding);
}

double GridComposition::error_part(const Side& side, double epsilon) const {
  const double chernoff = std::exp(side.log_scale - tilt_ * (epsilon - centre_));
  return chernoff * (side.outside * std::exp(log_peak(tilt_)) +
                     side.rounding * weight_norm(tilt_, step_, points_));
}

double GridComposition::upper_delta(double epsilon) const {
  if (upper_.empty) return std::fmin(1.0, upper_.infinite * (1 + 4 * kUnit));
  const double shifted = epsilon - loss_error_;
  const double chernoff =
      std::exp(upper_.log_scale - tilt_ * (shifted - centre_) + log_peak(tilt_));
  double finite = chernoff;
  if (shifted >= window_usable_)
    finite = std::fmin(
        finite, std::fmax(0.0, finite_part(upper_, shifted, +1)) + error_part(upper_, shifted));
  finite *= 1 + upper_.log_error;
  return std::fmin(
      1.0, (upper_.infinite + finite) * (1 + 4 * kUnit) + std::numeric_limits<double>::min());
}

double GridComposition::lower_delta(double epsilon) const {
  if (lower_.empty) return lower_.infinite;
  const double shifted = std::fmax(epsilon + loss_error_, window_usable_);
  double finite = finite_part(lower_, shifted, -1) * (1 - lower_.log_error);
  finite -= error_part(lower_, shifted) * (1 + lower_.log_error);
  return lower_.infinite + std::fmax(0.0, finite) * (1 - 4 * kUnit);
}

Bracket GridComposition::delta(double epsilon) const {
  return {lower_delta(epsilon), upper_delta(epsilon)};
}

Bracket GridComposition::epsilon(double delta) const {
  const double top = window_low_ + step_ * static_cast<double>(points_);
  if (upper_delta(0) <= delta) return {0, 0};
  if (top <= 0 || upper_delta(top) > delta)
    return {std::fmax(0.0, lower_epsilon(delta, top)), kInfinity};
  const double high = least_fitting([&](double e) { return upper_delta(e); }, delta, 0, top).high;
  return {lower_epsilon(delta, high), high};
}

// An epsilon at which delta is certainly larger. The lower bound is sharp near the centre only (the
// error grows to the left as Chernoff's bound does), so the search starts at the upper answer.
double GridComposition::lower_epsilon(double delta, double upper) const {
  double low = upper, high = upper;
  for (double back = 1e-5 * (1 + upper); lower_delta(low) <= delta; back *= 4) {
    if (low <= 0) return 0;
    high = low;
    low = std::fmax(0.0, upper - back);
  }
  return least_fitting([&](double e) { return lower_delta(e); }, delta, low, high).low;
}

}  // namespace discreet
