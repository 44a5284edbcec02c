#include "mechanisms/knorm.h"

#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <boost/math/special_functions/gamma.hpp>

#include "mechanisms/for_error.h"
#include "random/uniform.h"

namespace discreet {
namespace {

// Twice the distance from the middle of the range, as a whole number: z = centred / width.
Int128 centred(std::int64_t value, IntegerRange range) {
  return 2 * Int128{range.clamp(value)} - range.lower - range.upper;
}

Int128 width(IntegerRange range) {
  return Int128{range.upper} - range.lower;
}

// numerator / denominator to the nearest integer, halves away from zero; denominator > 0.
Int128 round_divide(Int128 numerator, Int128 denominator) {
  const Int128 half = denominator / 2;
  return (numerator >= 0 ? numerator + half : numerator - half) / denominator;
}

// Five-point Gauss-Legendre: exact for the polynomials of degree up to nine met here.
template <class F>
double integrate(const F& f, double low, double high) {
  static constexpr std::array<double, 3> kNodes = {0.0, 0.5384693101056831, 0.9061798459386640};
  static constexpr std::array<double, 3> kWeights = {0.5688888888888889, 0.4786286704993665,
                                                     0.2369268850561891};
  const double middle = (low + high) / 2, half = (high - low) / 2;
  double sum = kWeights[0] * f(middle);
  for (int i = 1; i < 3; ++i)
    sum += kWeights[i] * (f(middle - half * kNodes[i]) + f(middle + half * kNodes[i]));
  return sum * half;
}

// Area and moments of the slice of the curve's body at a given first coordinate.
struct Slice {
  double area, linear2, square, square2;
};

Slice slice_at(double a) {
  const double lam = (1 + a) / 2, mu = (1 - a) / 2;
  const auto above = [](double x) { return x > 0 ? x * x : 0; };
  const auto top = [&](double b) { return 1 - 2 * above(b - lam) / mu; };
  const auto bottom = [&](double b) { return -1 + 2 * above(b - mu) / lam; };
  const double first = std::fmin(lam, mu), second = std::fmax(lam, mu);
  const auto over_b = [&](const auto& f) {  // b and -b are alike
    return 2 * (integrate(f, 0, first) + integrate(f, first, second) + integrate(f, second, 1));
  };
  return {over_b([&](double b) { return top(b) - bottom(b); }),
          over_b([&](double b) { return b * b * (top(b) - bottom(b)); }),
          over_b([&](double b) { return (std::pow(top(b), 2) - std::pow(bottom(b), 2)) / 2; }),
          over_b([&](double b) { return (std::pow(top(b), 3) - std::pow(bottom(b), 3)) / 3; })};
}

// The scale at which all features are whole numbers, or zero when it is too large.
std::int64_t exact_scale(std::span<const MomentColumn> columns) {
  std::int64_t scale = 1;
  for (const auto& column : columns) {
    const Int128 w = width(column.range);
    const Int128 needed = column.with_variance ? w * w : w;
    if (needed > KNorm::kExactScaleMax) return 0;
    const Int128 common =
        Int128{scale} / std::gcd(scale, static_cast<std::int64_t>(needed)) * needed;
    if (common > KNorm::kExactScaleMax) return 0;
    scale = static_cast<std::int64_t>(common);
  }
  return scale;
}

}  // namespace

KNorm::KNorm(Epsilon epsilon, std::vector<MomentColumn> columns, std::int64_t scale,
             std::int64_t norm_of_row, GeometricSampler radius)
    : epsilon_(epsilon),
      columns_(std::move(columns)),
      scale_(scale),
      norm_of_row_(norm_of_row),
      radius_(std::move(radius)) {
  for (const auto& column : columns_) {
    MomentLayout place{dimension_++, 0};
    if (column.with_variance) place.square = dimension_++;
    layout_.push_back(place);
  }
  measure_noise();
}

Result<KNorm> KNorm::for_error(double rows, double confidence, std::vector<MomentColumn> columns) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter("confidence must lie strictly between 0 and 1");
  return least_epsilon_for_error(
      rows, {0x1p-10, 0x1p20}, [&](Epsilon epsilon) { return make(epsilon, columns); },
      [&](const KNorm& mechanism) { return mechanism.error_bound(confidence); });
}

