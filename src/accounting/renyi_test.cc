#include "accounting/renyi.h"

#include <cmath>
#include <functional>
#include <iostream>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "accounting/conversion.h"
#include "accounting/pld.h"
#include "accounting/renyi_epsilon.h"
#include "accounting/renyi_subsampled_internal.h"
#include "privacy/gaussian_profile.h"

namespace discreet {
namespace {

namespace mp = boost::multiprecision;
using Exact = mp::number<mp::cpp_bin_float<200, mp::digit_base_2>>;

constexpr auto kAddRemove = Neighbours::AddRemove;
constexpr auto kReplaceOne = Neighbours::ReplaceOne;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}
std::shared_ptr<const LossEvent> in(LossEvent event) {
  return std::make_shared<LossEvent>(std::move(event));
}
LossEvent sampled(double q, LossEvent event) {
  return loss::PoissonSubsampled{q, in(std::move(event))};
}
double divergence(const LossEvent& event, double order, Neighbours neighbours = kAddRemove) {
  const auto value = renyi_divergence(event, order, neighbours);
  EXPECT_TRUE(value) << value.error().message;
  return value.value_or(std::nan(""));
}

// ours >= exact, and by no more than this share (of the value, and of rounding through 1/(a-1)).
void expect_just_above(double ours, const Exact& exact, double order, double share) {
  EXPECT_GE(Exact(ours), exact) << "order " << order;
  EXPECT_LE(Exact(ours), exact * (1 + share) + 1e-14 / (order - 1)) << "order " << order;
}

const double kOrders[] = {1.001, 1.5, 2, 2.25, 5, 17.5, 64, 300};

TEST(RenyiTest, PublishedValuesAreReproduced) {
  EXPECT_NEAR(50 * divergence(sampled(0.01, loss::Gaussian{2.5, 1}), 1.5), 0.000650070897188,
              6e-13);
  EXPECT_NEAR(50 * divergence(sampled(0.01, loss::Gaussian{2.5, 1}), 5), 0.00218075656231, 2e-12);
  EXPECT_NEAR(divergence(loss::Laplace{1, 1}, 2), 0.619123629999, 1e-12);
  EXPECT_NEAR(divergence(loss::Laplace{2, 1}, 1.5), 0.155977878486, 1e-12);
  EXPECT_NEAR(divergence(sampled(0.01, loss::Gaussian{0.5, 1}), 2.25), 0.00835411775185, 1e-12);
  EXPECT_NEAR(divergence(sampled(0.01, loss::Gaussian{0.5, 1}), 4), 1.86187551303, 1e-9);
}

TEST(RenyiTest, ClosedFormsRoundUpAgainst200Bits) {
  for (const double e : {1e-5, 0.1, 1.0, 7.0})
    for (const double order : kOrders) {
      const Exact x(e), a(order);
      const Exact response =
          log((exp(a * x) + exp((1 - a) * x) + 3) / (exp(x) + 4)) / (a - 1);  // five values
      expect_just_above(divergence(loss::RandomizedResponse{eps(e), 5}, order), response, order,
                        1e-12);
      const Exact pure = log((exp(a * x) + exp((1 - a) * x)) / (1 + exp(x))) / (a - 1);
      expect_just_above(divergence(loss::Pure{eps(e)}, order), pure, order, 1e-12);
      const Exact laplace =
          log(a / (2 * a - 1) * exp((a - 1) * x) + (a - 1) / (2 * a - 1) * exp(-a * x)) / (a - 1);
      // For tiny epsilon the bound is randomized response's, a little above.
      expect_just_above(divergence(loss::Laplace{1, e}, order), laplace, order, 1e-5);
      const Exact gaussian = a * x * x / 2;
      expect_just_above(divergence(loss::Gaussian{1, e}, order), gaussian, order, 1e-14);
    }
}

TEST(RenyiTest, DiscreteLaplaceIsItsSumAgainst200Bits) {
  for (const double scale : {0.5, 4.0})
    for (const int shift : {1, 2, 9})
      for (const double order : {1.001, 1.5, 5.0, 64.0}) {
        const Exact rate = 1 / Exact(scale), a(order);
        Exact moment = 0;
        const int reach = static_cast<int>(30 * scale) + 3 * shift + 30;
        for (int z = -reach; z <= reach; ++z)
          moment += exp(-rate * (a * abs(z - shift) + (1 - a) * abs(z)));
        moment *= (exp(rate) - 1) / (exp(rate) + 1);
        const Exact exact = log(moment) / (a - 1);
        expect_just_above(divergence(loss::DiscreteLaplace{scale, shift}, order), exact, order,
                          1e-11);
      }
}

TEST(RenyiTest, BoundedRangeIsTheWorstTwoPointPairAndBelowItsConcentratedBound) {
  for (const double e : {0.01, 0.5, 2.0, 8.0})
    for (const double order : kOrders) {
      Exact worst = 0;
      for (int i = 0; i <= 100; ++i) {
        const Exact t = Exact(e) * i / 100, a(order);
        const Exact q = (exp(-t) - exp(-Exact(e))) / (1 - exp(-Exact(e)));
        const Exact value = log(q * exp(a * t) + (1 - q) * exp(a * (t - e))) / (a - 1);
        if (value > worst) worst = value;
      }
      const double ours = divergence(loss::BoundedRange{eps(e)}, order);
      EXPECT_GE(Exact(ours), worst);
      EXPECT_LE(Exact(ours), worst * (1 + 2e-2) + 1e-12 / (order - 1));
      EXPECT_LE(ours, order * e * e / 8 * (1 + 1e-15));
      EXPECT_LE(ours, divergence(loss::Pure{eps(e)}, order) * (1 + 1e-12) + 1e-14);
    }
}

// E_Q[((1-q) + q R)^a] summed or integrated in 200 bits over a fine grid.
Exact mixture_moment(const Exact& q, const Exact& a, const std::function<Exact(Exact)>& density_p,
                     const std::function<Exact(Exact)>& density_q, double low, double high,
                     double step) {
  Exact sum = 0;
  for (double i = std::floor(low / step); i * step <= high; ++i) {
    const Exact x = Exact(i) * step, weight = density_q(x);
    if (weight == 0) continue;
    sum += weight * pow(1 - q + q * density_p(x) / weight, a);
  }
  return sum * step;
}

TEST(RenyiTest, SampledGaussianIsItsIntegralAgainst200Bits) {
  for (const double sigma : {0.5, 4.0})
    for (const double q : {1e-4, 0.1, 0.9})
      for (const double order : {1.2, 2.25, 12.5}) {
        const Exact s(sigma);
        const Exact norm = 1 / (s * sqrt(2 * boost::math::constants::pi<Exact>()));
        const auto density = [&](double centre) {
          return [=](const Exact& x) {
            return Exact(norm * exp(-(x - centre) * (x - centre) / (2 * s * s)));
          };
        };
        const Exact moment = mixture_moment(q, order, density(1), density(0), -11 * sigma,
                                            order + 11 * sigma, sigma / 8);
        const Exact exact = log(moment) / (Exact(order) - 1);
        const double ours = divergence(sampled(q, loss::Gaussian{sigma, 1}), order);
        EXPECT_GE(Exact(ours), exact * (1 - 1e-20)) << sigma << " " << q << " " << order;
        EXPECT_LE(Exact(ours), exact * (1 + 3e-11)) << sigma << " " << q << " " << order;
      }
}

TEST(RenyiTest, WholeOrdersOfTheSampledGaussianAgreeWithTheBinomialSum) {
  for (const double order : {2.0, 3.0, 16.0, 64.0})
    for (const double q : {1e-3, 0.2}) {
      const double quadrature = *renyi_mixture(GaussianPair{0.7}, q, order);
      EXPECT_NEAR(quadrature, renyi_mixture_gaussian_whole(0.7, q, order), 1e-8 * quadrature);
    }
}

TEST(RenyiTest, SampledLatticesAreTheirSumsAndDominateTheReverseDirection) {
  for (const double q : {0.01, 0.4})
    for (const double order : {1.3, 2.0, 9.5}) {
      const Exact a(order), rate = Exact(1) / 3;
      constexpr int shift = 4, kReach = 160;
      Exact forward = 0, reverse = 0, total = 0;
      for (int z = -kReach; z <= kReach; ++z) total += exp(-rate * abs(z));
      for (int z = -kReach; z <= kReach; ++z) {
        const Exact base = exp(-rate * abs(z)) / total;
        const Exact mixed = (1 - q) * base + q * exp(-rate * abs(z - shift)) / total;
        forward += pow(mixed, a) * pow(base, 1 - a);
        reverse += pow(base, a) * pow(mixed, 1 - a);
      }
      EXPECT_GE(forward, reverse);
      const double ours = divergence(sampled(q, loss::DiscreteLaplace{3, shift}), order);
      EXPECT_GE(Exact(ours), log(forward) / (a - 1));
      EXPECT_LE(Exact(ours), log(forward) / (a - 1) * (1 + 1e-9));
    }
}

// Wide noise is priced as a continuous Gaussian of variance smaller by 3, which is never below the
// sum.
TEST(RenyiTest, WideDiscreteNoiseCostsALittleMoreThanItsSum) {
  for (const double order : {1.5, 4.0, 40.0}) {
    const auto pair = discrete_gaussian_pair(900, 2, order);
    ASSERT_TRUE(pair);
    const double sum = renyi_mixture(*pair, 0.02, order).value();
    const double ours = divergence(sampled(0.02, loss::DiscreteGaussian{900, 2}), order);
    EXPECT_GE(ours, sum);
    EXPECT_LE(ours, 1.01 * sum);
    // As a vector of three coordinates that move by the same length together.
    const double together = divergence(sampled(0.02, loss::DiscreteGaussian{900, 2, 3}), order);
    EXPECT_GE(together, sum);
    EXPECT_LE(together, 1.01 * sum);
  }
}

TEST(RenyiTest, SampledLaplaceLiesBetweenFineLatticeAndPure) {
  for (const double order : {1.5, 4.0, 20.0}) {
    const double laplace = divergence(sampled(0.1, loss::Laplace{1, 1}), order);
    const double lattice = divergence(sampled(0.1, loss::DiscreteLaplace{2000, 2000}), order);
    EXPECT_NEAR(laplace, lattice, 2e-3 * laplace);
    EXPECT_LE(laplace, divergence(sampled(0.1, loss::Pure{eps(1)}), order));
  }
}

TEST(RenyiTest, GeneralSamplingBoundsAreAboveTheTightOnes) {
  for (const double order : {2.0, 3.5, 8.0})
    for (const double q : {0.01, 0.3}) {
      const auto curve = [](double a) -> Result<double> { return a * 0.5; };  // sigma 1
      const double tight = divergence(sampled(q, loss::Gaussian{1, 1}), order);
      EXPECT_GE(renyi_poisson_general(curve, q, order).value(), tight);
      EXPECT_LE(tight, divergence(loss::Gaussian{1, 1}, order));
      const double zcdp = divergence(sampled(q, loss::Zcdp{Rho::make(0.5).value()}), order);
      EXPECT_GE(zcdp, tight);
      EXPECT_LE(zcdp, 0.5 * order);
    }
}

// Under replace-one the worst pair is ((1-q) N(0) + q N(1), (1-q) N(0) + q N(-1)).
TEST(RenyiTest, ReplaceOneSamplingOfAGaussianIsItsWorstPair) {
  for (const double order : {1.5, 2.0, 6.0})
    for (const double q : {0.05, 0.6}) {
      double moment = 0;
      const double step = 0.001;
      for (double x = -15; x <= 25; x += step) {
        // Both mixtures divided by the middle density.
        const double up = 1 - q + q * std::exp(x - 0.5), down = 1 - q + q * std::exp(-x - 0.5);
        moment += step / std::sqrt(2 * M_PI) * std::exp(-x * x / 2) * std::pow(up, order) *
                  std::pow(down, 1 - order);
      }
      const double pair = std::log(moment) / (order - 1);
      const double poisson = divergence(sampled(q, loss::Gaussian{1, 1}), order, kReplaceOne);
      EXPECT_NEAR(poisson, pair, 1e-6 * pair);
      // A shorter or slanted pair is no worse: centres at 0.8 and at 60 degrees from opposite.
      double slanted = 0;
      const double wide = 0.05;
      for (double x = -9; x <= 15; x += wide)
        for (double y = -9; y <= 9; y += wide) {
          const double one = 1 - q + q * std::exp(0.8 * x - 0.32);
          const double two = 1 - q + q * std::exp(-0.5 * x + std::sqrt(0.75) * y - 0.5);
          slanted += wide * wide / (2 * M_PI) * std::exp(-(x * x + y * y) / 2) *
                     std::pow(one, order) * std::pow(two, 1 - order);
        }
      EXPECT_LE(std::log(slanted) / (order - 1), poisson);
      const LossEvent without = loss::SampledWithoutReplacement{
          static_cast<std::uint64_t>(1000 * q), 1000, in(loss::Gaussian{1, 1})};
      EXPECT_GE(divergence(without, order, kReplaceOne), poisson);
    }
}

TEST(RenyiTest, ItIsMonotoneInEveryParameter) {
  const std::vector<std::function<LossEvent(double)>> families = {
      [](double x) { return LossEvent(loss::Gaussian{1, x}); },
      [](double x) { return LossEvent(loss::Laplace{1, x}); },
      [](double x) { return LossEvent(loss::DiscreteLaplace{1 / x, 3}); },
      [](double x) { return LossEvent(loss::DiscreteGaussian{1 / x, 2}); },
      [](double x) { return LossEvent(loss::Pure{eps(x)}); },
      [](double x) { return LossEvent(loss::BoundedRange{eps(x)}); },
      [](double x) { return LossEvent(loss::RandomizedResponse{eps(x), 7}); },
      [](double x) { return sampled(0.1, loss::Gaussian{1, x}); },
      [](double x) { return sampled(0.1, loss::Laplace{1, x}); },
      [](double x) { return sampled(x / 10, loss::Gaussian{1, 1}); },
  };
  const double slack = 1 + 3e-11;  // two-sided errors of quadrature
  for (const auto& family : families)
    for (const double order : {1.1, 2.0, 3.5, 30.0})
      for (double x = 0.01; x < 3; x *= 1.9) {
        const double here = divergence(family(x), order);
        EXPECT_LE(here, divergence(family(x * 1.05), order) * slack);
        EXPECT_LE(here, divergence(family(x), order * 1.05) * slack);
        EXPECT_LE(here, divergence(family(x), order, kReplaceOne) * slack);
        EXPECT_LE(here, divergence(loss::Group{2, in(family(x))}, order) * slack);
      }
}

TEST(RenyiTest, CompositionCommutesAndRepetitionMultiplies) {
  const std::vector<LossEvent> parts = {loss::Laplace{2, 1}, sampled(0.1, loss::Gaussian{1, 1}),
                                        loss::BoundedRange{eps(0.3)}, loss::Gaussian{5, 1}};
  const std::vector<LossEvent> reversed(parts.rbegin(), parts.rend());
  for (const double order : {1.5, 8.0}) {
    const double forwards = divergence(loss::Composed{parts}, order);
    EXPECT_NEAR(forwards, divergence(loss::Composed{reversed}, order), 4e-16 * forwards);
    double worst = 0;
    for (const LossEvent& part : parts) worst = std::max(worst, divergence(part, order));
    EXPECT_EQ(divergence(loss::Parallel{parts}, order), worst);
    EXPECT_NEAR(divergence(loss::Repeated{1000, in(parts[0])}, order),
                1000 * divergence(parts[0], order), 1e-12);
    EXPECT_EQ(divergence(loss::Repeated{0, in(parts[0])}, order), 0);
  }
}

TEST(RenyiTest, GroupsAndReplacementScaleWhatTheyShould) {
  EXPECT_NEAR(divergence(loss::Group{3, in(loss::Gaussian{1, 1})}, 2), 9, 1e-12);
  EXPECT_NEAR(divergence(loss::Gaussian{1, 1}, 2, kReplaceOne), 4, 1e-12);
  EXPECT_NEAR(divergence(loss::Group{3, in(loss::Zcdp{Rho::make(0.5).value()})}, 2), 9, 1e-12);
  EXPECT_EQ(divergence(loss::Group{3, in(loss::Pure{eps(0.1)})}, 2),
            divergence(loss::Pure{3 * eps(0.1)}, 2));
  EXPECT_EQ(divergence(loss::Pure{eps(0.1)}, 2, kReplaceOne), divergence(loss::Pure{eps(0.1)}, 2));
  // A unit that moves between two parts is one removal and one addition.
  const LossEvent parts = loss::Parallel{{loss::Gaussian{1, 1}, loss::Gaussian{1, 1}}};
  EXPECT_NEAR(divergence(parts, 2), 1, 1e-12);
  EXPECT_NEAR(divergence(parts, 2, kReplaceOne), 4, 1e-12);
}

// A unit that joins pushes another out of the sample. The privacy loss distribution is exact here,
// so no Renyi price may be below it; pricing the inner event for one step (the broken twin) is.
TEST(RenyiTest, SamplesWithoutReplacementUnderAddRemoveAreNeverBelowTheirDistribution) {
  for (const LossEvent& event :
       {LossEvent(loss::Gaussian{2, 1}), LossEvent(loss::Laplace{3, 1}),
        LossEvent(loss::DiscreteLaplace{3, 1}), LossEvent(loss::DiscreteGaussian{9, 1}),
        LossEvent(loss::Pure{eps(0.4)})}) {
    const LossEvent many =
        loss::Repeated{50, in(loss::SampledWithoutReplacement{10, 100, in(event)})};
    const Bracket exact = PrivacyLossDistribution::make(many, kAddRemove)->epsilon(1e-5).value();
    const double ours = renyi_epsilon(many, 1e-5, kAddRemove)->value;
    const double twin =
        renyi_epsilon(loss::Repeated{50, in(sampled(0.1, event))}, 1e-5, kAddRemove)->value;
    EXPECT_GE(ours, exact.lower);
    EXPECT_LE(ours, 1.3 * exact.upper);
    EXPECT_LT(twin, exact.lower);
    std::cout << "kind " << event.kind.index() << ": Renyi " << ours << ", exact " << exact.upper
              << ", twin " << twin << "\n";
  }
  // Only a curve is known: the general bound holds too.
  const LossEvent zcdp = loss::Zcdp{Rho::make(0.125).value()};
  const LossEvent one = loss::SampledWithoutReplacement{10, 100, in(zcdp)};
  EXPECT_GE(divergence(one, 4),
            divergence(loss::SampledWithoutReplacement{10, 100, in(loss::Gaussian{2, 1})}, 4));
}

TEST(RenyiTest, WhatHasNoProvedBoundIsRefused) {
  const LossEvent gaussian = loss::Gaussian{1, 1};
  EXPECT_FALSE(renyi_divergence(gaussian, 1, kAddRemove));
  EXPECT_FALSE(renyi_divergence(gaussian, HUGE_VAL, kAddRemove));
  const LossEvent everybody = loss::SampledWithoutReplacement{10, 10, in(gaussian)};
  EXPECT_FALSE(renyi_divergence(everybody, 2, kAddRemove));
  const LossEvent part = loss::SampledWithoutReplacement{1, 10, in(gaussian)};
  EXPECT_FALSE(renyi_divergence(loss::Group{2, in(part)}, 2, kAddRemove));
  const LossEvent approximate = loss::Approximate{eps(1), Delta::make(1e-6).value()};
  EXPECT_FALSE(renyi_divergence(approximate, 2, kAddRemove));
  EXPECT_FALSE(renyi_divergence(loss::Composed{{gaussian, approximate}}, 2, kAddRemove));
  const auto outside =
      approximate_renyi_divergence(loss::Repeated{10, in(approximate)}, 2, kAddRemove);
  ASSERT_TRUE(outside);
  EXPECT_NEAR(outside->delta, 1e-5, 1e-18);
  EXPECT_NEAR(outside->divergence, 10 * divergence(loss::Pure{eps(1)}, 2), 1e-12);
}

TEST(RenyiTest, LittleNoiseAndTinySamplesAreStillSound) {
  for (const double sigma : {0.003, 0.02, 0.1})
    for (const double q : {1e-9, 1e-3, 0.5})
      for (const double order : {1.01, 1.9, 2.0, 7.7, 400.0}) {
        const double ours = divergence(sampled(q, loss::Gaussian{sigma, 1}), order);
        // The top term of the binomial theorem alone, q^a e^{a(a-1)/(2 s^2)}, is a lower bound.
        const double least = order / (order - 1) * std::log(q) + order / (2 * sigma * sigma);
        EXPECT_GE(ours, least * (1 - 1e-12)) << sigma << " " << q << " " << order;
        EXPECT_GT(ours, 0);
        EXPECT_LE(ours, divergence(loss::Gaussian{sigma, 1}, order));
      }
}

TEST(RenyiTest, TheBestOrderIsFoundAndNeverBeatsTheExactGaussian) {
  for (const double sigma : {0.7, 3.0, 20.0})
    for (const std::uint64_t k : {1u, 100u}) {
      const LossEvent event = loss::Repeated{k, in(loss::Gaussian{sigma, 1})};
      const auto bound = renyi_epsilon(event, 1e-6, kAddRemove).value();
      const double mu = std::sqrt(static_cast<double>(k)) / sigma;
      EXPECT_LE(gaussian_delta_up(mu, bound.value), 1e-6);
      const double back = renyi_delta(event, bound.value, kAddRemove)->value;
      EXPECT_NEAR(back, 1e-6, 1e-10);
      for (double order = 1.1; order < 500; order *= 1.3)
        EXPECT_LE(bound.value, rdp_epsilon(order, divergence(event, order), 1e-6) * (1 + 1e-9));
    }
  EXPECT_NEAR(
      renyi_epsilon(loss::Repeated{1000, in(loss::Gaussian{20, 1})}, 1e-6, kAddRemove)->value,
      8.847, 0.01);
  const LossEvent failing = loss::Approximate{eps(1), Delta::make(1e-5).value()};
  EXPECT_FALSE(renyi_epsilon(failing, 1e-6, kAddRemove));
  EXPECT_TRUE(renyi_epsilon(failing, 1e-4, kAddRemove));
  EXPECT_FALSE(renyi_epsilon(failing, 0, kAddRemove));
}

}  // namespace
}  // namespace discreet
