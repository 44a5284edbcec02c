#include "accounting/pld_account.h"

#include <cmath>

#include <gtest/gtest.h>

#include "accounting/pld.h"

namespace discreet {
namespace {

LossEvent times(std::uint64_t count, LossEvent event) {
  return loss::Repeated{count, std::make_shared<LossEvent>(std::move(event))};
}

std::vector<LossEvent> history() {
  return {
      times(200, loss::Laplace{50, 1}), times(100, loss::Gaussian{40, 1}),
      times(50, loss::Approximate{Epsilon::make(0.02).value(), Delta::make(1e-10).value()}),
      times(100, loss::PoissonSubsampled{0.02, std::make_shared<LossEvent>(loss::Gaussian{2, 1})})};
}

TEST(PldAccountTest, PricesOverlapWithComposingEverythingAgain) {
  auto account = PldAccount::make(1e-6, Neighbours::AddRemove,
                                  {.epsilon_max = 8, .releases_max = 1000, .width = 1e-3})
                     .value();
  loss::Composed all;
  EXPECT_EQ(account.epsilon().value().upper, 0);
  for (const LossEvent& event : history()) {
    ASSERT_TRUE(account.record(event).has_value());
    all.parts.push_back(event);
  }
  const auto compare = [&](const Bracket& mine, const LossEvent& everything) {
    const Bracket full = PrivacyLossDistribution::make(everything, Neighbours::AddRemove)
                             .value()
                             .epsilon(1e-6)
                             .value();
    EXPECT_LE(mine.lower, full.upper);
    EXPECT_GE(mine.upper, full.lower);
    EXPECT_LE(mine.upper, full.upper * 1.002);
    EXPECT_GE(mine.lower, full.lower * 0.95);
  };
  compare(account.epsilon().value(), all);
  for (const LossEvent& question :
       {LossEvent(loss::Laplace{5, 1}), LossEvent(loss::Gaussian{6, 1}),
        LossEvent(loss::Pure{Epsilon::make(0.3).value()}),
        LossEvent(loss::PoissonSubsampled{0.1, std::make_shared<LossEvent>(loss::Gaussian{1, 1})}),
        times(3, loss::Laplace{9, 1})}) {
    loss::Composed with = all;
    with.parts.push_back(question);
    compare(account.epsilon_with(question).value(), with);
  }
}

TEST(PldAccountTest, PricingRecordsNothingAndRecordingMatchesThePrice) {
  auto account = PldAccount::make(1e-6, Neighbours::AddRemove,
                                  {.epsilon_max = 8, .releases_max = 1000, .width = 1e-3})
                     .value();
  for (const LossEvent& event : history()) ASSERT_TRUE(account.record(event).has_value());
  const Bracket before = account.epsilon().value();
  const Bracket price = account.epsilon_with(loss::Laplace{5, 1}).value();
  EXPECT_EQ(account.epsilon().value().upper, before.upper);
  ASSERT_TRUE(account.record(loss::Laplace{5, 1}).has_value());
  const Bracket after = account.epsilon().value();
  EXPECT_NEAR(after.upper, price.upper, 1e-3);
  EXPECT_GT(after.upper, before.upper);
}

// Many releases of several kinds, recorded one after another: the product of frequencies must stand
// in for composing them all again, in both directions and however the questions differ.
TEST(PldAccountTest, AHundredThousandReleasesArePricedFromFrequencies) {
  auto account = PldAccount::make(1e-6, Neighbours::AddRemove,
                                  {.epsilon_max = 10, .releases_max = 1.5e5, .width = 1e-3})
                     .value();
  loss::Composed all;
  const auto record = [&](LossEvent event) {
    ASSERT_TRUE(account.record(event).has_value());
    all.parts.push_back(std::move(event));
  };
  for (int i = 0; i < 4; ++i) record(times(10000, loss::Laplace{300.0 + i, 1}));
  record(times(40000, loss::Gaussian{300, 1}));
  record(times(20000,
               loss::PoissonSubsampled{0.002, std::make_shared<LossEvent>(loss::Gaussian{2, 1})}));
  for (int i = 0; i < 100; ++i) record(loss::Laplace{200 + 0.5 * i, 1});
  EXPECT_TRUE(account.ready());
  for (const LossEvent& question :
       {LossEvent(loss::Composed{}), LossEvent(loss::Laplace{5, 1}),
        LossEvent(loss::Gaussian{6, 1}), LossEvent(loss::Pure{Epsilon::make(0.3).value()}),
        LossEvent(
            loss::PoissonSubsampled{0.1, std::make_shared<LossEvent>(loss::Gaussian{1, 1})})}) {
    loss::Composed with = all;
    with.parts.push_back(question);
    const Bracket full =
        PrivacyLossDistribution::make(with, Neighbours::AddRemove)->epsilon(1e-6).value();
    const Bracket mine = account.epsilon_with(question).value();
    EXPECT_LE(mine.lower, full.upper);
    EXPECT_GE(mine.upper, full.lower);
    EXPECT_LE(mine.width(), 2e-3 * mine.upper);
  }
}

TEST(PldAccountTest, AnAccountOfOneKindStaysExact) {
  auto gaussian = PldAccount::make(1e-6, Neighbours::AddRemove).value();
  ASSERT_TRUE(gaussian.record(times(100000, loss::Gaussian{1000, 1})).has_value());
  const LossEvent alike = times(100001, loss::Gaussian{1000, 1});
  EXPECT_DOUBLE_EQ(
      gaussian.epsilon_with(loss::Gaussian{1000, 1})->upper,
      PrivacyLossDistribution::make(alike, Neighbours::AddRemove)->epsilon(1e-6)->upper);
  auto response = PldAccount::make(1e-6, Neighbours::AddRemove).value();
  const LossEvent one = loss::RandomizedResponse{Epsilon::make(0.002).value()};
  ASSERT_TRUE(response.record(times(100000, one)).has_value());
  const Bracket mine = response.epsilon_with(one).value();
  const Bracket full = PrivacyLossDistribution::make(times(100001, one), Neighbours::AddRemove)
                           ->epsilon(1e-6)
                           .value();
  EXPECT_LE(mine.lower, full.upper);
  EXPECT_GE(mine.upper, full.lower);
  EXPECT_LE(mine.upper, full.upper * 1.001);
}

TEST(PldAccountTest, RefusalsLeaveTheAccountAsItWas) {
  auto account = PldAccount::make(1e-6, Neighbours::AddRemove).value();
  EXPECT_FALSE(account.record(loss::Zcdp{Rho::make(0.1).value()}));
  EXPECT_FALSE(account.record(loss::Gaussian{0, 1}));
  EXPECT_EQ(account.epsilon().value().upper, 0);
  EXPECT_FALSE(PldAccount::make(0, Neighbours::AddRemove));
  EXPECT_FALSE(
      PldAccount::make(1e-6, Neighbours::AddRemove, {.epsilon_max = 20, .releases_max = 1e14}));
}

}  // namespace
}  // namespace discreet
