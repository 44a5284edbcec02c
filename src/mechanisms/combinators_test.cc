#include "mechanisms/combinators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>

#include "mechanisms/discrete_laplace.h"
#include "mechanisms/sample_and_aggregate.h"
#include "mechanisms/subsample.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

ApproxDp dp(double epsilon, double delta) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}
LossEvent pure(double epsilon) {
  return loss::Pure{Epsilon::make(epsilon).value()};
}

TEST(CombinatorsTest, ASharedGuaranteeIsEnoughForTheGroup) {
  for (const std::uint64_t size : {1ULL, 2ULL, 7ULL, 100ULL}) {
    for (const auto wanted : {dp(1, 0), dp(1, 1e-6), dp(0, 1e-6), dp(20, 0.1)}) {
      const ApproxDp one = share_for_group(wanted, size).value();
      const ApproxDp all = group_privacy(one, size);
      EXPECT_LE(all.epsilon, wanted.epsilon);
      EXPECT_LE(all.delta, wanted.delta);
      EXPECT_GE(all.epsilon.value(), wanted.epsilon.value() * (1 - 1e-12));
    }
  }
  EXPECT_FALSE(share_for_group(dp(1, 0), 0));
  EXPECT_FALSE(share_for_group(dp(0, 0), 5));
  EXPECT_FALSE(group_loss(pure(1), 0));
  EXPECT_EQ(std::get<loss::Group>(group_loss(pure(1), 3).value().kind).size, 3u);
}

TEST(CombinatorsTest, PartsAreDisjointAndCostTheWorst) {
  const std::vector<int> rows = {5, 1, 9, 12, 7, 3, 99};
  const auto parts = split_disjoint<int>(rows, 3, [](int row) { return std::size_t(row / 5); });
  std::multiset<int> seen;
  for (const auto& part : parts) seen.insert(part.begin(), part.end());
  EXPECT_EQ(seen, (std::multiset<int>{1, 3, 5, 7, 9, 12}));  // 99 belongs nowhere
  const auto added = parallel_loss({pure(1), pure(2)}, Neighbours::AddRemove).value();
  EXPECT_EQ(std::get<loss::Parallel>(added.kind).parts.size(), 2u);
  const auto replaced = parallel_loss({pure(1), pure(2)}, Neighbours::ReplaceOne).value();
  EXPECT_EQ(std::get<loss::Repeated>(replaced.kind).count, 2u);
  EXPECT_FALSE(parallel_loss({}, Neighbours::AddRemove));
}

TEST(CombinatorsTest, PostProcessingSeesOnlyTheRelease) {
  const auto laplace = DiscreteLaplace::make(Epsilon::make(1).value(), L1Sensitivity{1}).value();
  const PostProcessed even(laplace, [](std::int64_t value) { return value % 2 == 0; });
  SeededRandom a(1), b(1);
  for (std::int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(even.release(i, a), laplace.release(i, b) % 2 == 0);
  EXPECT_TRUE(std::holds_alternative<loss::DiscreteLaplace>(even.loss().kind));
}

TEST(SubsampleTest, AmplificationIsTheTheoremsAndItsInverseIsSafe) {
  const ApproxDp out = amplified(dp(1, 1e-6), 0.1);
  EXPECT_NEAR(out.epsilon.value(), std::log(1 + 0.1 * (std::exp(1.0) - 1)), 1e-14);
  EXPECT_NEAR(out.delta.value(), 1e-7, 1e-20);
  EXPECT_EQ(amplified(dp(1, 0.5), 1).epsilon.value(), 1);
  EXPECT_EQ(amplified(dp(1e5, 0), 0.5).epsilon.value(), 1e5);  // e^epsilon overflows
  for (const double rate : {1e-6, 0.01, 0.5, 1.0}) {
    for (const double epsilon : {0.01, 1.0, 10.0}) {
      const ApproxDp inside = inside_for(dp(epsilon, 1e-9), rate).value();
      EXPECT_GE(inside.epsilon.value(), epsilon * (1 - 1e-12));
      EXPECT_LE(amplified(inside, rate).epsilon.value(), epsilon);
      EXPECT_NEAR(amplified(inside, rate).epsilon.value(), epsilon, 1e-9 * epsilon);
    }
  }
  EXPECT_FALSE(inside_for(dp(1, 0), 0));
  EXPECT_FALSE(inside_for(dp(1, 0), std::nan("")));
}

TEST(SubsampleTest, EveryUnitIsSampledAtTheRate) {
  const auto poisson = PoissonSample::make(0.3).value();
  const auto fixed = FixedSample::make(3, 10).value();
  SeededRandom random(2);
  constexpr int kRuns = 20'000;
  int in_poisson[10] = {}, in_fixed[10] = {};
  std::map<std::vector<std::size_t>, int> sets;
  for (int i = 0; i < kRuns; ++i) {
    for (const auto place : poisson.draw(10, random)) ++in_poisson[place];
    auto drawn = fixed.draw(random);
    ASSERT_EQ(drawn.size(), 3u);
    for (const auto place : drawn) ++in_fixed[place];
    std::sort(drawn.begin(), drawn.end());
    ++sets[drawn];
  }
  const double slack = 6 * std::sqrt(0.3 * 0.7 / kRuns);
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(1.0 * in_poisson[i] / kRuns, 0.3, slack);
    EXPECT_NEAR(1.0 * in_fixed[i] / kRuns, 0.3, slack);
  }
  EXPECT_EQ(sets.size(), 120u);  // 10 choose 3
  double chi2 = 0;
  for (const auto& [set, count] : sets)
    chi2 += std::pow(count - kRuns / 120.0, 2) / (kRuns / 120.0);
  std::cout << "chi-square of sets " << chi2 << " with 119 degrees of freedom\n";
  EXPECT_LT(chi2, 119 + 7 * std::sqrt(238.0) + 20);  // false alarm below 1e-9
}

