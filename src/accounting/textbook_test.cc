#include "accounting/textbook.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "accounting/optimal_composition.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

namespace mp = boost::multiprecision;
using Exact = mp::number<mp::cpp_bin_float<200, mp::digit_base_2>>;

ApproxDp dp(double epsilon, double delta = 0) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}
double uniform(SeededRandom& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.bits64() >> 11) * 0x1p-53;
}

TEST(TextbookTest, BasicCompositionAddsUp) {
  const std::vector<ApproxDp> releases = {dp(0.5, 1e-6), dp(0.25, 1e-7), dp(1)};
  EXPECT_EQ(basic_composition(releases).epsilon.value(), 1.75);
  EXPECT_NEAR(basic_composition(releases).delta.value(), 1.1e-6, 1e-20);
  EXPECT_EQ(basic_composition(dp(0.25, 0.5), 8).epsilon.value(), 2);
  EXPECT_EQ(basic_composition(dp(0.25, 0.5), 8).delta.value(), 1);
  EXPECT_EQ(basic_composition(dp(0.25, 0.5), 0).epsilon.value(), 0);
}

TEST(TextbookTest, ParallelCompositionTakesTheWorstPartOrTheTwoWorst) {
  const std::vector<ApproxDp> parts = {dp(0.5, 1e-6), dp(0.25, 1e-5), dp(1)};
  EXPECT_EQ(parallel_composition(parts, Neighbours::AddRemove), dp(1, 1e-5));
  EXPECT_EQ(parallel_composition(parts, Neighbours::ReplaceOne).epsilon.value(), 1.5);
  EXPECT_EQ(parallel_composition({}, Neighbours::AddRemove), dp(0));
}

TEST(TextbookTest, AdvancedCompositionIsTheFormulaRoundedUpAgainst200Bits) {
  SeededRandom random(7);
  for (int i = 0; i < 500; ++i) {
    const double e = std::exp(uniform(random, -9, 1)), slack = std::exp(uniform(random, -30, -1));
    const std::uint64_t k = 1 + random.bits64() % 100'000;
    const auto total = advanced_composition(dp(e, 1e-12), k, slack).value();
    const Exact exact =
        Exact(e) * sqrt(2 * Exact(k) * log(1 / Exact(slack))) + Exact(k) * e * (exp(Exact(e)) - 1);
    EXPECT_GE(Exact(total.epsilon.value()), exact);
    EXPECT_LE(Exact(total.epsilon.value()), exact * (1 + 1e-14));
    EXPECT_GE(Exact(total.delta.value()), Exact(k) * 1e-12 + slack);
  }
}

TEST(TextbookTest, NoTheoremBeatsTheOptimum) {
  for (const double e : {0.01, 0.1, 0.5})
    for (const std::uint64_t k : {10u, 100u, 1000u}) {
      const double slack = 1e-6;
      const double best = optimal_epsilon(Epsilon::make(e).value(), Delta::zero(), k, slack);
      EXPECT_LE(best, advanced_composition(dp(e), k, slack)->epsilon.value());
      const std::vector<ApproxDp> releases(k, dp(e));
      const auto concentrated = advanced_composition(releases, slack).value();
      EXPECT_LE(best, concentrated.epsilon.value());
      EXPECT_LE(concentrated.epsilon, advanced_composition(dp(e), k, slack)->epsilon);
      EXPECT_LE(best, basic_composition(dp(e), k).epsilon.value());
    }
}

TEST(TextbookTest, AShareOfAdvancedCompositionFitsAndIsTheLargest) {
  const auto share = advanced_composition_share(dp(1, 1e-6), 100).value();
  EXPECT_LE(advanced_composition({share, Delta::zero()}, 100, 1e-6)->epsilon.value(), 1);
  EXPECT_GT(advanced_composition(dp(share.value() * (1 + 1e-9)), 100, 1e-6)->epsilon.value(), 1);
  EXPECT_FALSE(advanced_composition_share(dp(1, 0), 100));
  EXPECT_FALSE(advanced_composition(dp(1), 10, 0));
}

TEST(TextbookTest, AmplificationIsTheFormulaRoundedUpAgainst200Bits) {
  SeededRandom random(8);
  for (int i = 0; i < 500; ++i) {
    const double e = std::exp(uniform(random, -9, 3)), q = uniform(random, 1e-6, 1);
    const auto sampled = amplify_by_poisson_sampling(dp(e, 1e-6), q).value();
    const Exact exact = log(1 + Exact(q) * (exp(Exact(e)) - 1));
    EXPECT_GE(Exact(sampled.epsilon.value()), exact);
    EXPECT_LE(Exact(sampled.epsilon.value()), exact * (1 + 1e-14));
    EXPECT_LE(sampled.epsilon.value(), e);
    EXPECT_GE(Exact(sampled.delta.value()), Exact(q) * 1e-6);
    const auto inner = inner_budget_for_poisson_sampling(dp(e, 1e-6), q).value();
    const auto back = amplify_by_poisson_sampling(inner, q).value();
    EXPECT_LE(back.epsilon.value(), e);
    EXPECT_GE(back.epsilon.value(), e * (1 - 1e-9));
    EXPECT_LE(back.delta.value(), 1e-6);
  }
  EXPECT_FALSE(amplify_by_poisson_sampling(dp(1), 1.5));
  EXPECT_FALSE(amplify_by_sampling_without_replacement(dp(1), 11, 10));
  EXPECT_EQ(amplify_by_sampling_without_replacement(dp(1), 1, 10)->epsilon,
            amplify_by_poisson_sampling(dp(1), 0.1)->epsilon);
}

}  // namespace
}  // namespace discreet
