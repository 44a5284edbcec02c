#include "accounting/optimal_composition.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_bin_float.hpp>

namespace discreet {
namespace {

namespace mp = boost::multiprecision;
using Exact = mp::number<mp::cpp_bin_float<600, mp::digit_base_2>>;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}
Delta del(double value) {
  return Delta::make(value).value();
}

// The formula subtracts numbers of order 1 in 600 bits.
const Exact kReferenceError = 1e-150;

// The theorem of Kairouz, Oh and Viswanath as printed.
Exact printed_formula(double e, double d, int k, double epsilon) {
  const Exact growth = exp(Exact(e)), scale = exp(Exact(epsilon));
  Exact sum = 0, choose = 1;
  for (int i = 0; i <= k; ++i) {
    const Exact term = pow(growth, k - i) - scale * pow(growth, i);
    if (term > 0) sum += choose * term;
    choose = choose * (k - i) / (i + 1);
  }
  return 1 - pow(1 - Exact(d), k) * (1 - sum / pow(1 + growth, k));
}

TEST(OptimalCompositionTest, BracketsThePrintedFormulaTightly) {
  for (const double e : {1e-6, 0.01, 0.3, 1.0, 4.0})
    for (const double d : {0.0, 1e-12, 1e-3})
      for (const int k : {1, 2, 7, 40, 300})
        for (const double share : {0.0, 0.1, 0.5, 0.93, 1.0}) {
          const double epsilon = share * k * e;
          const Exact exact = printed_formula(e, d, k, epsilon);
          const double up = optimal_delta(eps(e), del(d), k, epsilon);
          const double down = optimal_delta_down(eps(e), del(d), k, epsilon);
          EXPECT_GE(Exact(up), exact - kReferenceError) << e << " " << d << " " << k;
          EXPECT_LE(Exact(down), exact + kReferenceError) << e << " " << d << " " << k;
          EXPECT_LE(up - down, 1e-12 * up + 1e-300) << e << " " << d << " " << k << " " << share;
        }
}

TEST(OptimalCompositionTest, PublishedValuesAreReproduced) {
  EXPECT_NEAR(optimal_delta(eps(1), del(0), 10, 4), 0.43057714453, 1e-11);
  EXPECT_NEAR(optimal_delta(eps(1), del(0.001), 30, 20), 0.0861420405462, 1e-12);
  EXPECT_NEAR(optimal_delta(eps(0.01), del(1e-8), 10000, 1), 0.12701157159, 1e-11);
  EXPECT_NEAR(optimal_epsilon(eps(0.1), del(0), 100, 1e-6), 4.77456758811, 1e-10);
  EXPECT_NEAR(optimal_epsilon(eps(0.1), del(1e-8), 100, 1e-5), 4.32963671402, 1e-10);
}

TEST(OptimalCompositionTest, AMillionReleasesAreBracketed) {
  const double up = optimal_epsilon(eps(0.01), del(0), 1'000'000, 1e-6);
  const double down = optimal_epsilon_down(eps(0.01), del(0), 1'000'000, 1e-6);
  EXPECT_NEAR(up, 96.715828, 1e-6);
  EXPECT_LE(down, up);
  EXPECT_LE(up - down, 1e-10);
}

TEST(OptimalCompositionTest, EpsilonIsContinuousInDeltaNotALattice) {
  const double e = 0.5;
  const double a = optimal_epsilon(eps(e), del(0), 10, 0.010);
  const double b = optimal_epsilon(eps(e), del(0), 10, 0.011);
  EXPECT_GT(a, b);
  EXPECT_LT(a - b, e);
}

TEST(OptimalCompositionTest, ItIsMonotoneInEveryParameter) {
  for (const double e : {0.05, 0.4}) {
    for (std::uint64_t k = 1; k < 60; k += 7) {
      const double here = optimal_delta(eps(e), del(1e-5), k, 1);
      EXPECT_LE(here, optimal_delta(eps(e * 1.1), del(1e-5), k, 1) * (1 + 1e-12));
      EXPECT_LE(here, optimal_delta(eps(e), del(2e-5), k, 1));
      EXPECT_LE(here, optimal_delta(eps(e), del(1e-5), k + 1, 1));
      EXPECT_GE(here, optimal_delta(eps(e), del(1e-5), k, 1.2));
    }
  }
}

TEST(OptimalCompositionTest, EdgesAreAnswered) {
  EXPECT_EQ(optimal_delta(eps(1), del(0), 0, 0), 0);
  EXPECT_EQ(optimal_delta(eps(0), del(0), 100, 0), 0);
  EXPECT_EQ(optimal_delta(eps(1), del(1), 3, 1), 1);
  EXPECT_TRUE(std::isinf(optimal_epsilon(eps(1), del(0.1), 10, 1e-3)));
  EXPECT_EQ(optimal_epsilon(eps(1), del(0), 1, 0.9), 0);
  EXPECT_LE(optimal_epsilon(eps(1), del(0), 5, 0), 5);
}

TEST(OptimalCompositionTest, DifferentReleasesMatchPublishedValues) {
  std::vector<ApproxDp> ten, nine;
  for (int i = 1; i <= 10; ++i) ten.push_back({eps(i / 10.0), del(0)});
  for (int i = 0; i < 9; ++i) nine.push_back({eps(i < 6 ? 0.3 : 0.9), del(0)});
  const auto a = optimal_delta(ten, 3).value();
  EXPECT_NEAR(a.upper, 0.147984434316, 1e-11);
  EXPECT_LE(a.lower, a.upper);
  EXPECT_NEAR(a.lower, a.upper, 1e-11);
  EXPECT_NEAR(optimal_delta(nine, 2)->upper, 0.210983056933, 1e-11);
}

TEST(OptimalCompositionTest, EqualReleasesGivenOneByOneAgreeWithTheClosedForm) {
  const std::vector<ApproxDp> releases(50, {eps(0.2), del(1e-7)});
  const auto delta = optimal_delta(releases, 2).value();
  EXPECT_NEAR(delta.upper, optimal_delta(eps(0.2), del(1e-7), 50, 2), 1e-15);
  EXPECT_NEAR(optimal_epsilon(releases, 1e-5).value(),
              optimal_epsilon(eps(0.2), del(1e-7), 50, 1e-5), 1e-12);
}

// The same workload, once with an order of releases that fits enumeration and once on a grid.
TEST(OptimalCompositionTest, TheGridBracketsTheExactAnswerAndOrderDoesNotMatter) {
  std::vector<ApproxDp> few, many, reversed;
  for (int i = 0; i < 18; ++i) few.push_back({eps(0.1 + 0.01 * i), del(0)});
  for (int i = 0; i < 60; ++i) many.push_back({eps(0.01 + 0.001 * i), del(1e-9)});
  reversed.assign(many.rbegin(), many.rend());
  const auto exact = optimal_delta(few, 1.5).value();
  EXPECT_LE(exact.upper - exact.lower, 1e-11 * exact.upper) << exact.upper;
  const auto grid = optimal_delta(many, 0.5, 1 << 16).value();
  EXPECT_LE(grid.lower, grid.upper);
  EXPECT_LE(grid.upper - grid.lower, 0.02 * grid.upper);
  const auto finer = optimal_delta(many, 0.5, 1 << 18).value();
  EXPECT_LE(finer.upper, grid.upper * (1 + 1e-9));
  EXPECT_GE(finer.lower, grid.lower * (1 - 1e-9));
  EXPECT_EQ(optimal_delta(reversed, 0.5, 1 << 16)->upper, grid.upper);
  const double epsilon = optimal_epsilon(many, 1e-6, 1 << 16).value();
  EXPECT_LE(optimal_delta(many, epsilon, 1 << 16)->upper, 1e-6);
  EXPECT_FALSE(optimal_delta(std::span<const ApproxDp>(), 1));
}

}  // namespace
}  // namespace discreet
