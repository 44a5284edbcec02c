#include "mechanisms/discrete_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>

#include "privacy/discrete_gaussian_profile.h"
#include "privacy/gaussian_profile.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

ApproxDp dp(double epsilon, double delta) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}

TEST(DiscreteGaussianTest, RefusesWhatCannotBeCalibrated) {
  EXPECT_FALSE(DiscreteGaussian::make(Rho::zero(), L2Sensitivity{1}));
  EXPECT_FALSE(DiscreteGaussian::make(Rho::make(5e-324).value(), L2Sensitivity{1}));
  EXPECT_FALSE(DiscreteGaussian::make(Rho::make(1e-3).value(), L2Sensitivity::make(1e300).value()));
  EXPECT_FALSE(DiscreteGaussian::make(Rho::make(1).value(), L2Sensitivity{1}, 0));
  EXPECT_FALSE(DiscreteGaussian::make(dp(1, 0), L2Sensitivity{1}));
  EXPECT_FALSE(DiscreteGaussian::make(dp(1, 1), L2Sensitivity{1}));
  EXPECT_FALSE(DiscreteGaussian::make(dp(1, 1e-6), L2Sensitivity::make(1e200).value()));
  EXPECT_FALSE(L2Sensitivity::make(0));
  EXPECT_FALSE(L2Sensitivity::make(std::nan("")));
  EXPECT_FALSE(Rho::make(-1));
}

TEST(DiscreteGaussianTest, RhoIsNeverExceededAndHardlyWasted) {
  for (const double rho : {1e-6, 0.1, 0.5, 3.7})
    for (const double s : {1.0, 3.0, 1000.0}) {
      const auto mechanism =
          DiscreteGaussian::make(Rho::make(rho).value(), L2Sensitivity::make(s).value()).value();
      const Rational spent = exact_rational(s).value() * exact_rational(s).value() /
                             (2 * exact_rational(mechanism.sigma2()).value());
      EXPECT_LE(spent, exact_rational(rho).value());
      EXPECT_GE(spent * 1'000'001, exact_rational(rho).value() * 1'000'000);
    }
}

// The exact profile needs no more noise than continuous Gaussian noise (to 1 %), and meets the
// target by a computation that shares nothing with the calibration: the sum over all outputs.
TEST(DiscreteGaussianTest, ScalarCalibrationMeetsTheTargetAndNearlyNothingMore) {
  for (const auto& [epsilon, delta, s] :
       {std::tuple{1.0, 1e-6, 1}, {0.1, 1e-8, 1}, {3.0, 1e-5, 2}, {0.5, 1e-10, 7}}) {
    const auto mechanism =
        DiscreteGaussian::make(dp(epsilon, delta), L2Sensitivity{static_cast<std::uint32_t>(s)})
            .value();
    EXPECT_EQ(mechanism.calibration(), DiscreteGaussian::Calibration::ExactProfile);
    const double sigma2 = mechanism.sigma2();
    long double total = 0;
    const int reach = static_cast<int>(20 * std::sqrt(sigma2)) + 40;
    for (int x = -reach; x <= reach; ++x)
      total += std::exp(-static_cast<long double>(x) * x / (2 * sigma2));
    long double worst = 0;
    for (int shift = 1; shift <= s; ++shift) {
      long double found = 0;
      for (int x = -reach; x <= reach; ++x) {
        const long double p = std::exp(-static_cast<long double>(x) * x / (2 * sigma2)) / total;
        const long double q =
            std::exp(-static_cast<long double>(x + shift) * (x + shift) / (2 * sigma2)) / total;
        found += std::fmax(0.0L, p - std::exp(static_cast<long double>(epsilon)) * q);
      }
      worst = std::fmax(worst, found);
    }
    EXPECT_LE(static_cast<double>(worst), delta * (1 + 1e-9));
    EXPECT_GE(static_cast<double>(worst), delta * 0.999);
    const double continuous = s * gaussian_noise_multiplier(dp(epsilon, delta)).value();
    std::cout << "epsilon " << epsilon << " delta " << delta << " s " << s << ": sigma "
              << std::sqrt(sigma2) << ", continuous " << continuous << "\n";
    EXPECT_NEAR(std::sqrt(sigma2) / continuous, 1, 1e-2);
  }
}

TEST(DiscreteGaussianTest, VectorsUseTheAnalyticGaussianOnceTheLatticeIsFine) {
  const auto fine = DiscreteGaussian::make(dp(0.1, 1e-6), L2Sensitivity{10}, 1000).value();
  EXPECT_EQ(fine.calibration(), DiscreteGaussian::Calibration::AnalyticGaussian);
  const double continuous = 10 * gaussian_noise_multiplier(dp(0.1, 1e-6)).value();
  EXPECT_GE(fine.sigma2(), continuous * continuous + 3);
  EXPECT_LE(std::sqrt(fine.sigma2()), continuous * 1.0001);
  const auto coarse = DiscreteGaussian::make(dp(8, 1e-6), L2Sensitivity{1}, 1000).value();
  EXPECT_EQ(coarse.calibration(), DiscreteGaussian::Calibration::Zcdp);
}

