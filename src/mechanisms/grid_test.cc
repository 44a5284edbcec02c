#include "mechanisms/grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "mechanisms/grid_gaussian.h"
#include "mechanisms/grid_laplace.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

TEST(GridTest, RefusesStepsThatAreNotOrdinaryNumbers) {
  for (const double step : {0.0, -1.0, 5e-324, 1e-310, std::nan(""), HUGE_VAL, -HUGE_VAL})
    EXPECT_FALSE(Grid::make(step)) << step;
  EXPECT_FALSE(Grid::make(Rational(0)));
  EXPECT_FALSE(Grid::make(Rational(-1, 3)));
  EXPECT_FALSE(Grid::for_scale(0));
  EXPECT_FALSE(Grid::for_scale(1e-320));
  EXPECT_TRUE(Grid::make(Rational(1, 3)));
}

TEST(GridTest, RoundsToTheNearestStepWithHalvesUpwards) {
  const auto quarter = Grid::make(0.25).value();
  EXPECT_EQ(quarter.nearest(1.0), 4);
  EXPECT_EQ(quarter.nearest(0.125), 1);
  EXPECT_EQ(quarter.nearest(-0.125), 0);
  EXPECT_EQ(quarter.nearest(std::nextafter(0.125, 0)), 0);
  EXPECT_EQ(quarter.value(-3), -0.75);
  const auto third = Grid::make(Rational(1, 3)).value();
  EXPECT_EQ(third.nearest(1.0), 3);
  EXPECT_EQ(third.nearest(-0.5), -1);  // -1.5 steps, upwards
  EXPECT_DOUBLE_EQ(third.value(2), 2.0 / 3);
}

TEST(GridTest, StopsAtTheLimitsAndTakesNotANumberForZero) {
  const auto grid = Grid::make(0x1p-30).value();
  EXPECT_EQ(grid.nearest(1e300), std::int64_t{1} << 62);
  EXPECT_EQ(grid.nearest(-HUGE_VAL), -(std::int64_t{1} << 62));
  EXPECT_EQ(grid.nearest(std::nan("")), 0);
  EXPECT_EQ(grid.nearest(5e-324), 0);
  const auto third = Grid::make(Rational(1, 3)).value();
  EXPECT_EQ(third.nearest(1e300), std::int64_t{1} << 62);
}

// The two ways to round agree: a power of two by doubles, and the same grid by rationals.
TEST(GridTest, RoundingByDoublesAgreesWithRationals) {
  const auto grid = Grid::make(0x1p-7).value();
  SeededRandom random(31);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random.bits64())),
                                    -20 - static_cast<int>(random.bits64() % 60));
    const BigInt exact = floor(exact_rational(value).value() * 128 + Rational(1, 2));
    EXPECT_EQ(BigInt(grid.nearest(value)), exact) << value;
  }
}

// Tries to refute the sensitivity after rounding, with answers that straddle the halves.
TEST(GridTest, RoundedAnswersMoveByNoMoreThanTheStepsClaimed) {
  SeededRandom random(32);
  for (const double sensitivity : {0.1, 0.25, 1.0, 1.3})
    for (const std::uint64_t k : {1ULL, 3ULL}) {
      const auto grid = Grid::make(0.25).value();
      const double l1 = grid.steps(L1Sensitivity::make(sensitivity).value(), k).value().value();
      const double l2 = grid.steps(L2Sensitivity::make(sensitivity).value(), k).value().value();
      double worst_l1 = 0, worst_l2 = 0;
      for (int trial = 0; trial < 20'000; ++trial) {
        double moved = 0, squares = 0;
        for (std::uint64_t i = 0; i < k; ++i) {
          const double from = static_cast<double>(random.bits64() % 64) / 32;
          const double by =
              sensitivity / static_cast<double>(k) * (random.bits64() % 2 == 0 ? 1 : 0.999);
          const auto steps = static_cast<double>(grid.nearest(from + by) - grid.nearest(from));
          moved += std::fabs(steps);
          squares += steps * steps;
        }
        worst_l1 = std::fmax(worst_l1, moved);
        worst_l2 = std::fmax(worst_l2, std::sqrt(squares));
      }
      EXPECT_LE(worst_l1, l1);
      EXPECT_LE(worst_l2, l2);
      EXPECT_GE(worst_l1, l1 - (k == 1 ? 0 : 2));  // the claim is not idle
    }
  EXPECT_FALSE(Grid::make(1e-300).value().steps(L1Sensitivity{1}, 1));
  EXPECT_FALSE(Grid::make(1e-300).value().steps(L2Sensitivity{1}, 2));
}

// Haney et al. 2022 tell inputs apart by which doubles can come out. Here every release of either
// input is a multiple of the step, and each multiple near the centre comes out of both.
TEST(GridTest, ReachableOutputsDoNotDependOnTheInput) {
  const auto laplace =
      GridLaplace::make(eps(1), L1Sensitivity{1}, Grid::make(0x1p-3).value()).value();
  const auto gaussian =
      GridGaussian::make(Rho::make(0.5).value(), L2Sensitivity{1}, Grid::make(0x1p-3).value())
          .value();
  SeededRandom random(33);
  const auto support = [&](const auto& mechanism, double exact) {
    std::set<double> seen;
    for (int i = 0; i < 40'000; ++i) {
      const double released = mechanism.release(exact, random);
      EXPECT_EQ(released * 8, std::floor(released * 8));
      if (std::fabs(released) <= 2) seen.insert(released);
    }
    return seen;
  };
  for (const double exact : {0.0, 0.1, 1 / 3.0, M_PI / 4}) {
    EXPECT_EQ(support(laplace, exact).size(), 33u);  // all of -2, -1.875, ..., 2
    EXPECT_EQ(support(gaussian, exact).size(), 33u);
  }
}

