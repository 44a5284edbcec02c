#include "accounting/calibration.h"

#include <cmath>

#include <gtest/gtest.h>

#include "accounting/optimal_composition.h"
#include "privacy/gaussian_profile.h"

namespace discreet {
namespace {

ApproxDp dp(double epsilon, double delta) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}

// The exact price of Gaussian releases, as a stand-in for a loss distribution.
Result<double> exact_gaussian(const LossEvent& event, Delta delta) {
  double count = 1;
  const LossEvent* inner = &event;
  if (const auto* repeated = std::get_if<loss::Repeated>(&event.kind)) {
    count = static_cast<double>(repeated->count);
    inner = repeated->inner.get();
  }
  const auto& gaussian = std::get<loss::Gaussian>(inner->kind);
  const double mu = std::sqrt(count) * gaussian.sensitivity / gaussian.sigma;
  double bad = 0, good = 1;
  while (gaussian_delta_up(mu, good) > delta.value()) good *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (bad + good) / 2;
    (gaussian_delta_up(mu, middle) <= delta.value() ? good : bad) = middle;
  }
  return good;
}

const EventFamily kGaussians = [](double sigma) { return LossEvent(loss::Gaussian{sigma, 1}); };

TEST(CalibrationTest, LeastNoiseMeetsTheTargetAndALittleLessDoesNot) {
  const ApproxDp target = dp(1, 1e-6);
  const Pricing renyi = renyi_pricing(Neighbours::AddRemove);
  const double sigma = least_noise(kGaussians, 10, target, renyi).value();
  const auto price = [&](double noise) {
    return renyi(loss::Repeated{10, std::make_shared<LossEvent>(kGaussians(noise).value())},
                 target.delta)
        .value();
  };
  EXPECT_LE(price(sigma), 1);
  EXPECT_GT(price(sigma * (1 - 1e-5)), 1);
}

TEST(CalibrationTest, WithAnExactPriceItFindsTheExactNoise) {
  const ApproxDp target = dp(1, 1e-6);
  const double sigma =
      least_noise(kGaussians, 1, target, exact_gaussian, {.relative_tolerance = 1e-10}).value();
  EXPECT_NEAR(sigma, gaussian_noise_multiplier(target).value(), 1e-8);
  // A Renyi price can only ask for more.
  EXPECT_GT(least_noise(kGaussians, 1, target, renyi_pricing(Neighbours::AddRemove)).value(),
            sigma);
}

TEST(CalibrationTest, ImpossibleTargetsAndNonsenseAreRefused) {
  const Pricing renyi = renyi_pricing(Neighbours::AddRemove);
  EXPECT_FALSE(least_noise(kGaussians, 0, dp(1, 1e-6), renyi));
  EXPECT_FALSE(least_noise(kGaussians, 1, dp(1, 1e-6), renyi, {.noise_max = 0.5}));
  EXPECT_FALSE(least_noise(kGaussians, 1, dp(1, 0), renyi));  // the pricing itself refuses
}

TEST(CalibrationTest, TheNumberOfReleasesFitsAndOneMoreDoesNot) {
  const ApproxDp target = dp(1, 1e-6);
  const LossEvent event = loss::Gaussian{50, 1};
  const auto count = most_releases(event, target, exact_gaussian).value();
  const double mu = 1 / gaussian_noise_multiplier(target).value();
  EXPECT_EQ(count, static_cast<std::uint64_t>(mu * mu * 2500));
  EXPECT_EQ(most_releases(loss::Gaussian{0.5, 1}, target, exact_gaussian).value(), 0u);
  EXPECT_EQ(most_releases(event, target, exact_gaussian, 3).value(), 3u);
  const LossEvent failing =
      loss::Approximate{Epsilon::make(0.001).value(), Delta::make(3e-7).value()};
  EXPECT_EQ(most_releases(failing, target, renyi_pricing(Neighbours::AddRemove)).value(), 3u);
}

// No other split of the same budget does better: nudging any two shares raises the error.
TEST(CalibrationTest, SplitsOfABudgetAreOptimalAndNeverExceedIt) {
  const std::vector<WeightedQuestion> questions = {{1, 1}, {10, 1}, {1, 7}, {0.3, 100}, {4, 0.01}};
  const auto check = [&](const auto& shares, double total, auto error) {
    double sum = 0;
    for (const auto& share : shares) sum = add_up(sum, share.value());
    EXPECT_LE(sum, total);
    EXPECT_GE(sum, total * (1 - 1e-13));
    for (std::size_t i = 0; i < questions.size(); ++i)
      for (std::size_t j = 0; j < questions.size(); ++j) {
        if (i == j) continue;
        const double shift = 0.01 * std::min(shares[i].value(), shares[j].value());
        EXPECT_GT(error(questions[i], shares[i].value() + shift) +
                      error(questions[j], shares[j].value() - shift),
                  error(questions[i], shares[i].value()) + error(questions[j], shares[j].value()));
      }
  };
  const auto epsilon = Epsilon::make(1).value();
  check(*split_for_laplace(questions, epsilon), 1, [](const WeightedQuestion& q, double e) {
    return q.weight * 2 * q.sensitivity * q.sensitivity / (e * e);
  });
  check(*split_for_laplace_absolute(questions, epsilon), 1,
        [](const WeightedQuestion& q, double e) { return q.weight * q.sensitivity / e; });
  check(*split_for_gaussian(questions, Rho::make(0.5).value()), 0.5,
        [](const WeightedQuestion& q, double r) {
          return q.weight * q.sensitivity * q.sensitivity / (2 * r);
        });
  EXPECT_FALSE(split_for_laplace({}, epsilon));
  const WeightedQuestion wrong[] = {{0, 1}};
  EXPECT_FALSE(split_for_laplace(wrong, epsilon));
}

}  // namespace
}  // namespace discreet
