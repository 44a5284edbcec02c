#include "learn/moments.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace discreet::learn {
namespace {

constexpr double kMeanUnit = 1 << 16;
constexpr double kRowLength = 1 << 15;  // a clipped row is at most this long, in steps of its grid
constexpr std::int64_t kCountUnit = 16;
constexpr std::size_t kDistanceBins = 24;
constexpr double kDistanceRatio = 1.189207115002721;  // 2^(1/4)

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
  farthest = std::sqrt(farthest);
  const auto distance = [&](std::size_t row) {
    double sum = 0;
    for (std::size_t c = 0; c < d; ++c) {
      const double x = rows.columns[c][row] - moments.mean[c];
      sum += x * x;
    }
    return std::sqrt(sum);
  };
  std::vector<std::int64_t> histogram(kDistanceBins, 0);
  for (std::size_t row = 0; row < rows.rows; ++row) {
    const double below = farthest / std::fmax(distance(row), 1e-12);
    const auto bin = std::clamp(std::log(below) / std::log(kDistanceRatio), 0.0,
                                static_cast<double>(kDistanceBins - 1));
    histogram[static_cast<std::size_t>(bin)] += kCountUnit;
  }
  DISCREET_TRY_VOID(budget.release(histogram, kCountUnit, rest * settings.histogram_part, random));
  moments.radius = farthest;
  double above = 0;
  for (std::size_t bin = 0; bin + 1 < kDistanceBins; ++bin) {
    above += static_cast<double>(histogram[bin]) / kCountUnit;
    if (above > settings.tail / budget.mu()) break;
    moments.radius /= kDistanceRatio;
  }

  std::vector<std::int64_t> diagonal(d, 0), upper(d * (d - 1) / 2, 0);
  std::vector<std::int64_t> z(d);
  const double unit = kRowLength / moments.radius;
  for (std::size_t row = 0; row < rows.rows; ++row) {
    const double length = distance(row);
    // Shrunk a little more than needed and cut towards zero: |z| <= kRowLength for certain.
    const double scale =
        unit * (1 - 1e-9) * (length > moments.radius ? moments.radius / length : 1);
    for (std::size_t c = 0; c < d; ++c)
      z[c] = static_cast<std::int64_t>((rows.columns[c][row] - moments.mean[c]) * scale);
    std::size_t at = 0;
    for (std::size_t i = 0; i < d; ++i) {
      diagonal[i] += z[i] * z[i];
      for (std::size_t j = i + 1; j < d; ++j) upper[at++] += z[i] * z[j];
    }
  }
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
