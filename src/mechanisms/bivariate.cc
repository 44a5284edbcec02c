#include "mechanisms/bivariate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/saturating.h"
#include "mechanisms/for_error.h"

namespace discreet {
namespace {

constexpr double kWidthMax = 0x1p24;

// The Bernstein polynomials of this degree at a / w, times w^degree: whole numbers.
std::array<Int128, 3> shares(Int128 a, Int128 w, std::size_t degree) {
  if (degree == 1) return {w - a, a, 0};
  return {(w - a) * (w - a), 2 * a * (w - a), a * a};
}

}  // namespace

std::vector<std::int64_t> bivariate_cells(IntegerRange first, IntegerRange second,
                                          BivariateDegree degree, const BivariateSums& sums) {
  // Every cell is a polynomial in a = x - l and b = y - l', of degree one or two in each: expand it
  // in powers of x and y, whose sums are given.
  const std::size_t d = static_cast<std::size_t>(degree), n = d + 1;
  const Int128 moments[3][3] = {{sums.rows, sums.second, sums.second2},
                                {sums.first, sums.product, sums.first_second2},
                                {sums.first2, sums.first2_second, sums.first2_second2}};
  using Coefficients = std::array<std::array<Int128, 3>, 3>;  // by cell, by power
  const auto coefficients = [&](IntegerRange range) {
    const Int128 l = range.lower, u = range.upper;
    if (d == 1) return Coefficients{{{u, -1, 0}, {-l, 1, 0}, {0, 0, 0}}};
    // (u - x)^2, 2 (x - l)(u - x), (x - l)^2.
    return Coefficients{{{u * u, -2 * u, 1}, {-2 * l * u, 2 * (l + u), -2}, {l * l, -2 * l, 1}}};
  };
  const Coefficients f = coefficients(first), g = coefficients(second);
  std::vector<std::int64_t> cells;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      Int128 cell = 0;
      for (std::size_t p = 0; p < n; ++p)
        for (std::size_t q = 0; q < n; ++q) cell += f[i][p] * g[j][q] * moments[p][q];
      cells.push_back(saturate(cell));
    }
  return cells;
}

Result<Bivariate> Bivariate::for_error(double rows, double confidence, IntegerRange first,
                                       IntegerRange second, BivariateDegree degree) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter("confidence must lie strictly between 0 and 1");
  return least_epsilon_for_error(
      rows, {0x1p-10, 0x1p20},
      [&](Epsilon epsilon) { return make(epsilon, first, second, degree); },
      [&](const Bivariate& mechanism) { return mechanism.error_bound(confidence); });
}

Result<Bivariate> Bivariate::make(Epsilon epsilon, IntegerRange first, IntegerRange second,
                                  BivariateDegree degree) {
  if (epsilon.value() < 0x1p-10 || epsilon.value() > 0x1p20)
    return invalid_parameter(
        fmt::format("epsilon must lie between 2^-10 and 2^20, not {}", epsilon.value()));
  const std::array<IntegerRange, 2> ranges = {first, second};
  Int128 product = 1;
  const auto power = static_cast<std::size_t>(degree);
  for (const IntegerRange range : ranges) {
    DISCREET_TRY_VOID(check_range(range));
    if (range.size() == 1)
      return invalid_parameter("a column whose range is one value does not vary with another");
    if (static_cast<double>(range.size() - 1) > kWidthMax)
      return invalid_parameter("a column's range must span at most 2^24 steps; use a coarser grid");
    for (std::size_t i = 0; i < power; ++i) product *= static_cast<Int128>(range.size() - 1);
  }
  const bool exact = product <= kExactScaleMax;
  const std::int64_t scale = exact ? static_cast<std::int64_t>(product) : kRoundedScale;
  DISCREET_TRY(const auto sensitivity, L1Sensitivity::make(static_cast<double>(scale)));
  DISCREET_TRY(auto noise, DiscreteLaplace::make(epsilon, sensitivity));
  return Bivariate(ranges, power, scale, exact, std::move(noise));
}