Result<KNorm> KNorm::make(Epsilon epsilon, std::vector<MomentColumn> columns) {
  if (epsilon.value() < 0x1p-10 || epsilon.value() > 0x1p20)
    return invalid_parameter(
        fmt::format("epsilon must lie between 2^-10 and 2^20, not {}", epsilon.value()));
  if (columns.size() > kColumnsMax)
    return invalid_parameter(
        fmt::format("at most {} columns fit one joint release, not {}; ask in two statements",
                    kColumnsMax, columns.size()));
  for (const auto& column : columns) {
    DISCREET_TRY_VOID(check_range(column.range));
    const Int128 w = width(column.range);
    if (w == 0)
      return invalid_parameter("a column whose range is one value has that value as its mean");
    if (w > (Int128{1} << 40))
      return invalid_parameter("a column's range must span at most 2^40 steps; use a coarser grid");
  }
  const std::int64_t exact = exact_scale(columns);
  const std::int64_t scale = exact > 0 ? exact : kRoundedScale;
  // Rounding moves a row by a vector of norm at most one: see the proof.
  const std::int64_t norm_of_row = exact > 0 ? scale : scale + 1;
  const Rational rate = exact_rational(epsilon.value()).value() / norm_of_row;
  DISCREET_TRY(auto radius, GeometricSampler::make(rate));
  return KNorm(epsilon, std::move(columns), scale, norm_of_row, std::move(radius));
}

void KNorm::add_row(std::span<const std::int64_t> row, std::span<Int128> sums) const {
  DISCREET_CHECK(row.size() == columns_.size() && sums.size() == dimension_,
                 "one value a column, one sum a feature");
  sums[0] += scale_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Int128 c = centred(row[i], columns_[i].range), w = width(columns_[i].range);
    sums[layout_[i].linear] += round_divide(c * scale_, w);
    if (columns_[i].with_variance)
      sums[layout_[i].square] += round_divide((2 * c * c - w * w) * scale_, w * w);
  }
}

Result<std::vector<Int128>> KNorm::from_sums(std::uint64_t rows, std::span<const Int128> sums,
                                             std::span<const Int128> squares) const {
  const std::vector<Int128> counts(columns_.size(), static_cast<Int128>(rows));
  return from_sums(rows, counts, sums, squares);
}

Result<std::vector<Int128>> KNorm::from_sums(std::uint64_t rows, std::span<const Int128> counts,
                                             std::span<const Int128> sums,
                                             std::span<const Int128> squares) const {
  DISCREET_CHECK(counts.size() == columns_.size() && sums.size() == columns_.size() &&
                     squares.size() == columns_.size(),
                 "one count, one sum and one sum of squares a column");
  if (!exact_grid())
    return Error{ErrorCode::Refused,
                 "these columns are too wide for sums alone: features of every "
                 "row must be rounded before they are summed"};
  // Squares of such bounds times the rows fit 128 bits.
  constexpr std::int64_t kBoundMax = std::int64_t{1} << 40;
  for (const auto& column : columns_)
    if (column.range.lower < -kBoundMax || column.range.upper > kBoundMax)
      return Error{
          ErrorCode::Refused,
          "sums of squares of columns with bounds beyond 2^40 do not fit; shift the column"};
  DISCREET_CHECK(rows < (std::uint64_t{1} << 40), "fewer than 2^40 rows");
  std::vector<Int128> features(dimension_);
  features[0] = static_cast<Int128>(rows) * scale_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const IntegerRange range = columns_[i].range;
    const Int128 n = counts[i];
    const Int128 w = width(range), twice_middle = Int128{range.lower} + range.upper;
    features[layout_[i].linear] = (2 * sums[i] - n * twice_middle) * (scale_ / w);
    if (columns_[i].with_variance) {
      const Int128 c2 =
          4 * squares[i] - 4 * twice_middle * sums[i] + n * twice_middle * twice_middle;
      features[layout_[i].square] = (2 * c2 - n * w * w) * (scale_ / (w * w));
    }
  }
  return features;
}

// P[k] proportional to (2k + 1)^D r^k: a sum of D + 1 geometric variables has C(k + D, D) r^k, and
// is kept with the product of (2k + 1) / (2 (k + i)), one exact coin for each factor.
std::int64_t KNorm::draw_radius(RandomSource& random) const {
  for (;;) {
    std::int64_t k = radius_.draw(random);
    for (std::size_t i = 0; i < dimension_; ++i) k = saturating_add(k, radius_.draw(random));
    // Beyond 2^60 (chance below e^-1000) the arithmetic below would not fit.
    if (k >= std::int64_t{1} << 60) continue;
    const auto odd = static_cast<std::uint64_t>(2 * k + 1);
    bool kept = true;
    for (std::size_t i = 1; i <= dimension_; ++i)
      kept &= uniform_below(2 * (static_cast<std::uint64_t>(k) + i), random) < odd;
    if (kept) return k;
  }
}

