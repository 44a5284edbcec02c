#include "mechanisms/for_error.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mechanisms/bivariate.h"
#include "mechanisms/extreme.h"
#include "mechanisms/knorm.h"
#include "mechanisms/partition_threshold.h"
#include "mechanisms/quantiles.h"
#include "mechanisms/sample_and_aggregate.h"
#include "mechanisms/tree.h"

namespace discreet {
namespace {

constexpr double kConfidence = 0.95;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

TEST(ForErrorTest, JointMomentsMeetTheWantedRows) {
  const std::vector<MomentColumn> columns = {{{0, 100}, true}};
  const auto found = KNorm::for_error(50, kConfidence, columns);
  ASSERT_TRUE(found);
  EXPECT_LE(found->error_bound(kConfidence), 50);
  const auto less = KNorm::make(eps(found->epsilon().value() * 0.98), columns).value();
  EXPECT_GT(less.error_bound(kConfidence), 50);
}

TEST(ForErrorTest, CellsExtremesAndBlocksMeetTheirWishes) {
  const auto cells =
      Bivariate::for_error(30, kConfidence, {0, 10}, {0, 10}, BivariateDegree::Covariance);
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_LE(cells->error_bound(kConfidence), 30);
  EXPECT_GT(cells->error_bound(kConfidence), 25);
  const auto extreme = Extreme::for_rows_beyond(40, kConfidence, ExtremeSide::Maximum, {0, 1000});
  ASSERT_TRUE(extreme) << extreme.error().message;
  EXPECT_LE(extreme->rows_beyond_bound(kConfidence), 40);
  EXPECT_GT(extreme->rows_beyond_bound(kConfidence), 35);
  const auto blocks =
      SampleAndAggregate::for_error(5, kConfidence, 100, {0, 100}, BlockAggregate::Mean);
  ASSERT_TRUE(blocks) << blocks.error().message;
  EXPECT_LE(blocks->error_bound(kConfidence), 5);
  EXPECT_GT(blocks->error_bound(kConfidence), 4);
}

TEST(ForErrorTest, QuantilesAndTreesMeetTheirWishes) {
  const auto quantiles =
      Quantiles::for_rank_error(100, kConfidence, {0.25, 0.5, 0.75}, {0, 100'000});
  ASSERT_TRUE(quantiles) << quantiles.error().message;
  EXPECT_LE(quantiles->rank_error_bound(kConfidence), 100);
  EXPECT_GT(quantiles->rank_error_bound(kConfidence), 90);
  const auto tree = Tree::laplace_for_error(60, kConfidence, {0, 31}, 64);
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_LE(tree->range_error_bound({0, 31}, kConfidence), 60);
  EXPECT_GT(tree->range_error_bound({0, 31}, kConfidence), 50);
}

TEST(ForErrorTest, ImpossibleWishesAreRefusedWithASentence) {
  for (const double wish : {-1.0, std::nan(""), HUGE_VAL})
    EXPECT_FALSE(KNorm::for_error(wish, kConfidence, {{{0, 100}, false}}));
  EXPECT_FALSE(KNorm::for_error(10, 1.0, {{{0, 100}, false}}));
  EXPECT_FALSE(Extreme::for_rows_beyond(0.5, kConfidence, ExtremeSide::Minimum, {0, 1000}));
}

TEST(ForErrorTest, AThresholdsNoiseStaysWithinItsErrorBound) {
  const ApproxDp budget{eps(1), Delta::make(1e-6).value()};
  for (const auto& mechanism : {PartitionThreshold::laplace(budget, {}).value(),
                                PartitionThreshold::gaussian(budget, {}).value()}) {
    const double bound = mechanism.error_bound(kConfidence);
    EXPECT_GT(bound, 1.5 * mechanism.noise_deviation());
    EXPECT_LT(bound, 3 * mechanism.noise_deviation() + 1);
  }
}

}  // namespace
}  // namespace discreet
