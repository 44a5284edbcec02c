#include "accounting/shuffle.h"

#include <cmath>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_bin_float.hpp>

namespace discreet {
namespace {

namespace mp = boost::multiprecision;
using Exact = mp::number<mp::cpp_bin_float<200, mp::digit_base_2>>;

// The definition as a double loop.
Exact clones_by_definition(int n, double epsilon0, double epsilon) {
  const Exact share = exp(-Exact(epsilon0)), truth = 1 / (1 + share), scale = exp(Exact(epsilon));
  Exact sum = 0, of_c = pow(1 - share, n - 1);
  for (int c = 0; c < n; ++c) {
    Exact before = 0, here = pow(Exact(0.5), c);
    for (int x = 0; x <= c + 1; ++x) {
      const Exact p = truth * before + (1 - truth) * here, q = (1 - truth) * before + truth * here;
      if (p > scale * q) sum += of_c * (p - scale * q);
      before = here;
      here = x < c ? Exact(here * (c - x) / (x + 1)) : Exact(0);
    }
    of_c = of_c * (n - 1 - c) / (c + 1) * share / (1 - share);
  }
  return sum;
}

Exact randomized_response_by_definition(int n, double epsilon0, double epsilon) {
  const Exact lie = 1 / (1 + exp(Exact(epsilon0))), truth = 1 - lie, scale = exp(Exact(epsilon));
  Exact up = 0, down = 0, before = 0, here = pow(truth, n - 1);
  for (int x = 0; x <= n; ++x) {
    const Exact one = truth * before + lie * here, zero = lie * before + truth * here;
    if (one > scale * zero) up += one - scale * zero;
    if (zero > scale * one) down += zero - scale * one;
    before = here;
    here = x < n - 1 ? Exact(here * (n - 1 - x) / (x + 1) * lie / truth) : Exact(0);
  }
  return up > down ? up : down;
}

TEST(ShuffleTest, TheCloneBoundIsItsDefinitionRoundedUp) {
  for (const int n : {2, 3, 10, 57, 150})
    for (const double epsilon0 : {0.01, 0.5, 3.0, 6.0})
      for (const double share : {0.0, 0.05, 0.3, 0.99}) {
        const double epsilon = share * epsilon0;
        const Exact exact = clones_by_definition(n, epsilon0, epsilon);
        const double delta = shuffle_clones_delta(n, epsilon0, epsilon).value();
        EXPECT_GE(Exact(delta), exact) << n << " " << epsilon0 << " " << epsilon;
        EXPECT_LE(Exact(delta), exact * (1 + 1e-10) + 1e-300)
            << n << " " << epsilon0 << " " << epsilon;
      }
}

TEST(ShuffleTest, TheLowerBoundIsItsDefinitionRoundedDown) {
  for (const int n : {1, 2, 10, 57, 200})
    for (const double epsilon0 : {0.01, 0.5, 1.0, 3.0, 6.0})
      for (const double share : {0.0, 0.05, 0.3, 0.8}) {
        const double epsilon = share * epsilon0;
        const Exact exact = randomized_response_by_definition(n, epsilon0, epsilon);
        const double delta = shuffled_randomized_response_delta_lower(n, epsilon0, epsilon).value();
        EXPECT_LE(Exact(delta), exact);
        EXPECT_GE(Exact(delta), exact * (1 - 1e-9) - 1e-300) << n << " " << epsilon0;
        EXPECT_LE(delta, shuffle_clones_delta(n, epsilon0, epsilon).value());
      }
}

TEST(ShuffleTest, PublishedValuesAreReproduced) {
  EXPECT_NEAR(shuffle_clones_delta(1000, 1, 0.2).value(), 2.05980817683e-07, 2e-17);
  EXPECT_NEAR(shuffle_clones_delta(500, 2, 0.5).value(), 0.000316296616483, 1e-14);
  EXPECT_NEAR(shuffled_randomized_response_delta_lower(1000, 1, 0.1).value(), 1.70974012407e-05,
              1e-15);
  EXPECT_NEAR(shuffled_randomized_response_delta_lower(200, 2, 0.3).value(), 0.00457638605186,
              1e-13);
  EXPECT_NEAR(shuffle_closed_form_epsilon(100'000, 4, 1e-6).value(), 0.53463, 1e-5);
  const double numeric = shuffle_clones_epsilon(100'000, 4, 1e-6).value();
  EXPECT_GT(numeric, 0.16754);
  EXPECT_LT(numeric, 0.17279);
}

TEST(ShuffleTest, EpsilonInvertsDeltaFromAbove) {
  for (const double delta : {1e-3, 1e-6, 1e-12}) {
    const double epsilon = shuffle_clones_epsilon(5000, 2, delta).value();
    EXPECT_LE(shuffle_clones_delta(5000, 2, epsilon).value(), delta);
    EXPECT_GT(shuffle_clones_delta(5000, 2, epsilon * (1 - 1e-6)).value(), delta);
  }
}

TEST(ShuffleTest, ItIsMonotoneInEveryParameter) {
  for (double epsilon = 0.02; epsilon < 0.5; epsilon *= 1.7) {
    const double here = shuffle_clones_delta(1000, 1, epsilon).value();
    EXPECT_LE(here, shuffle_clones_delta(900, 1, epsilon).value());
    EXPECT_LE(here, shuffle_clones_delta(1000, 1.1, epsilon).value());
    EXPECT_GE(here, shuffle_clones_delta(1000, 1, epsilon * 1.1).value());
  }
}

TEST(ShuffleTest, AMillionUsersAreAnsweredAndNonsenseIsRefused) {
  EXPECT_NEAR(shuffle_clones_delta(1'000'000, 1, 0.005).value(), 2.08735493e-7, 1e-14);
  EXPECT_EQ(shuffle_clones_delta(10, 1, 1).value(), 0);
  EXPECT_FALSE(shuffle_clones_delta(0, 1, 0.5));
  EXPECT_FALSE(shuffle_clones_delta(10, -1, 0.5));
  EXPECT_FALSE(shuffle_clones_delta(10, 1, std::nan("")));
  EXPECT_FALSE(shuffle_clones_epsilon(10, 1, 0));
  EXPECT_FALSE(shuffle_closed_form_epsilon(100, 4, 1e-6));
}

}  // namespace
}  // namespace discreet
