#include "accounting/tilted_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
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
constexpr std::size_t kLanes = 4;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
constexpr std::size_t kBlock = 64;  // of a direct sum, between fresh roots of unity
constexpr double kBinsPerDeviation =
    100;  // of the index: frequencies at which damping is looked at
constexpr double kFoldMin = 1 << 10, kFoldMax = 1 << 16;

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

// Standard deviation of the index under these masses, rounded up.
double index_deviation(const GridLaw& law, const std::vector<double>& masses) {
  const double middle = static_cast<double>(law.at[law.at.size() / 2]);
  long double mean = 0, square = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const long double x = static_cast<double>(law.at[i]) - middle;
    mean += masses[i] * x;
    square += masses[i] * x * x;
  }
  const auto variance = static_cast<double>(square - mean * mean);
  return std::sqrt(std::fmax(0.0, variance)) * (1 + 1e-6) +
         1e-9 * static_cast<double>(law.at.back() - law.at.front());
}

}  // namespace

TiltedMasses::TiltedMasses(const GridLaw& of, double tilt) : law(&of) {
  log_up = tilt_masses(of, of.upper, tilt, up);
  log_low = tilt_masses(of, of.lower, tilt, low);
}

Complex unit_root(std::int64_t index, std::size_t points, int sign) {
  // Reduced to an eighth of a turn about the nearest multiple of a quarter: the angle is exact up
  // to its own rounding.
  const auto n = static_cast<std::int64_t>(points);
  const std::int64_t reduced = ((index % n) + n) % n;
  const std::int64_t quarter = (4 * reduced + n / 2) / n;
  const double rest = static_cast<double>(4 * reduced - quarter * n) / static_cast<double>(n);
  const double angle = rest * (std::numbers::pi / 2);
  const double c = std::cos(angle), s = std::sin(angle);
  Complex value;
  switch (quarter & 3) {
    case 0:
      value = {c, s};
      break;
    case 1:
      value = {-s, c};
      break;
    case 2:
      value = {-c, -s};
      break;
    default:
      value = {s, -c};
      break;
  }
  return sign > 0 ? value : std::conj(value);
}

std::vector<std::uint32_t> lasting_frequencies(std::span<const GridPart> parts, double tilt,
                                               std::size_t points) {
  std::vector<TiltedMasses> tilted;
  std::vector<double> deviations_up, deviations_low;
  double widest = 0;
  for (const GridPart& part : parts) {
    tilted.emplace_back(*part.law, tilt);
    deviations_up.push_back(index_deviation(*part.law, tilted.back().up));
    deviations_low.push_back(index_deviation(*part.law, tilted.back().low));
    widest = std::fmax(widest, deviations_up.back());
  }
  // Bins so narrow that little changes within one.
  const double wanted = std::clamp(kBinsPerDeviation * widest, kFoldMin, kFoldMax);
  const std::size_t n = std::min(points, std::bit_ceil(static_cast<std::size_t>(wanted)));
  const std::size_t intervals = n / 2;
  const Fft fft(n);
  // Bounds on ln of the product between one frequency that is looked at and the next.
  std::vector<double> up(intervals, 0.0), low(intervals, 0.0), square_up(intervals + 1),
      square_low(intervals + 1);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const TiltedMasses& masses = tilted[p];
    std::vector<Complex> buffer(n);
    for (std::size_t i = 0; i < masses.up.size(); ++i)
      buffer[static_cast<std::size_t>(masses.law->at[i]) & (n - 1)] +=
          Complex(masses.up[i], masses.low[i]);
    fft.forward(buffer);
    for (std::size_t j = 0; j <= intervals; ++j) {
      const Complex z = buffer[j], mirror = std::conj(buffer[(n - j) & (n - 1)]);
      square_up[j] = std::norm(z + mirror) / 4;
      square_low[j] = std::norm(z - mirror) / 4;
    }
    const double norm = std::hypot(euclidean(masses.up), euclidean(masses.low));
    const double error = 3 * Fft::error_bound(n) * std::sqrt(static_cast<double>(n)) * norm + 1e-12;
    // |E e^{i t I}|^2 = E cos t (I - I') bends by at most E (I - I')^2 = 2 Var I, so that between
    // two frequencies it is above their chord by at most (distance / 2)^2 Var I.
    const double half = std::numbers::pi / static_cast<double>(n);
    const auto bend = [&](double deviation) { return half * half * deviation * deviation + error; };
    const double bend_up = bend(deviations_up[p]), bend_low = bend(deviations_low[p]);
    const auto count = static_cast<double>(parts[p].count);
    const auto lower = [count](double& bound, double a, double b, double above) {
      bound += count * 0.5 * std::log(std::fmin(1.0, std::fmax(a, b) + above));
    };
    for (std::size_t j = 0; j < intervals; ++j) {
      lower(up[j], square_up[j], square_up[j + 1], bend_up);
      lower(low[j], square_low[j], square_low[j + 1], bend_low);
    }
  }
  std::vector<std::uint32_t> lasting{0};
  const std::size_t width = points / n;  // frequencies an interval
  for (std::size_t j = 0; j < intervals; ++j) {
    if (std::fmax(up[j], low[j]) < kNegligibleLog / 2) continue;
    for (std::size_t k = std::max<std::size_t>(j * width, lasting.back() + 1); k <= (j + 1) * width;
         ++k)
      lasting.push_back(static_cast<std::uint32_t>(k));
  }
  return lasting;
}

