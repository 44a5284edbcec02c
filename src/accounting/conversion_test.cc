#include "accounting/conversion.h"

#include <cmath>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "support/seeded_random.h"

namespace discreet {
namespace {

namespace mp = boost::multiprecision;
using Exact = mp::number<mp::cpp_bin_float<200, mp::digit_base_2>>;

Rho rho(double value) {
  return Rho::make(value).value();
}
ApproxDp target(double epsilon, double delta) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}
double uniform(SeededRandom& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.bits64() >> 11) * 0x1p-53;
}

// The conversions of one order, in 200-bit arithmetic.
Exact exact_epsilon(double order, double rdp, double delta) {
  const Exact a(order);
  return Exact(rdp) + log(1 - 1 / a) - log(Exact(delta) * a) / (a - 1);
}
Exact exact_delta(double order, double rdp, double epsilon) {
  const Exact a(order);
  return exp((a - 1) * (Exact(rdp) - epsilon + log(1 - 1 / a))) / a;
}
// The optimum over orders of a function of ln(a - 1) that falls and then rises.
template <class F>
Exact exact_minimum(F at) {
  Exact low = -12, high = 12;
  for (int i = 0; i < 110; ++i) {
    const Exact a = low + (high - low) / 3, b = high - (high - low) / 3;
    (at(1 + exp(a)) < at(1 + exp(b)) ? high : low) = at(1 + exp(a)) < at(1 + exp(b)) ? b : a;
  }
  return at(1 + exp(low));
}

TEST(ConversionTest, PublishedValuesOfConcentratedPrivacyAreReproduced) {
  EXPECT_NEAR(zcdp_epsilon(rho(0.03125), 1e-3), 0.688002455488, 1e-11);
  EXPECT_NEAR(zcdp_epsilon(rho(0.5), 1e-6), 5.22153444453, 1e-10);
  EXPECT_NEAR(zcdp_epsilon(rho(0.1), 1e-10), 2.88182800917, 1e-10);
  EXPECT_NEAR(zcdp_epsilon(rho(2.63), 1e-10), 17.4305844873, 1e-9);
  EXPECT_NEAR(zcdp_delta(rho(0.5), 3), 0.00514318406386, 1e-13);
  EXPECT_NEAR(zcdp_delta(rho(0.05), 1), 0.000385709163744, 1e-14);
  EXPECT_NEAR(zcdp_epsilon_textbook(rho(2.63), 1e-10), 18.19, 0.005);
}

TEST(ConversionTest, OneOrderRoundsUpByALittleAgainst200Bits) {
  SeededRandom random(1);
  for (int i = 0; i < 2000; ++i) {
    const double order = 1 + std::exp(uniform(random, -4, 7));
    const double rdp = std::exp(uniform(random, -12, 3));
    const double delta = std::exp(uniform(random, -40, -1));
    const double epsilon = rdp_epsilon(order, rdp, delta);
    if (epsilon > 0) {
      const Exact exact = exact_epsilon(order, rdp, delta);
      EXPECT_GE(Exact(epsilon), exact);
      // Near order 1 the formula divides by a - 1, and its rounding with it.
      EXPECT_LE(Exact(epsilon), exact + 1e-13 * (1 + abs(exact) + 4 / (order - 1)));
    }
    const double at = uniform(random, 0, 20);
    const double back = rdp_delta(order, rdp, at);
    const Exact exact = exact_delta(order, rdp, at);
    const Exact variation = sqrt(1 - exp(-Exact(rdp)));
    const Exact least = exact < variation ? exact : variation;
    EXPECT_GE(Exact(back), least < 1 ? least : Exact(1));
    EXPECT_LE(Exact(back), least * (1 + 1e-10) + 1e-300);
    // A budget that is all spent meets its target.
    const double fits = rdp_budget(order, target(at, delta));
    if (fits > 0) {
      EXPECT_LE(exact_epsilon(order, fits, delta), Exact(at));
    }
  }
}

TEST(ConversionTest, ConcentratedPrivacyIsTheOptimumOverOrdersAgainst200Bits) {
  SeededRandom random(2);
  for (int i = 0; i < 8; ++i) {
    const double r = std::exp(uniform(random, -7, 2));
    const double delta = std::exp(uniform(random, -30, -3));
    const Exact best = exact_minimum(
        [&](const Exact& a) { return Exact(a * r + log(1 - 1 / a) - log(delta * a) / (a - 1)); });
    const double epsilon = zcdp_epsilon(rho(r), delta);
    EXPECT_GE(Exact(epsilon), best - 1e-30);
    EXPECT_LE(Exact(epsilon), best * (1 + 1e-12) + 1e-14);
    const Exact log_delta = exact_minimum([&](const Exact& a) {
      return Exact((a - 1) * (a * r - epsilon) + a * log(1 - 1 / a) - log(a - 1));
    });
    const double back = zcdp_delta(rho(r), epsilon);
    EXPECT_GE(Exact(back), exp(log_delta) * (1 - 1e-30));
    EXPECT_LE(Exact(back), exp(log_delta) * (1 + 1e-11));
  }
}

