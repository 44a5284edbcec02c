#include "accounting/filter.h"

#include <atomic>
#include <cmath>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>

#include "accounting/conversion.h"
#include "accounting/renyi_epsilon.h"
#include "privacy/gaussian_profile.h"

namespace discreet {
namespace {

constexpr auto kAddRemove = Neighbours::AddRemove;

ApproxDp dp(double epsilon, double delta = 0) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}
std::shared_ptr<const LossEvent> in(LossEvent event) {
  return std::make_shared<LossEvent>(std::move(event));
}
RenyiCost renyi(const RenyiFilter& filter, const LossEvent& event) {
  return renyi_cost(event, filter.rule().orders, kAddRemove).value();
}

TEST(FilterTest, TheBasicFilterAdmitsExactlyItsBudget) {
  BasicFilter filter(BasicRule::make(dp(1, 1e-6)));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(filter.try_spend(dp(0.25)));
  const auto refused = filter.try_spend(dp(1e-12));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::BudgetExhausted);
  EXPECT_TRUE(filter.try_spend(dp(0, 1e-6)));
  EXPECT_FALSE(filter.try_spend(dp(0, 1e-7)));
  EXPECT_EQ(filter.rule().spent, dp(1, 1e-6));
}

TEST(FilterTest, ARefusalChangesNothing) {
  BasicFilter filter(BasicRule::make(dp(1)));
  EXPECT_FALSE(filter.try_spend(dp(2)));
  EXPECT_FALSE(filter.would_fit(dp(2)));
  EXPECT_TRUE(filter.would_fit(dp(1)));
  EXPECT_EQ(filter.rule().spent, dp(0));
  EXPECT_TRUE(filter.try_spend(dp(1)));
}

TEST(FilterTest, TheConcentratedFilterSpendsTheWholeTargetAndNoMore) {
  ConcentratedFilter filter(ConcentratedRule::make(dp(1, 1e-6)).value());
  const double rho = filter.rule().budget.rho.value();
  EXPECT_LE(zcdp_epsilon(Rho::make(rho).value(), 1e-6), 1);
  const ConcentratedCost tenth{Rho::make(rho / 10).value(), Delta::zero()};
  int admitted = 0;
  while (filter.try_spend(tenth)) ++admitted;
  EXPECT_GE(admitted, 9);  // the sum is rounded up
  EXPECT_LE(admitted, 10);
  EXPECT_FALSE(ConcentratedRule::make(dp(1, 0)));
  EXPECT_FALSE(ConcentratedRule::make(dp(1, 1e-6), Delta::make(1e-6).value()));
}

TEST(FilterTest, EventsWithADeltaSpendTheShareSetAsideForThem) {
  ConcentratedFilter filter(ConcentratedRule::make(dp(1, 1e-6), Delta::make(5e-7).value()).value());
  const auto cost = concentrated_cost(
      loss::Approximate{Epsilon::make(0.001).value(), Delta::make(2e-7).value()}, kAddRemove);
  EXPECT_TRUE(filter.try_spend(*cost));
  EXPECT_TRUE(filter.try_spend(*cost));
  EXPECT_FALSE(filter.try_spend(*cost));
}

TEST(FilterTest, TheGaussianFilterMatchesTheExactGaussianProfile) {
  GaussianFilter filter(GaussianRule::make(dp(1, 1e-6)).value());
  const double mu2 = filter.rule().budget;
  EXPECT_LE(gaussian_delta_up(std::sqrt(mu2), 1), 1e-6 * (1 + 1e-9));
  const auto cost = gaussian_cost(loss::Gaussian{40, 1}, kAddRemove).value();
  int admitted = 0;
  while (filter.try_spend(cost)) ++admitted;
  EXPECT_EQ(admitted, static_cast<int>(mu2 * 1600));
  EXPECT_FALSE(gaussian_cost(loss::Zcdp{Rho::make(1).value()}, kAddRemove));
  EXPECT_FALSE(gaussian_cost(loss::DiscreteGaussian{1, 1}, kAddRemove));
}