TiltedProduct::TiltedProduct(double step, double tilt, std::size_t points)
    : step_(step), tilt_(tilt), points_(points), alive_(points / 2 + 1) {
  std::iota(alive_.begin(), alive_.end(), 0U);
  up_.assign(alive_.size(), Complex(1, 0));
  low_ = up_;
}

TiltedProduct::TiltedProduct(double step, double tilt, std::size_t points,
                             std::vector<std::uint32_t> lasting)
    : step_(step),
      tilt_(tilt),
      points_(points),
      direct_only_(true),
      alive_(std::move(lasting)),
      up_(alive_.size(), Complex(1, 0)),
      low_(up_) {}

void TiltedProduct::multiply(const GridPart& part) {
  const GridLaw& law = *part.law;
  DISCREET_CHECK(law.step == step_, "composed laws must share a grid");
  const auto count = static_cast<double>(part.count);
  const TiltedMasses masses(law, tilt_);
  log_mass_up_ += count * masses.log_up;
  log_mass_low_ += count * masses.log_low;
  const double norm = std::hypot(euclidean(masses.up), euclidean(masses.low));
  norm_ = std::fmin(norm_, norm);
  count_ += count;
  const auto size = static_cast<double>(masses.up.size());
  const auto reach = static_cast<double>(law.at.back() - law.at.front());
  tilt_error_ += count * kUnit * (16 + 4 * tilt_ * law.step * reach);
  finite_up_ += count * std::log1p(-std::fmin(1.0, law.infinite_upper));
  finite_low_ += count * std::log1p(-std::fmin(1.0, law.infinite_lower));
  offset_ += count * law.offset;
  loss_error_ += count * (law.loss_error + 2 * kUnit * std::fabs(law.offset));

  const auto alive = static_cast<double>(alive_.size()), n = static_cast<double>(points_);
  const double blocks = std::ceil(size / kBlock) + 1;
  if (direct_only_ || alive * blocks * kBlock < kDirectAdvantage * n * std::log2(n)) {
    multiply_directly(masses, part.count);
    // Each transform is a sum of masses that add up to one, times roots that drift for a block.
    direct_error_ += count * kUnit * (160 + size / 8) * std::sqrt(4 * alive / n);
  } else {
    multiply_by_transform(masses, part.count);
    error_ += count * norm;
  }
}

void TiltedProduct::fold(std::size_t k, Complex up, Complex low, std::uint64_t count,
                         double negligible) {
  const auto one = [&](Complex& product, Complex factor) {
    if (product == Complex(0, 0)) return;
    product = std::norm(factor) < negligible ? Complex(0, 0) : times(product, power(factor, count));
    if (std::norm(product) < kProductNegligible) product = {0, 0};
  };
  one(up_[k], up);
  one(low_[k], low);
}

void TiltedProduct::forget_the_dead() {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < alive_.size(); ++k) {
    if (up_[k] == Complex(0, 0) && low_[k] == Complex(0, 0)) continue;
    alive_[kept] = alive_[k];
    up_[kept] = up_[k];
    low_[kept] = low_[k];
    ++kept;
  }
  alive_.resize(kept);
  up_.resize(kept);
  low_.resize(kept);
}