void Bivariate::add_row(std::int64_t first, std::int64_t second,
                        std::span<std::int64_t> sums) const {
  DISCREET_CHECK(sums.size() == cells(), "one sum a cell");
  const std::int64_t values[2] = {first, second};
  std::array<std::array<Int128, 3>, 2> parts;
  Int128 whole = 1;
  for (int j = 0; j < 2; ++j) {
    const auto w = static_cast<Int128>(ranges_[j].size() - 1);
    parts[j] = shares(Int128{ranges_[j].clamp(values[j])} - ranges_[j].lower, w, degree_);
    for (std::size_t i = 0; i < degree_; ++i) whole *= w;
  }
  std::int64_t left = scale_;
  std::size_t largest = 0;
  Int128 largest_share = -1;
  for (std::size_t i = 0; i <= degree_; ++i) {
    for (std::size_t j = 0; j <= degree_; ++j) {
      const Int128 share = parts[0][i] * parts[1][j];  // of `whole`, at most 2^96
      const auto rounded = static_cast<std::int64_t>(exact_ ? share : share * scale_ / whole);
      const std::size_t cell = i * (degree_ + 1) + j;
      sums[cell] = saturating_add(sums[cell], rounded);
      left -= rounded;
      if (share > largest_share) {
        largest_share = share;
        largest = cell;
      }
    }
  }
  // Shares are rounded down and the largest takes the rest: they sum to the scale exactly.
  sums[largest] = saturating_add(sums[largest], left);
}

BivariateRelease Bivariate::release(std::span<const std::int64_t> sums,
                                    RandomSource& random) const {
  DISCREET_CHECK(sums.size() == cells(), "one sum a cell");
  std::vector<std::int64_t> noisy(sums.begin(), sums.end());
  noise_.release(noisy, random);
  return BivariateRelease(*this, std::move(noisy));
}

double Bivariate::error_bound(double confidence) const {
  return noise_.error_bound_of_worst(confidence, cells()) / static_cast<double>(scale_);
}

BivariateRelease::BivariateRelease(const Bivariate& mechanism, std::vector<std::int64_t> noisy)
    : degree_(mechanism.degree_),
      units_(static_cast<double>(mechanism.ranges_[0].size() - 1) *
             static_cast<double>(mechanism.ranges_[1].size() - 1)),
      cell_error_(std::sqrt(mechanism.noise_.variance()) / static_cast<double>(mechanism.scale_)),
      count_floor_(4 / mechanism.noise_.epsilon().value()),
      noisy_(std::move(noisy)) {
  for (const std::int64_t cell : noisy_)
    cells_.push_back(static_cast<double>(cell) / static_cast<double>(mechanism.scale_));
}

BivariateRelease::Moments BivariateRelease::moments(std::span<const double> cells) const {
  Moments m{};
  const auto d = static_cast<double>(degree_);
  for (std::size_t i = 0; i <= degree_; ++i) {
    for (std::size_t j = 0; j <= degree_; ++j) {
      // y is the sum of i/d times the polynomials, and for degree two y^2 is the last of them.
      const double cell = cells[i * (degree_ + 1) + j];
      const double y = static_cast<double>(i) / d, x = static_cast<double>(j) / d;
      m.n += cell;
      m.first += y * cell;
      m.second += x * cell;
      m.product += x * y * cell;
      m.first2 += i == degree_ ? cell : 0;
      m.second2 += j == degree_ ? cell : 0;
    }
  }
  m.n = std::fmax(m.n, count_floor_);
  for (double* mean : {&m.first, &m.second, &m.product, &m.first2, &m.second2}) *mean /= m.n;
  return m;
}

// Central differences in every cell; the functions are smooth, and steps are small against n.
Estimate BivariateRelease::estimate(const std::function<double(const Moments&)>& f) const {
  const double step = 1e-4 * std::fmax(count_floor_, moments(cells_).n);
  double squares = 0;
  std::vector<double> moved = cells_;
  for (double& cell : moved) {
    const double kept = cell;
    cell = kept + step;
    const double up = f(moments(moved));
    cell = kept - step;
    const double down = f(moments(moved));
    cell = kept;
    squares += std::pow((up - down) / (2 * step), 2);
  }
  return {f(moments(cells_)), std::sqrt(squares) * cell_error_};
}

Estimate BivariateRelease::count() const {
  double n = 0;
  for (const double cell : cells_) n += cell;
  return {n, cell_error_ * std::sqrt(static_cast<double>(cells_.size()))};
}

Estimate BivariateRelease::covariance(Divisor divisor) const {
  return estimate([&](const Moments& m) {
    const double units = units_ * (divisor == Divisor::Sample ? m.n / std::fmax(1, m.n - 1) : 1);
    return units * std::clamp(m.product - m.first * m.second, -0.25, 0.25);
  });
}

Estimate BivariateRelease::correlation() const {
  DISCREET_CHECK(degree_ == 2, "a correlation needs the nine cells of degree two");
  return estimate([](const Moments& m) {
    const double first = m.first2 - m.first * m.first, second = m.second2 - m.second * m.second;
    if (!(first > 0 && second > 0)) return 0.0;
    return std::clamp((m.product - m.first * m.second) / std::sqrt(first * second), -1.0, 1.0);
  });
}

}  // namespace discreet
