#include "inference/bounded_rows.h"

#include <algorithm>
#include <cmath>

namespace discreet::inference {
namespace {

constexpr double kLean = 1.3;       // of the beta law's skewness
constexpr double kShapeMin = 0.05;  // a + b of a law that is as good as two points
constexpr double kShapeMax = 1e6;   // a + b of a law that is as good as normal
constexpr double kNarrow = 1e-9;    // variance too small for a shape to matter
constexpr double kStraight = 1e-4;  // skewness that does not show

}  // namespace

BoundedRows::BoundedRows(double rows, double mean, double spread2)
    : rows_(std::max(2.0, rows)), mean_(mean), spread2_(spread2) {
  const double p = std::clamp((1 + mean) / 2, 0.0, 1.0), v = spread2 / 4;
  if (v < kNarrow || p <= 0 || p >= 1) return;
  // On [0, 1]: Beta(a, b) with a + b = s has mean a / s and variance ab / (s^2 (s + 1)).
  const double s = std::max(p * (1 - p) / v - 1, kShapeMin), a = p * s, b = (1 - p) * s;
  if (s > kShapeMax) return;
  skew_ = kLean * 2 * (b - a) * std::sqrt(s + 1) / ((s + 2) * std::sqrt(a * b));
  // No law within the range leans less or more than these (both are the two-point law's where the
  // variance is as large as the range allows).
  const double sd = std::sqrt(v);
  const double least = sd / p - p / sd, most = (1 - p) / sd - sd / (1 - p);
  skew_ = least < most ? std::clamp(skew_, least, most) : (least + most) / 2;
  const double excess =
      6 * ((a - b) * (a - b) * (s + 1) - a * b * (s + 2)) / (a * b * (s + 2) * (s + 3));
  tail_ = std::max(2 + kLean * kLean * excess, skew_ * skew_);  // Pearson's inequality
  bend_ = (tail_ - 2 - skew_ * skew_) / 2;
}

// The mean: a gamma law of the right skewness. The squares: what the mean tells about them, and
// the rest as a chi-square of the right variance.
DrawnRows BoundedRows::draw(Resample& random) const {
  const double n = rows_, skew = skew_ / std::sqrt(n);
  double z = 0;
  if (std::fabs(skew) < kStraight) {
    z = random.normal();
  } else {
    const double shape = 4 / (skew * skew);  // a gamma law's skewness is 2 / sqrt(shape)
    z = (random.chi_square(2 * shape) / 2 - shape) / std::sqrt(shape) * (skew > 0 ? 1 : -1);
  }
  // The squares given the mean, to second order: 1 + skew z + bend (z^2 - 1) / n. For the two-point
  // law that is exact, as the mean tells the squares; for the exponential one too.
  // Cov(mean, variance) = third moment / n; the fourth less one is at least the third squared.
  const double rest = std::max(1e-9, tail_ - skew_ * skew_) / (n - 1), degrees = 2 / rest;
  const double share = random.chi_square(degrees) / degrees + skew * z + bend_ * (z * z - 1) / n;
  return {mean_ + std::sqrt(spread2_ / n) * z, spread2_ * (n - 1) * std::max(0.0, share)};
}

}  // namespace discreet::inference
