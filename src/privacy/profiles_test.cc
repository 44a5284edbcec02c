// Closed-form privacy of Gaussian noise, continuous and discrete, and zCDP conversion: against
// arithmetic of a hundred digits, and against the published vectors where they lie beside the
// checkout.
#include <gtest/gtest.h>

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "privacy/discrete_gaussian_profile.h"
#include "privacy/gaussian_profile.h"
#include "privacy/zcdp_conversion.h"
#include "support/shared_folder.h"

namespace discreet {
namespace {

using Wide = boost::multiprecision::cpp_bin_float_100;

Wide phi(const Wide& x) {
  return boost::math::erfc(-x / sqrt(Wide(2))) / 2;
}
Wide gaussian_delta(double mu, double epsilon) {
  const Wide m = mu, e = epsilon;
  return phi(m / 2 - e / m) - exp(e) * phi(-m / 2 - e / m);
}

ApproxDp dp(double epsilon, double delta) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}

TEST(GaussianProfileTest, BoundsHoldTheValueToAHundredDigits) {
  for (const double mu : {0.01, 0.1, 0.5, 1.0, 3.0, 20.0})
    for (const double epsilon : {0.0, 1e-3, 0.1, 1.0, 5.0, 50.0, 300.0}) {
      const Wide truth = gaussian_delta(mu, epsilon);
      const double up = gaussian_delta_up(mu, epsilon), down = gaussian_delta_down(mu, epsilon);
      EXPECT_GE(Wide(up), truth) << mu << " " << epsilon;
      EXPECT_LE(Wide(down), truth) << mu << " " << epsilon;
      const double first = static_cast<double>(phi(Wide(mu) / 2 - Wide(epsilon) / Wide(mu)));
      EXPECT_LE(up - down, first * 1e-11 + 1e-300) << mu << " " << epsilon;
    }
  EXPECT_EQ(gaussian_delta_up(0, 1), 0);
  EXPECT_GE(gaussian_delta_up(1e3, 800), gaussian_delta_down(1e3, 800));
}

TEST(GaussianProfileTest, TheNoiseMultiplierIsTheLeastThatMeetsTheTarget) {
  for (const double epsilon : {0.01, 0.3, 1.0, 8.0})
    for (const double delta : {1e-12, 1e-6, 0.01}) {
      const double sigma = gaussian_noise_multiplier(dp(epsilon, delta)).value();
      const auto at = [&](double s) {
        const Wide m = 1 / Wide(s), e = epsilon;
        return Wide(phi(m / 2 - e / m) - exp(e) * phi(-m / 2 - e / m));
      };
      EXPECT_LE(at(sigma), Wide(delta));
      EXPECT_GT(at(sigma * (1 - 1e-9)), Wide(delta));
    }
  EXPECT_FALSE(gaussian_noise_multiplier(dp(1, 0)));
  EXPECT_FALSE(gaussian_noise_multiplier(dp(0, 0)));
  EXPECT_FALSE(gaussian_noise_multiplier(dp(1, 1)));
  EXPECT_FALSE(classic_gaussian_noise_multiplier(dp(1, 1e-6)));
  EXPECT_NEAR(classic_gaussian_noise_multiplier(dp(0.5, 1e-5)).value(),
              std::sqrt(2 * std::log(1.25e5)) / 0.5, 1e-12);
}

// delta by summing max(p - e^eps q, 0) over all outputs, which uses no theorem.
TEST(DiscreteGaussianProfileTest, BoundsHoldTheSumOverAllOutputs) {
  using Long = boost::multiprecision::cpp_bin_float_50;
  for (const double sigma2 : {0.05, 0.25, 1.0, 9.5, 100.0})
    for (const double epsilon : {0.0, 0.1, 1.0, 4.0})
      for (const int d : {1, 2, 5}) {
        const int reach = static_cast<int>(15 * std::sqrt(sigma2)) + 12;
        Long total = 0, worst = 0;
        for (int x = -reach; x <= reach; ++x) total += exp(-Long(x) * x / (2 * Long(sigma2)));
        for (int shift = 1; shift <= d; ++shift) {
          Long delta = 0;
          for (int x = -reach; x <= reach; ++x) {
            const Long p = exp(-Long(x) * x / (2 * Long(sigma2)));
            const Long q = exp(-Long(x + shift) * (x + shift) / (2 * Long(sigma2)));
            const Long excess = p - exp(Long(epsilon)) * q;
            if (excess > 0) delta += excess / total;
          }
          if (delta > worst) worst = delta;
        }
        const double up = DiscreteGaussianProfile(sigma2).delta_up(epsilon, d);
        EXPECT_GE(Long(up), worst - Long(1e-30)) << sigma2 << " " << epsilon << " " << d;
        EXPECT_LE(Long(up), worst * (1 + Long(1e-9)) + Long(1e-12))
            << sigma2 << " " << epsilon << " " << d;
      }
}

TEST(DiscreteGaussianProfileTest, TailsAreBounded) {
  const DiscreteGaussianProfile profile(2.5);
  Wide total = 0;
  for (int x = -80; x <= 80; ++x) total += exp(-Wide(x) * x / 5);
  for (const int at : {-30, -2, 0, 1, 2, 7, 20}) {
    Wide tail = 0;
    for (int x = at; x <= 80; ++x) tail += exp(-Wide(x) * x / 5);
    tail /= total;
    EXPECT_GE(Wide(profile.at_least_up(at)), tail);
    EXPECT_LE(Wide(profile.at_least_down(at)), tail);
    EXPECT_NEAR(profile.at_least_up(at) / profile.at_least_down(at), 1, 1e-12);
  }
  EXPECT_GE(profile.at_least_up(1'000'000), 0);
  EXPECT_EQ(profile.at_least_down(1'000'000), 0);
}

TEST(ZcdpConversionTest, AnyOrderIsAtLeastTheBestOne) {
  for (const double rho : {0.01, 0.05, 0.5, 3.0})
    for (const double epsilon : {0.5, 1.0, 5.0}) {
      const double found = zcdp_delta_up(Rho::make(rho).value(), epsilon);
      long double best = 1;
      for (long double order = 1e-3L; order < 1e6L; order *= 1.001L) {
        const long double a = 1 + order;
        best =
            std::fmin(best, std::exp(order * (a * rho - epsilon) + a * std::log1p(-1 / a)) / order);
      }
      EXPECT_LE(found, best * (1 + 1e-9L));
      EXPECT_GE(found, best * (1 - 1e-4L));
    }
}

TEST(ZcdpConversionTest, TheRhoFoundMeetsTheTargetAndNoGreaterOneDoes) {
  for (const double epsilon : {0.0, 0.1, 1.0, 10.0}) {
    const double rho = zcdp_meeting(dp(epsilon, 1e-6)).value().value();
    EXPECT_LE(zcdp_delta_up(Rho::make(rho).value(), epsilon), 1e-6);
    EXPECT_GT(zcdp_delta_up(Rho::make(rho * (1 + 1e-9)).value(), epsilon), 1e-6);
  }
  EXPECT_FALSE(zcdp_meeting(dp(1, 0)));
  EXPECT_FALSE(zcdp_meeting(dp(1, 1)));
  EXPECT_EQ(zcdp_delta_up(Rho::zero(), 1), 0);
}

// delta(rho, epsilon) against the simpler bound epsilon = rho + 2 sqrt(rho ln(1/delta)).
TEST(ZcdpConversionTest, ItIsNoWorseThanTheTextbook) {
  for (const double rho : {0.01, 0.1, 1.0}) {
    for (const double delta : {1e-3, 1e-9}) {
      const double epsilon = rho + 2 * std::sqrt(rho * std::log(1 / delta));
      EXPECT_LE(zcdp_delta_up(Rho::make(rho).value(), epsilon), delta);
      EXPECT_GE(zcdp_meeting({Epsilon::make(epsilon).value(), Delta::make(delta).value()})->value(),
                rho);
    }
  }
}

TEST(PublishedVectorsTest, GaussianDiscreteGaussianAndZcdpAreReproduced) {
  std::ifstream file(shared_file("vectors/accounting.json"));
  if (!file) GTEST_SKIP() << "no vectors beside the checkout";
  int checked = 0;
  for (const auto& entry : nlohmann::json::parse(file)) {
    const std::string mechanism = entry["mechanism"], quantity = entry["quantity"],
                      id = entry["id"];
    const auto& params = entry["params"];
    const double at = entry["at"], value = entry["value"], tolerance = entry["tolerance"];
    const double k = entry["compositions"];
    double found = 0;
    if (mechanism == "gaussian" && quantity == "delta_at_epsilon" && params.contains("sigma")) {
      // A sensitivity under add/remove counts twice where a record is replaced.
      const double steps = entry["neighbouring"] == "replace_one" ? 2 : 1;
      found = gaussian_delta_up(steps * std::sqrt(k) * params["sensitivity"].get<double>() /
                                    params["sigma"].get<double>(),
                                at);
    } else if (mechanism == "gaussian" && quantity == "sigma_at_epsilon_delta" && k == 1) {
      found = params["sensitivity"].get<double>() *
              gaussian_noise_multiplier(dp(params["epsilon"], at)).value();
    } else if (mechanism == "discrete_gaussian" && quantity == "delta_at_epsilon" && k == 1) {
      found = DiscreteGaussianProfile(params["sigma2"]).delta_up(at, params["sensitivity"]);
    } else if (mechanism == "discrete_gaussian" && quantity == "tail_probability") {
      found =
          2 *
          DiscreteGaussianProfile(params["sigma2"]).at_least_up(entry["at"].get<std::int64_t>());
    } else if (mechanism == "zcdp" && quantity == "delta_at_epsilon") {
      found = zcdp_delta_up(Rho::make(k * params["rho"].get<double>()).value(), at);
    } else {
      continue;
    }
    ++checked;
    EXPECT_NEAR(found, value, tolerance) << id;
    EXPECT_GE(found, value * (1 - 1e-14)) << id << ": understates";
  }
  std::cout << checked << " published values reproduced\n";
  EXPECT_GE(checked, 20);
}

}  // namespace
}  // namespace discreet