TEST(ConversionTest, TheLargestRhoFitsAndTheNextDoesNot) {
  for (const auto& [epsilon, delta] : {std::pair{1.0, 1e-6}, {0.01, 1e-9}, {20.0, 1e-12}}) {
    const double fits = zcdp_rho(target(epsilon, delta))->value();
    EXPECT_LE(zcdp_epsilon(rho(fits), delta), epsilon);
    EXPECT_GT(zcdp_epsilon(rho(fits * (1 + 1e-9)), delta), epsilon);
  }
  EXPECT_FALSE(zcdp_rho(target(1, 0)));
  EXPECT_FALSE(zcdp_rho(target(1, 1)));
}

TEST(ConversionTest, MoreLossNeverCostsLess) {
  double last_epsilon = 0, last_delta = 0;
  for (double r = 1e-4; r < 50; r *= 1.3) {
    EXPECT_GE(zcdp_epsilon(rho(r), 1e-7), last_epsilon);
    EXPECT_GE(zcdp_delta(rho(r), 1), last_delta);
    last_epsilon = zcdp_epsilon(rho(r), 1e-7);
    last_delta = zcdp_delta(rho(r), 1);
    EXPECT_GE(zcdp_epsilon(rho(r), 1e-8), zcdp_epsilon(rho(r), 1e-7));
    EXPECT_LE(zcdp_delta(rho(r), 2), zcdp_delta(rho(r), 1));
    EXPECT_LE(zcdp_epsilon(rho(r), 1e-7), zcdp_epsilon_textbook(rho(r), 1e-7));
  }
}

TEST(ConversionTest, EdgesAreAnsweredWithoutNegativesOrNans) {
  EXPECT_EQ(zcdp_epsilon(Rho::zero(), 1e-9), 0);
  EXPECT_EQ(zcdp_epsilon(rho(1), 1), 0);
  EXPECT_TRUE(std::isinf(zcdp_epsilon(rho(1), 0)));
  EXPECT_EQ(zcdp_delta(Rho::zero(), 0), 0);
  EXPECT_LE(zcdp_delta(rho(100), 0), 1);
  EXPECT_EQ(rdp_epsilon(2, 1e-20, 0.1), 0);  // never negative, however large the delta
  EXPECT_GE(zcdp_epsilon(rho(1e-12), 0.9), 0);
  EXPECT_EQ(pure_to_zcdp(Epsilon::make(2).value()).value(), 2);
  EXPECT_EQ(bounded_range_to_zcdp(Epsilon::make(2).value()).value(), 0.5);
  EXPECT_TRUE(std::isinf(pure_to_zcdp(Epsilon::make(1e200).value()).value()));
}

TEST(ConversionTest, ACurveTakesItsBestOrderAndRefusesNonsense) {
  const double orders[] = {2, 8, 64}, curve[] = {0.02, 0.08, 0.64};
  const double epsilon = rdp_curve_epsilon(orders, curve, 1e-5).value();
  for (int i = 0; i < 3; ++i) EXPECT_LE(epsilon, rdp_epsilon(orders[i], curve[i], 1e-5));
  EXPECT_GE(epsilon, zcdp_epsilon(rho(0.01), 1e-5) - 1e-12);
  EXPECT_LE(rdp_curve_delta(orders, curve, epsilon).value(), 1e-5 * (1 + 1e-9));
  EXPECT_FALSE(rdp_curve_epsilon({}, {}, 1e-5));
  EXPECT_FALSE(rdp_curve_epsilon(orders, std::span(curve, 2), 1e-5));
  EXPECT_FALSE(rdp_curve_epsilon(orders, curve, 2));
  const double bad_orders[] = {1, 8, 64}, bad_curve[] = {0.02, -1, 0.64};
  EXPECT_FALSE(rdp_curve_epsilon(bad_orders, curve, 1e-5));
  EXPECT_FALSE(rdp_curve_epsilon(orders, bad_curve, 1e-5));
}

}  // namespace
}  // namespace discreet