// A release that is epsilon-DP must have a trade-off curve above the Gaussian's: at every point the
// hockey stick of randomized response stays below.
TEST(FilterTest, PureEventsAreChargedAGaussianThatDominatesThem) {
  for (const double e : {1e-4, 0.01, 0.5, 2.0, 10.0}) {
    const double mu =
        std::sqrt(gaussian_cost(loss::Pure{Epsilon::make(e).value()}, kAddRemove).value());
    for (double at = 0; at < e; at += e / 50) {
      const double response = (std::exp(e) - std::exp(at)) / (1 + std::exp(e));
      EXPECT_GE(gaussian_delta_up(mu, at), response * (1 - 1e-9)) << e << " " << at;
    }
    EXPECT_LE(mu, std::sqrt(M_PI / 2) * e * (1 + 1e-9));
  }
}

TEST(FilterTest, TheRenyiFilterIsSoundAndNearlyAsGoodAsKnowingTheOrder) {
  const ApproxDp target = dp(2, 1e-6);
  for (const LossEvent& event :
       std::vector<LossEvent>{loss::Gaussian{30, 1}, loss::Laplace{40, 1},
                              loss::PoissonSubsampled{0.01, in(loss::Gaussian{1, 1})},
                              loss::BoundedRange{Epsilon::make(0.05).value()}}) {
    // Fixed in advance, the same releases cost no more than the target, and not much less.
    const auto used = [&](RenyiFilter filter) {
      const RenyiCost cost = renyi(filter, event);
      std::uint64_t admitted = 0;
      while (filter.try_spend(cost)) ++admitted;
      return renyi_epsilon(loss::Repeated{admitted, in(event)}, 1e-6, kAddRemove)->value;
    };
    const double known = used(RenyiFilter(RenyiRule::make_for(event, kAddRemove, target).value()));
    const double unknown = used(RenyiFilter(RenyiRule::make(target).value()));
    std::cout << "of epsilon 2 used: " << known << ", without a typical event " << unknown << "\n";
    EXPECT_LE(known, 2);
    EXPECT_LE(unknown, 2);
    EXPECT_GE(known, 0.94 * 2);
    EXPECT_GE(unknown, 0.85 * 2);
  }
}

TEST(FilterTest, OneOrderKeepsAllOfItsDelta) {
  const auto rule = RenyiRule::make(dp(1, 1e-6), Delta::zero(), {20.0}, {1.0}).value();
  EXPECT_NEAR(rule.budgets[0], rdp_budget(20, dp(1, 1e-6)), 1e-12);
  EXPECT_FALSE(RenyiRule::make(dp(1, 1e-6), Delta::zero(), {20.0, 30.0}, {1.0, 0.5}));
  EXPECT_FALSE(RenyiRule::make(dp(1, 1e-6), Delta::zero(), {1.0}, {1.0}));
  EXPECT_FALSE(RenyiRule::make(dp(1, 1e-6), Delta::zero(), {}, {}));
  EXPECT_FALSE(RenyiRule::make(dp(0.001, 1e-6), Delta::zero(), {2.0}, {1.0}));
  EXPECT_FALSE(RenyiRule::make(dp(1, 0)));
}

TEST(FilterTest, ManyThreadsNeverOverspend) {
  constexpr int kThreads = 8, kTries = 4000;
  const double share = 1.0 / 10'000;
  BasicFilter basic(BasicRule::make(dp(1)));
  RenyiFilter renyi_filter(RenyiRule::make(dp(1, 1e-6)).value());
  const RenyiCost cost = renyi(renyi_filter, loss::Gaussian{500, 1});
  std::atomic<int> basic_admitted = 0, renyi_admitted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kTries; ++i) {
        if (basic.try_spend(dp(share))) ++basic_admitted;
        if (renyi_filter.try_spend(cost)) ++renyi_admitted;
      }
    });
  for (std::thread& thread : threads) thread.join();
  // What one thread would have admitted.
  BasicFilter alone(BasicRule::make(dp(1)));
  RenyiFilter renyi_alone(RenyiRule::make(dp(1, 1e-6)).value());
  int basic_expected = 0, renyi_expected = 0;
  for (int i = 0; i < kThreads * kTries; ++i) {
    if (alone.try_spend(dp(share))) ++basic_expected;
    if (renyi_alone.try_spend(cost)) ++renyi_expected;
  }
  EXPECT_EQ(basic_admitted, basic_expected);
  EXPECT_EQ(renyi_admitted, renyi_expected);
  EXPECT_LT(basic_expected, kThreads * kTries);
  EXPECT_LT(renyi_expected, kThreads * kTries);
  EXPECT_LE(basic.rule().spent.epsilon.value(), 1);
}