TEST(DiscreteGaussianTest, TheClassicCalibrationIsNeverSmaller) {
  for (const double epsilon : {0.1, 0.5, 0.99}) {
    const double classic =
        DiscreteGaussian::classic_sigma(dp(epsilon, 1e-6), L2Sensitivity{1}).value();
    const auto mechanism = DiscreteGaussian::make(dp(epsilon, 1e-6), L2Sensitivity{1}).value();
    std::cout << "epsilon " << epsilon << ": classic " << classic << ", ours "
              << std::sqrt(mechanism.sigma2()) << "\n";
    EXPECT_GT(classic, std::sqrt(mechanism.sigma2()));
  }
  EXPECT_FALSE(DiscreteGaussian::classic_sigma(dp(1.5, 1e-6), L2Sensitivity{1}));
}

TEST(DiscreteGaussianTest, FractionalSensitivityOfAWholeNumberIsRoundedDown) {
  const auto a = DiscreteGaussian::make(dp(1, 1e-6), L2Sensitivity::make(2.9).value()).value();
  const auto b = DiscreteGaussian::make(dp(1, 1e-6), L2Sensitivity{2}).value();
  EXPECT_EQ(a.sigma2(), b.sigma2());
}

// P[|Z| > bound] <= 5 % < P[|Z| >= bound]; six standard errors: a false alarm is rarer than 1e-8.
TEST(DiscreteGaussianTest, ErrorBoundIsTheSmallestThatHolds) {
  for (const double rho : {0.005, 0.5}) {
    const auto mechanism = DiscreteGaussian::make(Rho::make(rho).value(), L2Sensitivity{1}).value();
    const double bound = mechanism.error_bound(0.95);
    SeededRandom random(21);
    constexpr int kDraws = 100'000;
    int beyond = 0, at_or_beyond = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double distance = std::fabs(static_cast<double>(mechanism.release(0, random)));
      beyond += distance > bound;
      at_or_beyond += distance >= bound;
    }
    const double slack = 6 * std::sqrt(0.05 * 0.95 / kDraws);
    EXPECT_LE(1.0 * beyond / kDraws, 0.05 + slack);
    EXPECT_GT(1.0 * at_or_beyond / kDraws, 0.05 - slack);
  }
}

TEST(DiscreteGaussianTest, WideNoiseHasAnErrorBoundToo) {
  const auto wide =
      DiscreteGaussian::make(Rho::make(1e-9).value(), L2Sensitivity{1}).value();  // sigma 22361
  EXPECT_NEAR(wide.error_bound(0.95), 1.959964 * std::sqrt(wide.sigma2()), 3);
  EXPECT_GT(wide.error_bound_of_worst(0.95, 100), wide.error_bound(0.95));
}

TEST(DiscreteGaussianTest, ForErrorIsTheInverseOfErrorBound) {
  for (const double error : {0.0, 3.0, 250.0, 1e6}) {
    const auto mechanism = DiscreteGaussian::for_error(error, 0.95, L2Sensitivity{1}).value();
    EXPECT_LE(mechanism.error_bound(0.95), error);
  }
  const auto mechanism = DiscreteGaussian::for_error(250, 0.95, L2Sensitivity{1}).value();
  const auto wider =
      DiscreteGaussian::make(Rho::make(mechanism.rho().value() * 0.99).value(), L2Sensitivity{1})
          .value();
  EXPECT_GT(wider.error_bound(0.95), 250);
  EXPECT_FALSE(DiscreteGaussian::for_error(-1, 0.95, L2Sensitivity{1}));
  EXPECT_FALSE(DiscreteGaussian::for_error(HUGE_VAL, 0.95, L2Sensitivity{1}));
  EXPECT_FALSE(DiscreteGaussian::for_error(3, 0, L2Sensitivity{1}));
}

TEST(DiscreteGaussianTest, SaturatesAtTheIntegerLimitsAndKeepsToItsDimension) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  const auto mechanism = DiscreteGaussian::make(Rho::make(1e-6).value(), L2Sensitivity{1}).value();
  SeededRandom random(22);
  for (int i = 0; i < 32; ++i) EXPECT_GT(mechanism.release(kMax, random), 0);
  std::int64_t two[2] = {0, 0};
  EXPECT_THROW(mechanism.release(std::span<std::int64_t>(two), random), InvariantViolation);
}

TEST(DiscreteGaussianTest, LossClaimsExactlyTheNoiseAdded) {
  const auto mechanism = DiscreteGaussian::make(dp(1, 1e-6), L2Sensitivity{3}, 5).value();
  const auto event = std::get<loss::DiscreteGaussian>(mechanism.loss().kind);
  EXPECT_EQ(event.sigma2, mechanism.sigma2());
  EXPECT_EQ(event.sensitivity, 3);
  EXPECT_EQ(event.dimension, 5u);
}

}  // namespace
}  // namespace discreet
