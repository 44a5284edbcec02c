#include "accounting/tilted_product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace discreet {
namespace {

using Complex = std::complex<double>;

constexpr double kUnit = 0x1p-53;
constexpr double kNegligibleLog = -80;  // of a squared factor to the count: e^-40 is below rounding
constexpr double kProductNegligible = 1e-34;  // of a squared product
constexpr double kNegligible = 5e-17;   // bounds all that was set to zero, in the Euclidean norm
constexpr double kDirectAdvantage = 3;  // terms of a direct sum for the price of one of a transform
constexpr std::int64_t kLanes = 4;
constexpr std::size_t kBlock = 64;  // of a direct sum, between fresh roots of unity

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
      low_(points / 2 + 1, Complex(1, 0)),
      alive_(points / 2 + 1) {
  std::iota(alive_.begin(), alive_.end(), 0U);
}

void TiltedProduct::multiply(const GridPart& part) {
  const GridLaw& law = *part.law;
  DISCREET_CHECK(law.step == step_ * static_cast<double>(law.stride),
                 "composed laws must share a grid");
  const auto count = static_cast<double>(part.count);
  std::vector<double> up, low;
  log_mass_up_ += count * tilt_masses(law, law.upper, tilt_, up);
  log_mass_low_ += count * tilt_masses(law, law.lower, tilt_, low);
  const double norm = std::hypot(euclidean(up), euclidean(low));
  norm_ = std::fmin(norm_, norm);
  count_ += count;
  const auto size = static_cast<double>(up.size());
  tilt_error_ += count * kUnit * (16 + 4 * tilt_ * law.step * size);
  finite_up_ += count * std::log1p(-std::fmin(1.0, law.infinite_upper));
  finite_low_ += count * std::log1p(-std::fmin(1.0, law.infinite_lower));
  offset_ += count * law.offset;
  loss_error_ += count * (law.loss_error + 2 * kUnit * std::fabs(law.offset));

  const auto alive = static_cast<double>(alive_.size()), n = static_cast<double>(points_);
  const double blocks = std::ceil(size / kBlock) + 1;
  if (alive * blocks * kBlock < kDirectAdvantage * n * std::log2(n)) {
    multiply_directly(law, up, low, part.count);
    direct_error_ += count * kUnit * (4 * kBlock + size / static_cast<double>(kBlock / kLanes)) *
                     std::sqrt(4 * alive / n);
  } else {
    multiply_by_transform(law, up, low, part.count);
    error_ += count * norm;
  }
}

void TiltedProduct::fold(std::size_t j, Complex up, Complex low, std::uint64_t count,
                         double negligible) {
  const auto one = [&](Complex& product, Complex factor) {
    if (product == Complex(0, 0)) return;
    product = std::norm(factor) < negligible ? Complex(0, 0) : times(product, power(factor, count));
    if (std::norm(product) < kProductNegligible) product = {0, 0};
  };
  one(up_[j], up);
  one(low_[j], low);
}

void TiltedProduct::forget_the_dead() {
  std::erase_if(alive_, [this](std::uint32_t j) {
    return up_[j] == Complex(0, 0) && low_[j] == Complex(0, 0);
  });
}

void TiltedProduct::multiply_by_transform(const GridLaw& law, const std::vector<double>& up,
                                          const std::vector<double>& low, std::uint64_t count) {
  const std::size_t n = points_;
  std::vector<Complex> buffer(n);
  for (std::size_t i = 0; i < up.size(); ++i) {
    const auto index = law.stride * (law.first + static_cast<std::int64_t>(i));
    buffer[static_cast<std::size_t>(index) & (n - 1)] += Complex(up[i], low[i]);
  }
  fft_->forward(buffer);
  // The transforms of the two real sequences are separated, raised to the count and multiplied in.
  const double negligible = std::exp(kNegligibleLog / static_cast<double>(count));
  for (const std::uint32_t j : alive_) {
    const Complex z = buffer[j], mirror = std::conj(buffer[(n - j) & (n - 1)]);
    const Complex half = (z - mirror) * 0.5;
    fold(j, (z + mirror) * 0.5, Complex(half.imag(), -half.real()), count, negligible);
  }
  forget_the_dead();
}

// Few frequencies are left once wide laws are in: the others' sums are taken term by term there.
void TiltedProduct::multiply_directly(const GridLaw& law, const std::vector<double>& up,
                                      const std::vector<double>& low, std::uint64_t count) {
  const double negligible = std::exp(kNegligibleLog / static_cast<double>(count));
  const auto& unit = fft_->roots();
  const std::size_t mask = points_ - 1;
  const auto root = [&](std::int64_t index, std::uint32_t j) {
    return unit[(static_cast<std::size_t>(index) * j) & mask];
  };
  std::vector<double> a(up), b(low);  // padded to whole blocks
  a.resize((a.size() + kBlock - 1) / kBlock * kBlock);
  b.resize(a.size());
  for (const std::uint32_t j : alive_) {
    Complex sum_up(0, 0), sum_low(0, 0);
    const Complex turn = root(kLanes * law.stride, j);
    for (std::size_t begin = 0; begin < a.size(); begin += kBlock) {
      // Independent lanes, so that one product need not wait for the last.
      double wr[kLanes], wi[kLanes], ur[kLanes]{}, ui[kLanes]{}, lr[kLanes]{}, li[kLanes]{};
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const Complex w =
            root(law.stride * (law.first + static_cast<std::int64_t>(begin) + lane), j);
        wr[lane] = w.real();
        wi[lane] = w.imag();
      }
      for (std::size_t i = begin; i < begin + kBlock; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          ur[lane] += a[i + lane] * wr[lane];
          ui[lane] += a[i + lane] * wi[lane];
          lr[lane] += b[i + lane] * wr[lane];
          li[lane] += b[i + lane] * wi[lane];
          const double real = wr[lane] * turn.real() - wi[lane] * turn.imag();
          wi[lane] = wr[lane] * turn.imag() + wi[lane] * turn.real();
          wr[lane] = real;
        }
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        sum_up += Complex(ur[lane], ui[lane]);
        sum_low += Complex(lr[lane], li[lane]);
      }
    }
    fold(j, sum_up, sum_low, count, negligible);
  }
  forget_the_dead();
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