void TiltedProduct::multiply_by_transform(const TiltedMasses& masses, std::uint64_t count) {
  const std::size_t n = points_;
  if (!fft_) fft_ = std::make_shared<Fft>(n);
  std::vector<Complex> buffer(n);
  for (std::size_t i = 0; i < masses.up.size(); ++i)
    buffer[static_cast<std::size_t>(masses.law->at[i]) & (n - 1)] +=
        Complex(masses.up[i], masses.low[i]);
  fft_->forward(buffer);
  // The transforms of the two real sequences are separated, raised to the count and multiplied in.
  const double negligible = std::exp(kNegligibleLog / static_cast<double>(count));
  for (std::size_t k = 0; k < alive_.size(); ++k) {
    const std::uint32_t j = alive_[k];
    const Complex z = buffer[j], mirror = std::conj(buffer[(n - j) & (n - 1)]);
    const Complex half = (z - mirror) * 0.5;
    fold(k, (z + mirror) * 0.5, Complex(half.imag(), -half.real()), count, negligible);
  }
  forget_the_dead();
}

// Few frequencies are left once wide laws are in: the others' sums are taken term by term there, in
// blocks of equally spaced points along which roots of unity are running products.
void TiltedProduct::multiply_directly(const TiltedMasses& masses, std::uint64_t count) {
  const double negligible = std::exp(kNegligibleLog / static_cast<double>(count));
  struct Block {
    std::size_t begin, end;
    std::int64_t gap;
  };
  const std::vector<std::int64_t>& at = masses.law->at;
  std::vector<Block> blocks;
  for (std::size_t begin = 0; begin < at.size();) {
    const std::int64_t gap = begin + 1 < at.size() ? at[begin + 1] - at[begin] : 1;
    std::size_t end = begin + 1;
    while (end < at.size() && end - begin < kBlock && at[end] - at[end - 1] == gap) ++end;
    blocks.push_back({begin, end, gap});
    begin = end;
  }
  for (std::size_t k = 0; k < alive_.size(); ++k) {
    const std::int64_t j = alive_[k];
    Complex sum_up(0, 0), sum_low(0, 0);
    std::int64_t gap = 0;
    Complex turns[kLanes + 1];  // by 0 to kLanes gaps
    for (const Block& block : blocks) {
      if (block.gap != gap) {
        gap = block.gap;
        turns[0] = {1, 0};
        turns[1] = unit_root(gap * j, points_, -1);
        for (std::size_t lane = 2; lane <= kLanes; ++lane)
          turns[lane] = times(turns[lane / 2], turns[lane - lane / 2]);
      }
      const Complex start = unit_root(at[block.begin] * j, points_, -1);
      // Independent lanes, so that one product need not wait for the last.
      Lanes wr, wi, ur{}, ui{}, lr{}, li{};
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const Complex w = times(start, turns[lane]);
        wr[lane] = w.real();
        wi[lane] = w.imag();
      }
      const double tr = turns[kLanes].real(), ti = turns[kLanes].imag();
      for (std::size_t i = block.begin; i < block.end; i += kLanes) {
        Lanes up{}, low{};
        if (i + kLanes <= block.end) {
          std::memcpy(&up, &masses.up[i], sizeof up);
          std::memcpy(&low, &masses.low[i], sizeof low);
        } else {
          std::copy(&masses.up[i], masses.up.data() + block.end, reinterpret_cast<double*>(&up));
          std::copy(&masses.low[i], masses.low.data() + block.end, reinterpret_cast<double*>(&low));
        }
        ur += up * wr;
        ui += up * wi;
        lr += low * wr;
        li += low * wi;
        const Lanes real = wr * tr - wi * ti;
        wi = wr * ti + wi * tr;
        wr = real;
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        sum_up += Complex(ur[lane], ui[lane]);
        sum_low += Complex(lr[lane], li[lane]);
      }
    }
    fold(k, sum_up, sum_low, count, negligible);
  }
  forget_the_dead();
}

std::vector<Complex> TiltedProduct::masses() const {
  const std::size_t n = points_;
  std::vector<Complex> buffer(n);
  for (std::size_t k = 0; k < alive_.size(); ++k) {
    const std::size_t j = alive_[k];
    const Complex up = up_[k], low = low_[k];
    buffer[j] = up + Complex(-low.imag(), low.real());
    if (j > 0 && j < n / 2)  // the mirrored frequency has the conjugates
      buffer[n - j] = std::conj(up) + Complex(low.imag(), low.real());
  }
  (fft_ ? *fft_ : Fft(n)).inverse(buffer);
  return buffer;
}

double TiltedProduct::rounding() const {
  const double fft_error = Fft::error_bound(points_);
  const double powers = 2 * norm_ * 8 * kUnit * count_;
  return 1.1 *
             (error_ * (fft_error + 16 * kUnit) + 2 * norm_ * fft_error + powers + direct_error_) +
         kNegligible;
}

}  // namespace discreet
