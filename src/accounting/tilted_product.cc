#include "accounting/tilted_product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace discreet {
namespace {

using Complex = std::complex<double>;

constexpr double kUnit = 0x1p-53;
constexpr double kNegligibleLog = -160;  // of a squared factor: e^-80 cannot matter any more
constexpr double kNegligible = 1e-33;    // bounds all that was set to zero

Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex power(Complex base, std::uint64_t count) {
  Complex result(1, 0);
  for (; count > 0; count >>= 1) {
    if (count & 1) result = times(result, base);
    base = times(base, base);
  }
  return result;
}

double euclidean(const std::vector<double>& x) {
  long double sum = 0;
  for (const double v : x) sum += static_cast<long double>(v) * v;
  return static_cast<double>(std::sqrt(sum));
}

// The masses times e^{tilt * loss}, divided by their sum; the sum's logarithm is returned.
double tilt_masses(const GridLaw& law, const std::vector<double>& masses, double tilt,
                   std::vector<double>& out) {
  const double top = law.loss(masses.size() - 1);
  out.resize(masses.size());
  long double sum = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    out[i] = masses[i] > 0 ? masses[i] * std::exp(tilt * (law.loss(i) - top)) : 0;
    sum += out[i];
  }
  const double total = static_cast<double>(sum);
  if (!(total > 0)) return -std::numeric_limits<double>::infinity();
  for (double& v : out) v /= total;
  return std::log(total) + tilt * top;
}

}  // namespace

TiltedProduct::TiltedProduct(double step, double tilt, std::size_t points)
    : step_(step),
      tilt_(tilt),
      points_(points),
      fft_(std::make_shared<Fft>(points)),
      up_(points / 2 + 1, Complex(1, 0)),
      low_(points / 2 + 1, Complex(1, 0)) {}

void TiltedProduct::multiply(const GridPart& part) {
  const GridLaw& law = *part.law;
  DISCREET_CHECK(law.step == step_, "composed laws must share a grid");
  const auto count = static_cast<double>(part.count);
  const std::size_t n = points_;
  std::vector<Complex> buffer(n);
  std::vector<double> tilted;
  const auto place = [&](bool upper) {
    const double log_mass = tilt_masses(law, upper ? law.upper : law.lower, tilt_, tilted);
    (upper ? log_mass_up_ : log_mass_low_) += count * log_mass;
    for (std::size_t i = 0; i < tilted.size(); ++i) {
      const auto index = law.first + static_cast<std::int64_t>(i);
      auto& slot = buffer[static_cast<std::size_t>(index) & (n - 1)];
      slot += upper ? Complex(tilted[i], 0) : Complex(0, tilted[i]);
    }
    return euclidean(tilted);
  };
  const double norm = std::hypot(place(true), place(false));
  error_ += count * norm;
  norm_ = std::fmin(norm_, norm);
  count_ += count;
  tilt_error_ += count * kUnit * (16 + 4 * tilt_ * step_ * static_cast<double>(law.upper.size()));
  finite_up_ += count * std::log1p(-std::fmin(1.0, law.infinite_upper));
  finite_low_ += count * std::log1p(-std::fmin(1.0, law.infinite_lower));
  offset_ += count * law.offset;
  loss_error_ += count * (law.loss_error + 2 * kUnit * std::fabs(law.offset));

  fft_->forward(buffer);
  // The transforms of the two real sequences are separated, raised to the count and multiplied in.
  const double negligible = std::exp(kNegligibleLog / count);
  const auto fold = [&](Complex& product, Complex factor) {
    if (product == Complex(0, 0)) return;
    product =
        std::norm(factor) < negligible ? Complex(0, 0) : times(product, power(factor, part.count));
  };
  for (std::size_t j = 0; j <= n / 2; ++j) {
    const Complex z = buffer[j], mirror = std::conj(buffer[(n - j) & (n - 1)]);
    const Complex half = (z - mirror) * 0.5;
    fold(up_[j], (z + mirror) * 0.5);
    fold(low_[j], Complex(half.imag(), -half.real()));
  }
}

std::vector<Complex> TiltedProduct::masses() const {
  const std::size_t n = points_;
  std::vector<Complex> buffer(n);
  for (std::size_t j = 0; j < n; ++j) {
    const bool mirrored = j > n / 2;
    const std::size_t at = mirrored ? n - j : j;
    const Complex up = mirrored ? std::conj(up_[at]) : up_[at];
    const Complex low = mirrored ? std::conj(low_[at]) : low_[at];
    buffer[j] = up + Complex(-low.imag(), low.real());
  }
  fft_->inverse(buffer);
  return buffer;
}

double TiltedProduct::rounding() const {
  const double fft_error = Fft::error_bound(points_);
  return 1.1 * (error_ * (fft_error + 16 * kUnit) + 2 * norm_ * (fft_error + 8 * kUnit * count_)) +
         kNegligible;
}

}  // namespace discreet
