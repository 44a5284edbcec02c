#include "learn/moments.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/rounding.h"

namespace discreet::learn {
namespace {

constexpr double kMeanUnit = 1 << 16;
constexpr double kRowLength = 1 << 15;  // a clipped row is at most this long, in steps of its grid
constexpr std::int64_t kCountUnit = 16;
constexpr std::size_t kDistanceBins = 24;
constexpr double kDistanceRatio = 1.189207115002721;  // 2^(1/4)

// Of each row from `mean`.
std::vector<double> squared_distances(const NumericRows& rows, std::span<const double> mean) {
  std::vector<double> away(rows.rows, 0.0);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const double* column = rows.columns[c].data();
    for (std::size_t row = 0; row < away.size(); ++row) {
      const double x = column[row] - mean[c];
      away[row] += x * x;
    }
  }
  return away;
}

// Bin b has the rows whose distance is within the b-th and the next of the falling radii.
std::vector<std::int64_t> distance_histogram(std::span<const double> away, double farthest2) {
  std::array<double, kDistanceBins - 1> radii2;  // rising
  for (std::size_t bin = 1; bin < kDistanceBins; ++bin)
    radii2[kDistanceBins - 1 - bin] =
        farthest2 * std::pow(kDistanceRatio, -2.0 * static_cast<double>(bin));
  std::vector<std::int64_t> histogram(kDistanceBins, 0);
  for (const double x : away) {
    std::size_t beyond = 0;  // counted without a branch: the compiler takes several at a time
    for (const double radius2 : radii2) beyond += x > radius2 ? 1 : 0;
    histogram[kDistanceBins - 1 - beyond] += kCountUnit;
  }
  return histogram;
}

// Sums of z z^T over rows moved to the mean, clipped to the radius and cut to whole numbers. Sums
// of a block are whole numbers below 2^53, so that doubles hold them exactly.
void add_products(const NumericRows& rows, const Moments& moments, std::span<const double> away,
                  double unit, std::span<std::int64_t> diagonal, std::span<std::int64_t> upper) {
  constexpr std::size_t kBlock = 512;
  static_assert(kBlock * kRowLength * kRowLength < 9007199254740992.0);
  const std::size_t d = moments.mean.size();
  const double inside = moments.radius * moments.radius;
  std::vector<std::array<double, kBlock>> z(d);
  std::array<double, kBlock> scale;
  const auto dot = [&](std::size_t i, std::size_t j) {
    std::array<double, 4> sums{};
    for (std::size_t k = 0; k < kBlock; k += 4)
      for (std::size_t l = 0; l < 4; ++l) sums[l] += z[i][k + l] * z[j][k + l];
    return static_cast<std::int64_t>(sums[0] + sums[1] + sums[2] + sums[3]);
  };
  for (std::size_t from = 0; from < rows.rows; from += kBlock) {
    const std::size_t count = std::min(kBlock, rows.rows - from);
    // Shrunk a little more than needed and cut towards zero: |z| <= kRowLength for certain.
    for (std::size_t k = 0; k < count; ++k) {
      const double far = away[from + k];
      scale[k] = unit * (1 - 1e-9) * (far > inside ? moments.radius / std::sqrt(far) : 1);
    }
    for (std::size_t c = 0; c < d; ++c) {
      const double* column = rows.columns[c].data() + from;
      for (std::size_t k = 0; k < count; ++k)
        z[c][k] = static_cast<double>(
            static_cast<std::int32_t>((column[k] - moments.mean[c]) * scale[k]));
      std::fill(z[c].begin() + static_cast<std::ptrdiff_t>(count), z[c].end(), 0.0);
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < d; ++i) {
      diagonal[i] += dot(i, i);
      for (std::size_t j = i + 1; j < d; ++j) upper[at++] += dot(i, j);
    }
  }
}

}  // namespace

Result<Moments> measure_moments(const NumericRows& rows, const MomentsSettings& settings,
                                GaussianBudget& budget, RandomSource& random) {
  const std::size_t d = rows.columns.size();
  if (d == 0) return Error{ErrorCode::Refused, "there is no column with numbers"};
  const double count_share = settings.share * settings.count_part;
  const double rest = settings.share - count_share;
  Moments moments;

  std::vector<std::int64_t> count{static_cast<std::int64_t>(rows.rows) * kCountUnit};
  DISCREET_TRY_VOID(budget.release(count, kCountUnit, count_share, random));
  moments.rows = std::fmax(1, static_cast<double>(count[0]) / kCountUnit);

  std::vector<std::int64_t> sums(d, 0);
  for (std::size_t c = 0; c < d; ++c)
    for (const double x : rows.columns[c]) sums[c] += static_cast<std::int64_t>(x * kMeanUnit);
  DISCREET_TRY_VOID(budget.release(sums, mul_up(kMeanUnit, sqrt_up(static_cast<double>(d))),
                                   rest * settings.mean_part, random));
  for (const std::int64_t sum : sums)
    moments.mean.push_back(
        std::clamp(static_cast<double>(sum) / kMeanUnit / moments.rows, -1.0, 1.0));

  double farthest = 0;  // from the mean to a corner of the cube
  for (const double x : moments.mean) farthest += (1 + std::fabs(x)) * (1 + std::fabs(x));
  const std::vector<double> away = squared_distances(rows, moments.mean);
  std::vector<std::int64_t> histogram = distance_histogram(away, farthest);
  farthest = std::sqrt(farthest);
  DISCREET_TRY_VOID(budget.release(histogram, kCountUnit, rest * settings.histogram_part, random));
  moments.radius = farthest;
  double above = 0;
  for (std::size_t bin = 0; bin + 1 < kDistanceBins; ++bin) {
    above += static_cast<double>(histogram[bin]) / kCountUnit;
    if (above > settings.tail / budget.mu()) break;
    moments.radius /= kDistanceRatio;
  }

  const double unit = kRowLength / moments.radius;
  std::vector<std::int64_t> diagonal(d, 0), upper(d * (d - 1) / 2, 0);
  add_products(rows, moments, away, unit, diagonal, upper);
  const double products_share = rest * (1 - settings.mean_part - settings.histogram_part);
  DISCREET_TRY(
      const double sigma,
      budget.release_symmetric(diagonal, upper, kRowLength * kRowLength, products_share, random));
  moments.sigma = sigma / (unit * unit);
  moments.products.assign(d, std::vector<double>(d, 0));
  std::size_t at = 0;
  for (std::size_t i = 0; i < d; ++i) {
    moments.products[i][i] = static_cast<double>(diagonal[i]) / (unit * unit);
    for (std::size_t j = i + 1; j < d; ++j)
      moments.products[i][j] = moments.products[j][i] =
          static_cast<double>(upper[at++]) / (unit * unit);
  }
  return moments;
}

Spectrum spectrum_of(const std::vector<std::vector<double>>& symmetric) {
  const auto d = static_cast<Eigen::Index>(symmetric.size());
  Eigen::MatrixXd matrix(d, d);
  for (Eigen::Index i = 0; i < d; ++i)
    for (Eigen::Index j = 0; j < d; ++j)
      matrix(i, j) = symmetric[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  Spectrum spectrum;
  for (Eigen::Index i = d - 1; i >= 0; --i) {
    spectrum.values.push_back(solver.eigenvalues()(i));
    auto& vector = spectrum.vectors.emplace_back();
    for (Eigen::Index j = 0; j < d; ++j) vector.push_back(solver.eigenvectors()(j, i));
  }
  return spectrum;
}

}  // namespace discreet::learn
