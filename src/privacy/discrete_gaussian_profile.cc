#include "privacy/discrete_gaussian_profile.h"

#include <algorithm>
#include <cmath>

#include "base/rational.h"
#include "base/rounding.h"

namespace discreet {
namespace {

// Beyond this many sigmas a term is below the smallest double.
constexpr double kReach = 39;

}  // namespace

DiscreteGaussianProfile::DiscreteGaussianProfile(double sigma2) : sigma2_(sigma2) {
  DISCREET_CHECK(sigma2 > 0 && sigma2 <= kSigma2Max, "tails are summed for moderate noise only");
  const auto last = static_cast<std::size_t>(std::ceil(kReach * std::sqrt(sigma2))) + 2;
  sums_.resize(last + 2);
  const auto exponent_up = [&](double i) { return div_up(i * i, 2 * sigma2_); };
  const auto exponent_down = [&](double i) { return div_down(i * i, 2 * sigma2_); };
  // Terms fall with i >= 0, so those beyond `last` are below the integral from `last` on, which is
  // at most sigma2/last exp(-last^2 / (2 sigma2)).
  const auto n = static_cast<double>(last);
  sums_[last + 1] = {0, mul_up(div_up(sigma2_, n), exp_up(-exponent_down(n)))};
  for (std::size_t i = last + 1; i-- > 0;) {
    const auto x = static_cast<double>(i);
    sums_[i] = {add_down(sums_[i + 1].low, exp_down(-exponent_up(x))),
                add_up(sums_[i + 1].high, exp_up(-exponent_down(x)))};
  }
  total_ = {add_down(sums_[0].low, sums_[1].low), add_up(sums_[0].high, sums_[1].high)};
}

DiscreteGaussianProfile::Bounds DiscreteGaussianProfile::sum_from(std::int64_t at) const {
  const auto last = static_cast<std::int64_t>(sums_.size()) - 1;
  return at > last ? Bounds{0, sums_.back().high} : sums_[static_cast<std::size_t>(at)];
}

double DiscreteGaussianProfile::at_least_up(std::int64_t at) const {
  if (at >= 1) return std::fmin(1.0, div_up(sum_from(at).high, total_.low));
  return std::fmin(1.0, sub_up(1, div_down(sum_from(1 - at).low, total_.high)));
}

double DiscreteGaussianProfile::at_least_down(std::int64_t at) const {
  if (at >= 1) return div_down(sum_from(at).low, total_.high);
  return std::fmax(0.0, sub_down(1, div_up(sum_from(1 - at).high, total_.low)));
}

double DiscreteGaussianProfile::delta_up(double epsilon, std::int64_t sensitivity) const {
  DISCREET_CHECK(sensitivity >= 1 && sensitivity <= (1 << 20) && std::isfinite(epsilon),
                 "a sensitivity from 1 to 2^20 and a finite epsilon");
  const Rational product = exact_rational(epsilon).value() * exact_rational(sigma2_).value();
  const BigInt far = static_cast<std::int64_t>(sums_.size());
  const double grown = exp_down(epsilon);
  double worst = 0;
  for (std::int64_t d = sensitivity; d >= 1; --d) {
    // The first whole number above eps sigma2/d - d/2; the second threshold lies d further.
    const BigInt first = floor(product / d - Rational(d, 2)) + 1;
    // Further out only with smaller shifts, and all of them are below the last tail.
    if (first >= far) return std::fmax(worst, at_least_up(static_cast<std::int64_t>(far)));
    const auto at = static_cast<std::int64_t>(first);
    const double delta = sub_up(at_least_up(at), mul_down(grown, at_least_down(at + d)));
    worst = std::fmax(worst, delta);
  }
  return std::fmin(1.0, worst);
}

}  // namespace discreet