bool KNorm::holds(std::int64_t k, std::span<const std::int64_t> v) const {
  // With L = k + a, M = k - a: c <= 1 - 2 max(0, |b| - lam)^2 / mu, all times k, is
  // max(0, 2|b| - L)^2 <= (k - c) M; and likewise from below.
  const Int128 l = Int128{k} + v[0], m = Int128{k} - v[0];
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].with_variance) continue;  // any b in [-k, k]
    const Int128 b = v[layout_[i].linear], c = v[layout_[i].square];
    const Int128 twice = 2 * (b < 0 ? -b : b);
    const Int128 t = twice > l ? twice - l : 0, s = twice > m ? twice - m : 0;
    if (t * t > (k - c) * m || s * s > (k + c) * l) return false;
  }
  return true;
}

std::vector<Int128> KNorm::release(std::span<const Int128> sums, RandomSource& random) const {
  DISCREET_CHECK(sums.size() == dimension_, "one sum a feature");
  std::vector<std::int64_t> v(dimension_);
  // On rejection radius and vector are both drawn again: keeping the radius would weigh small ones
  // by their share of accepted vectors.
  for (;;) {
    const std::int64_t k = draw_radius(random);
    for (auto& coordinate : v)
      coordinate =
          static_cast<std::int64_t>(uniform_below(static_cast<std::uint64_t>(2 * k + 1), random)) -
          k;
    if (holds(k, v)) break;
  }
  std::vector<Int128> noisy(sums.begin(), sums.end());
  for (std::size_t i = 0; i < dimension_; ++i) noisy[i] += v[i];
  return noisy;
}

LossEvent KNorm::loss() const {
  return loss::Pure{epsilon_};
}

double KNorm::error_bound(double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  // The norm of the noise is a Gamma variable of shape D and scale S / epsilon, up to the lattice,
  // and no coordinate exceeds the norm.
  const auto s = static_cast<double>(norm_of_row_);
  const double norm = boost::math::gamma_q_inv(static_cast<double>(dimension_), 1 - confidence) *
                      s / epsilon_.value();
  return (norm + 1) / static_cast<double>(scale_);
}

double KNorm::square_radius() const {
  const double rate = epsilon_.value() / static_cast<double>(norm_of_row_);
  const auto d = static_cast<double>(dimension_);
  // The sum below is a midpoint rule of a gamma integral in k + 1/2: 1e-5 from it, or less.
  if (rate < 0.02) return (d + 1) * (d + 2) / (rate * rate) - 0.25;
  double total = 0, sum = 0;
  for (double k = 0; k * rate < 60 + 20 * d; ++k) {
    const double weight = std::exp(d * std::log(2 * k + 1) - k * rate);
    total += weight;
    sum += weight * k * (k + 1);
  }
  return sum / total;
}

void KNorm::measure_noise() {
  const auto scale = static_cast<double>(scale_);
  const double radius2 = square_radius() / (scale * scale);
  int curves = 0;
  for (const auto& each : columns_) curves += each.with_variance;
  // Second moments of a uniform point of K: slices at a weigh area^curves.
  double volume = 0, a2 = 0, b2 = 0, c2 = 0, ac = 0;
  constexpr int kPanels = 16;
  for (int i = 0; i < kPanels && curves > 0; ++i) {
    const double low = -1 + 2.0 * i / kPanels, high = -1 + 2.0 * (i + 1) / kPanels;
    const auto over_a = [&](const auto& f) {
      return integrate(
          [&](double a) {
            const Slice slice = slice_at(a);
            return std::pow(slice.area, curves) * f(a, slice);
          },
          low, high);
    };
    volume += over_a([](double, const Slice&) { return 1.0; });
    a2 += over_a([](double a, const Slice&) { return a * a; });
    b2 += over_a([](double, const Slice& s) { return s.linear2 / s.area; });
    c2 += over_a([](double, const Slice& s) { return s.square2 / s.area; });
    ac += over_a([](double a, const Slice& s) { return a * s.square / s.area; });
  }
  const double count = curves > 0 ? a2 / volume : 1.0 / 3;
  line_noise_ = {count * radius2, radius2 / 3, 0, 0};
  if (curves > 0)
    curve_noise_ = {count * radius2, b2 / volume * radius2, c2 / volume * radius2,
                    ac / volume * radius2};
}

}  // namespace discreet
