#include "mechanisms/tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <numeric>

#include "support/seeded_random.h"

namespace discreet {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

// Ordinary least squares of the leaves from all noisy counts, by elimination: equal variances.
std::vector<double> least_squares(const std::vector<std::vector<std::int64_t>>& noisy,
                                  std::uint64_t branching) {
  const std::size_t n = noisy.back().size();
  std::vector<std::vector<double>> a(n, std::vector<double>(n + 1));
  for (std::size_t l = 0; l < noisy.size(); ++l) {
    std::uint64_t width = 1;
    for (std::size_t i = l + 1; i < noisy.size(); ++i) width *= branching;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] += i / width == j / width;
      a[i][n] += static_cast<double>(noisy[l][i / width]);
    }
  }
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = a[i][p] / a[p][p];
      for (std::size_t j = p; j <= n; ++j) a[i][j] -= factor * a[p][j];
    }
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = a[i][n] / a[i][i];
  return x;
}

TEST(TreeTest, EstimatesAreTheLeastSquaresSolution) {
  SeededRandom random(1);
  for (const auto& [leaves, branching] : {std::pair{13, 3}, {16, 4}, {7, 2}, {5, 9}}) {
    const auto tree = Tree::laplace(eps(0.5), leaves, branching).value();
    std::vector<std::int64_t> counts(leaves);
    std::iota(counts.begin(), counts.end(), 3);
    const auto release = tree.release(counts, random);
    const auto expected = least_squares(release.noisy(), branching);
    for (int i = 0; i < leaves; ++i) EXPECT_NEAR(release.leaves()[i], expected[i], 1e-9);
  }
}

TEST(TreeTest, StatedVarianceIsThatOfTheAnswers) {
  const auto tree = Tree::laplace(eps(1), 30, 4).value();
  const std::vector<std::int64_t> counts(30, 10);
  SeededRandom random(2);
  constexpr int kRuns = 20'000;
  const LeafRange ranges[] = {{0, 29}, {0, 6}, {5, 22}, {9, 9}};
  double squares[4] = {}, beyond[4] = {};
  double bounds[4];
  for (int j = 0; j < 4; ++j) bounds[j] = tree.range_error_bound(ranges[j], 0.95);
  for (int i = 0; i < kRuns; ++i) {
    const auto release = tree.release(counts, random);
    for (int j = 0; j < 4; ++j) {
      const double exact = 10.0 * static_cast<double>(ranges[j].last - ranges[j].first + 1);
      const double error = release.range(ranges[j]).value - exact;
      squares[j] += error * error;
      beyond[j] += std::fabs(error) > bounds[j];
    }
  }
  for (int j = 0; j < 4; ++j) {
    const double variance = tree.range_variance(ranges[j]);
    std::cout << "variance " << variance << " measured " << squares[j] / kRuns << ", bound "
              << bounds[j] << " exceeded " << beyond[j] / kRuns << "\n";
    // The square of the error has a standard deviation below 2.3 times its mean (Laplace kurtosis
    // 6).
    EXPECT_NEAR(squares[j] / kRuns / variance, 1, 6 * 2.3 / std::sqrt(kRuns));
    EXPECT_LE(beyond[j] / kRuns, 0.05 + 6 * std::sqrt(0.05 / kRuns));
    EXPECT_LT(bounds[j], 4.4 * std::sqrt(variance));  // better than Chebyshev
  }
}

TEST(TreeTest, GaussianVarianceIsStatedToo) {
  const auto tree = Tree::gaussian(Rho::make(0.1).value(), 64, 8).value();
  const std::vector<std::int64_t> counts(64, 10);
  SeededRandom random(3);
  double squares = 0;
  constexpr int kRuns = 5000;
  for (int i = 0; i < kRuns; ++i)
    squares += std::pow(tree.release(counts, random).range({3, 40}).value - 380, 2);
  EXPECT_NEAR(squares / kRuns / tree.range_variance({3, 40}), 1, 6 * 1.5 / std::sqrt(kRuns));
}

TEST(TreeTest, ConsistencyNeverHurtsAndBeatsTheFlatHistogramOnLongRanges) {
  const auto tree = Tree::laplace(eps(1), 1024).value();
  const auto flat = Tree::laplace(eps(1), 1024, 1024).value();
  std::cout << "branching " << tree.branching() << " levels " << tree.levels() << ", half range "
            << tree.range_variance({0, 511}) << " flat " << flat.range_variance({0, 511}) << "\n";
  EXPECT_EQ(flat.levels(), 1u);
  EXPECT_LT(tree.range_variance({0, 511}), 0.5 * flat.range_variance({0, 511}));
}

TEST(TreeTest, PartsAddUpAndTheCumulativeCountRises) {
  const auto tree = Tree::laplace(eps(0.05), 50, 7).value();
  const std::vector<std::int64_t> counts(50, 1);
  SeededRandom random(4);
  const auto release = tree.release(counts, random);
  EXPECT_NEAR(release.range({0, 19}).value + release.range({20, 49}).value, release.total(), 1e-9);
  const auto cdf = release.monotone_cdf();
  EXPECT_GE(cdf.front(), 0);
  for (std::size_t i = 1; i < cdf.size(); ++i) EXPECT_GE(cdf[i], cdf[i - 1]);
}

TEST(TreeTest, IsotonicFitPoolsViolators) {
  const double values[] = {1, 3, 2, 2, 5, 4};
  const auto fitted = isotonic(values);
  const double expected[] = {1, 7.0 / 3, 7.0 / 3, 7.0 / 3, 4.5, 4.5};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(fitted[i], expected[i], 1e-12);
}

TEST(TreeTest, LossIsSharedAmongLevels) {
  const auto tree = Tree::laplace(eps(1), 100, 10).value();
  const auto repeated = std::get<loss::Repeated>(tree.loss().kind);
  EXPECT_EQ(repeated.count, 2u);
  EXPECT_LE(std::get<loss::DiscreteLaplace>(repeated.inner->kind).scale, 2);
}

TEST(TreeTest, BadParametersAreRefused) {
  EXPECT_FALSE(Tree::laplace(eps(0), 10));
  EXPECT_FALSE(Tree::laplace(eps(5e-324), 10, 2));
  EXPECT_FALSE(Tree::laplace(eps(1e-30), 10));
  EXPECT_FALSE(Tree::laplace(eps(1), 0));
  EXPECT_FALSE(Tree::laplace(eps(1), std::uint64_t{1} << 40));
  EXPECT_FALSE(Tree::laplace(eps(1), 10, 1));
  EXPECT_FALSE(Tree::gaussian(Rho::zero(), 10));
  EXPECT_FALSE(Tree::gaussian(Rho::make(5e-324).value(), 10));
}

TEST(TreeTest, ExtremeCountsSaturate) {
  const auto tree = Tree::laplace(eps(1), 4, 2).value();
  const std::vector<std::int64_t> counts(4, std::numeric_limits<std::int64_t>::max());
  SeededRandom random(5);
  const auto release = tree.release(counts, random);
  for (const auto& level : release.noisy())
    for (const auto count : level) EXPECT_GT(count, std::int64_t{1} << 62);
}

}  // namespace
}  // namespace discreet