TEST(FilterTest, ASavedFilterGoesOnWhereItWas) {
  BasicFilter basic(BasicRule::make(dp(1, 1e-6)));
  ASSERT_TRUE(basic.try_spend(dp(0.1, 1e-9)));
  const auto basic_back = BasicFilter::restore(basic.save());
  ASSERT_TRUE(basic_back) << basic_back.error().message;
  EXPECT_EQ(basic_back->rule().spent, basic.rule().spent);

  RenyiFilter filter(RenyiRule::make(dp(1, 1e-6), Delta::make(1e-7).value()).value());
  ASSERT_TRUE(filter.try_spend(renyi(filter, loss::Gaussian{20, 1})));
  const auto back = RenyiFilter::restore(filter.save());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->rule().spent, filter.rule().spent);
  EXPECT_EQ(back->rule().budgets, filter.rule().budgets);
  EXPECT_EQ(back->rule().delta_budget, filter.rule().delta_budget);
  EXPECT_EQ(back->save(), filter.save());

  ConcentratedFilter concentrated(ConcentratedRule::make(dp(1, 1e-6)).value());
  EXPECT_EQ(ConcentratedFilter::restore(concentrated.save())->save(), concentrated.save());
  GaussianFilter gaussian(GaussianRule::make(dp(1, 1e-6)).value());
  EXPECT_EQ(GaussianFilter::restore(gaussian.save())->save(), gaussian.save());

  for (const char* text :
       {"", "{}", R"({"filter":"basic","version":1})",
        R"({"filter":"basic","version":2,"epsilon":1})",
        R"({"filter":"renyi","version":1,"orders":[0.5],"budgets":[1],"spent":[0],)"
        R"("delta":0,"delta_spent":0})",
        R"({"filter":"basic","version":1,"epsilon":1,"delta":0,)"
        R"("epsilon_spent":-1,"delta_spent":0})"}) {
    EXPECT_FALSE(BasicFilter::restore(text)) << text;
    EXPECT_FALSE(RenyiFilter::restore(text)) << text;
    EXPECT_FALSE(GaussianFilter::restore(text)) << text;
  }
}

TEST(FilterTest, CostsInEachCurrencyAreRefusedWhereTheyDoNotExist) {
  EXPECT_FALSE(basic_cost(loss::Gaussian{1, 1}, kAddRemove));
  EXPECT_EQ(basic_cost(loss::Laplace{2, 1}, kAddRemove)->epsilon.value(), 0.5);
  EXPECT_EQ(basic_cost(loss::Laplace{2, 1}, Neighbours::ReplaceOne)->epsilon.value(), 1);
  EXPECT_EQ(concentrated_cost(loss::Gaussian{2, 1}, kAddRemove)->rho.value(), 0.125);
  EXPECT_EQ(concentrated_cost(loss::Laplace{2, 1}, kAddRemove)->rho.value(), 0.125);
  EXPECT_EQ(
      concentrated_cost(loss::BoundedRange{Epsilon::make(2).value()}, kAddRemove)->rho.value(),
      0.5);
  const LossEvent fixed_size = loss::SampledWithoutReplacement{1, 10, in(loss::Laplace{2, 1})};
  EXPECT_NEAR(basic_cost(fixed_size, kAddRemove)->epsilon.value(), std::log1p(0.1 * std::expm1(1)),
              1e-12);
  EXPECT_EQ(basic_cost(fixed_size, Neighbours::ReplaceOne)->epsilon,
            basic_cost(fixed_size, kAddRemove)->epsilon);
  const LossEvent noisy = loss::SampledWithoutReplacement{1, 10, in(loss::Gaussian{2, 1})};
  EXPECT_EQ(concentrated_cost(noisy, kAddRemove)->rho.value(), 0.5);
  EXPECT_FALSE(concentrated_cost(loss::Group{2, in(noisy)}, kAddRemove));
  const LossEvent sampled = loss::PoissonSubsampled{0.1, in(loss::Laplace{1, 1})};
  EXPECT_LT(concentrated_cost(sampled, kAddRemove)->rho.value(), 0.02);
  EXPECT_NEAR(basic_cost(sampled, kAddRemove)->epsilon.value(), std::log1p(0.1 * std::expm1(1)),
              1e-12);
}

}  // namespace
}  // namespace discreet
