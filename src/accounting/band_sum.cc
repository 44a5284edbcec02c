#include "accounting/band_sum.h"

#include <cmath>

namespace discreet {
namespace {

using Complex = std::complex<double>;

constexpr int kRefresh = 15;

}  // namespace

BandSum::BandSum(const TiltedProduct& product, bool upper, std::int64_t first, double decay)
    : points_(product.points()), decay_(decay) {
  const double n = static_cast<double>(points_);
  const auto alive = product.alive();
  const auto side = product.side(upper);
  const double keep = std::exp(-decay), lost = -std::expm1(-decay);
  for (std::size_t k = 0; k < alive.size(); ++k) {
    if (side[k] == Complex(0, 0)) continue;
    const std::uint32_t j = alive[k];
    // 1 - e^{i angle - decay}, each part without cancellation.
    const Complex turn = unit_root(j, points_, +1);
    const double half = unit_root(j, 2 * points_, +1).imag();  // sine of half the angle
    const Complex gap(lost + keep * 2 * half * half, -keep * turn.imag());
    const Complex start = side[k] * unit_root(first * static_cast<std::int64_t>(j), points_, +1);
    // Frequencies other than 0 and n/2 have a conjugate twin.
    const double twins = j == 0 || 2 * static_cast<std::size_t>(j) == points_ ? 1 : 2;
    const Complex factor = start / gap * (twins / n);
    frequencies_.push_back(j);
    factors_.push_back(factor);
    all_ += factor.real();
    error_ += 96 * 0x1p-53 * (2 * std::abs(factor)) + 4 * 0x1p-53 * std::fabs(all_);
  }
  error_ *= 1 + 0x1p-30;
}

double BandSum::from(std::size_t i) const {
  if (i >= points_) return 0;
  // e^{i angle (n - i)} turns the end of the window back to its start, whatever the frequency.
  const double end = std::exp(-decay_ * static_cast<double>(points_ - i));
  const auto root = [&](std::uint32_t j) {
    return unit_root(static_cast<std::int64_t>(i) * static_cast<std::int64_t>(j), points_, +1);
  };
  const Complex next = root(1);
  Complex turn;
  double sum = 0;
  int since = kRefresh;
  for (std::size_t k = 0; k < frequencies_.size(); ++k) {
    // Neighbouring frequencies are a running product, restarted before it drifts.
    if (++since > kRefresh || frequencies_[k] != frequencies_[k - 1] + 1) {
      turn = root(frequencies_[k]);
      since = 0;
    } else {
      turn = {turn.real() * next.real() - turn.imag() * next.imag(),
              turn.real() * next.imag() + turn.imag() * next.real()};
    }
    sum += factors_[k].real() * turn.real() - factors_[k].imag() * turn.imag();
  }
  return sum - end * all_;
}

}  // namespace discreet