TEST(SubsampleTest, BadParametersAreRefused) {
  for (const double p : {0.0, -1.0, 1.5, std::nan(""), HUGE_VAL})
    EXPECT_FALSE(PoissonSample::make(p));
  EXPECT_TRUE(PoissonSample::make(5e-324));
  EXPECT_FALSE(FixedSample::make(0, 10));
  EXPECT_FALSE(FixedSample::make(11, 10));
  EXPECT_FALSE(FixedSample::make(1, 0));
}

TEST(SubsampleTest, LossKeepsTheInnerEvent) {
  const auto event = PoissonSample::make(0.25)->loss(pure(1));
  EXPECT_EQ(std::get<loss::PoissonSubsampled>(event.kind).probability, 0.25);
  const auto fixed = FixedSample::make(1, 3)->loss(pure(1));
  EXPECT_EQ(std::get<loss::SampledWithoutReplacement>(fixed.kind).population, 3u);
  EXPECT_GE(FixedSample::make(1, 3)->rate(), 1.0 / 3);
}

// The slope of noisy pairs by least squares on each block, in thousandths: a robust estimate of 2.
TEST(SampleAndAggregateTest, FindsAnEstimateThatBlocksAgreeOn) {
  SeededRandom random(3);
  constexpr std::size_t kRows = 4000;
  const auto slope = [](std::span<const std::size_t> rows) -> std::int64_t {
    double xy = 0, xx = 0;
    for (const std::size_t row : rows) {
      const double x = static_cast<double>(row % 100), y = 2 * x + static_cast<double>(row % 7) - 3;
      xy += x * y;
      xx += x * x;
    }
    return xx > 0 ? std::llround(1000 * xy / xx) : 0;
  };
  const IntegerRange range{-10'000, 10'000};
  const auto epsilon = Epsilon::make(1).value();
  const auto median = SampleAndAggregate::make(epsilon, 100, range, BlockAggregate::Median).value();
  const auto mean = SampleAndAggregate::make(epsilon, 100, range, BlockAggregate::Mean).value();
  EXPECT_LT(median.error_bound(0.95), 50);
  double worst = 0;
  int beyond = 0;
  for (int i = 0; i < 20; ++i) {
    worst = std::fmax(worst, std::fabs(median.release(kRows, slope, random) - 2000));
    beyond +=
        std::fabs(mean.release(kRows, slope, random) - 2000) > mean.error_bound(0.999999) + 50;
  }
  std::cout << "worst error of the median " << worst << " thousandths\n";
  EXPECT_LT(worst, 100);
  EXPECT_EQ(beyond, 0);
}

TEST(SampleAndAggregateTest, BadParametersAreRefused) {
  const auto epsilon = Epsilon::make(1).value();
  for (const auto kind : {BlockAggregate::Median, BlockAggregate::Mean}) {
    EXPECT_FALSE(SampleAndAggregate::make(epsilon, 0, {0, 1}, kind));
    EXPECT_FALSE(SampleAndAggregate::make(epsilon, 1 << 25, {0, 1}, kind));
    EXPECT_FALSE(SampleAndAggregate::make(epsilon, 10, {1, 0}, kind));
    EXPECT_FALSE(SampleAndAggregate::make(Epsilon::zero(), 10, {0, 1}, kind));
    EXPECT_FALSE(SampleAndAggregate::make(Epsilon::make(5e-324).value(), 10, {0, 1}, kind));
  }
  EXPECT_FALSE(SampleAndAggregate::make(epsilon, 10, {4, 4}, BlockAggregate::Mean));
}

}  // namespace
}  // namespace discreet