TEST(GridLaplaceTest, RefusesBadParameters) {
  const auto grid = Grid::make(0.01).value();
  EXPECT_FALSE(GridLaplace::make(Epsilon::zero(), L1Sensitivity{1}, grid));
  EXPECT_FALSE(GridLaplace::make(Epsilon::zero(), L1Sensitivity{1}));
  EXPECT_FALSE(GridLaplace::make(eps(5e-324), L1Sensitivity{1}, grid));
  EXPECT_FALSE(GridLaplace::make(eps(1), L1Sensitivity{1}, grid, 0));
  EXPECT_FALSE(GridLaplace::make(eps(1e308) + eps(1e308), L1Sensitivity{1}, grid));
  EXPECT_FALSE(GridLaplace::make(eps(1), L1Sensitivity::make(1e300).value(), grid));
  EXPECT_FALSE(GridLaplace::for_error(0.001, 0.95, L1Sensitivity{1}, grid));
  EXPECT_FALSE(GridLaplace::for_error(std::nan(""), 0.95, L1Sensitivity{1}, grid));
}

TEST(GridLaplaceTest, ADefaultGridCostsNextToNothing) {
  for (const std::uint64_t k : {1ULL, 100ULL}) {
    const auto mechanism = GridLaplace::make(eps(0.5), L1Sensitivity::make(3.7).value(), k).value();
    const double ideal = std::log(static_cast<double>(k) / 0.05) * 3.7 / 0.5;
    EXPECT_GE(mechanism.textbook_error_bound(0.05, k), ideal);
    EXPECT_LE(mechanism.textbook_error_bound(0.05, k), ideal * 1.0002);
  }
}

// P[worst of 10 >= the textbook's bound] <= 20 %: 20,000 vectors, six standard errors, 1e-8.
TEST(GridLaplaceTest, TheTextbookBoundHoldsOnACoarseGrid) {
  const auto mechanism =
      GridLaplace::make(eps(2), L1Sensitivity{1}, Grid::make(0.5).value(), 10).value();
  const double bound = mechanism.textbook_error_bound(0.2, 10);
  const double exact_bound = mechanism.error_bound_of_worst(0.8, 10);
  SeededRandom random(34);
  constexpr int kVectors = 20'000;
  int beyond = 0, beyond_exact = 0;
  for (int i = 0; i < kVectors; ++i) {
    std::vector<double> vector(10, 0.2);
    mechanism.release(vector, random);
    double worst = 0;
    for (const double v : vector) worst = std::fmax(worst, std::fabs(v - 0.2));
    beyond += worst >= bound;
    beyond_exact += worst > exact_bound;
  }
  const double slack = 6 * std::sqrt(0.2 * 0.8 / kVectors);
  EXPECT_LE(1.0 * beyond / kVectors, 0.2 + slack);
  EXPECT_LE(1.0 * beyond_exact / kVectors, 0.2 + slack);
  EXPECT_LE(exact_bound, bound);
}

TEST(GridLaplaceTest, ForErrorIsTheInverseOfErrorBound) {
  const auto grid = Grid::make(0.125).value();
  for (const double error : {0.0625, 1.0, 77.7}) {
    const auto mechanism =
        GridLaplace::for_error(error, 0.95, L1Sensitivity::make(1.5).value(), grid).value();
    EXPECT_LE(mechanism.error_bound(0.95), error);
  }
}

TEST(GridGaussianTest, ForErrorIsTheInverseOfErrorBound) {
  const auto grid = Grid::make(0.125).value();
  for (const double error : {0.0625, 1.0, 77.7}) {
    const auto mechanism =
        GridGaussian::for_error(error, 0.95, L2Sensitivity::make(1.5).value(), grid).value();
    EXPECT_LE(mechanism.error_bound(0.95), error);
  }
  EXPECT_FALSE(GridGaussian::for_error(0.01, 0.95, L2Sensitivity{1}, grid));
  EXPECT_FALSE(GridGaussian::make(Rho::zero(), L2Sensitivity{1}, grid));
  EXPECT_FALSE(GridGaussian::make(Rho::make(1).value(), L2Sensitivity{1}, grid, 0));
}

TEST(GridGaussianTest, AFineGridNeedsNoMoreNoiseThanContinuousGaussian) {
  const ApproxDp target{eps(1), Delta::make(1e-6).value()};
  const auto mechanism =
      GridGaussian::make(target, L2Sensitivity::make(2.5).value(), Grid::make(0x1p-12).value(), 20)
          .value();
  EXPECT_NEAR(mechanism.sigma(), 2.5 * 4.2247, 0.01);
  std::vector<double> values(20, 1.5);
  SeededRandom random(35);
  mechanism.release(values, random);
  for (const double v : values) EXPECT_EQ(v * 4096, std::floor(v * 4096));
}

}  // namespace
}  // namespace discreet
