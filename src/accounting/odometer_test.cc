#include "accounting/odometer.h"

#include <cmath>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>

#include "accounting/renyi_epsilon.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

constexpr auto kAddRemove = Neighbours::AddRemove;

double uniform(SeededRandom& random) {
  return (static_cast<double>(random.bits64() >> 11) + 0.5) * 0x1p-53;
}
double normal(SeededRandom& random) {
  return std::sqrt(-2 * std::log(uniform(random))) * std::cos(2 * M_PI * uniform(random));
}

TEST(OdometerTest, SumsRiseWithEveryReleaseAndSurviveSaving) {
  auto odometer = RenyiOdometer::make(1e-6).value();
  EXPECT_EQ(odometer.epsilon(), 0);
  double last = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(
        odometer.spend(renyi_cost(loss::Gaussian{30, 1}, odometer.orders(), kAddRemove).value()));
    EXPECT_GE(odometer.epsilon(), last);
    last = odometer.epsilon();
  }
  const auto back = RenyiOdometer::restore(odometer.save());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->epsilon(), odometer.epsilon());
  EXPECT_EQ(back->save(), odometer.save());
  // It costs more than the same releases fixed in advance, but not twice.
  const LossEvent fixed = loss::Repeated{50, std::make_shared<LossEvent>(loss::Gaussian{30, 1})};
  const double in_advance = renyi_epsilon(fixed, 1e-6, kAddRemove)->value;
  EXPECT_GT(last, in_advance);
  EXPECT_LT(last, 1.6 * in_advance);
  EXPECT_FALSE(RenyiOdometer::restore("{}"));
  EXPECT_FALSE(RenyiOdometer::make(0));
  EXPECT_FALSE(odometer.spend({{1.0}, 0}));
}

// An analyst who fights the odometer: after a lucky (high-loss) run it asks cheap questions, after
// an unlucky one dear questions, so the loss is as far above its mean as adaptivity can push it.
// The loss may pass epsilon() at any of 60 moments with probability at most 0.1 in all. Alarm only
// above 0.1 + 5 standard errors: a false alarm is rarer than 1e-6.
TEST(OdometerTest, AnAdaptiveAnalystDoesNotOutrunIt) {
  constexpr int kRuns = 2000, kMoments = 60;
  constexpr double kDelta = 0.1;
  SeededRandom random(99);
  const auto fresh = RenyiOdometer::make(kDelta).value();
  const RenyiCost dear = renyi_cost(loss::Gaussian{2, 1}, fresh.orders(), kAddRemove).value();
  const RenyiCost cheap = renyi_cost(loss::Gaussian{20, 1}, fresh.orders(), kAddRemove).value();
  int outrun = 0;
  for (int run = 0; run < kRuns; ++run) {
    auto odometer = RenyiOdometer::make(kDelta).value();
    double loss = 0;
    bool ever = false;
    for (int moment = 0; moment < kMoments && !ever; ++moment) {
      const bool ahead = loss > 0.7 * odometer.epsilon();
      const double mu = ahead ? 0.05 : 0.5;
      ASSERT_TRUE(odometer.spend(ahead ? cheap : dear));
      loss += mu * normal(random) + mu * mu / 2;
      ever = loss > odometer.epsilon();
    }
    outrun += ever;
  }
  const double share = static_cast<double>(outrun) / kRuns;
  std::cout << "outrun in a share of " << share << " of the runs, allowed " << kDelta << "\n";
  RecordProperty("outrun", std::to_string(share));
  EXPECT_LE(share, kDelta + 5 * std::sqrt(kDelta * (1 - kDelta) / kRuns));
}

TEST(OdometerTest, ThreadsLoseNothing) {
  BasicOdometer odometer;
  const ApproxDp cost{Epsilon::make(0.25).value(), Delta::zero()};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) odometer.spend(cost);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(odometer.spent().epsilon.value(), 1000);
}

}  // namespace
}  // namespace discreet
