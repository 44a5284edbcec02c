// Releases: unbiased, as noisy as planned, consistent.
#include "tables/release.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/seeded_random.h"

namespace discreet::tables {
namespace {

// A table over three attributes; marginals by summing.
struct Small {
  std::vector<std::uint32_t> sizes{3, 5, 4};
  std::vector<std::int64_t> cells;

  Small() {
    for (std::int64_t i = 0; i < 60; ++i) cells.push_back(i * i % 17);
  }
  std::vector<std::int64_t> marginal(const Attributes& attributes) const {
    std::size_t size = 1;
    for (const std::uint32_t a : attributes) size *= sizes[a];
    std::vector<std::int64_t> sums(size, 0);
    for (std::uint32_t i = 0; i < 60; ++i) {
      const std::uint32_t at[] = {i / 20, i / 4 % 5, i % 4};
      std::size_t place = 0;
      for (const std::uint32_t a : attributes) place = place * sizes[a] + at[a];
      sums[place] += cells[i];
    }
    return sums;
  }
  Counter counter() const {
    return [this](const Attributes& a) -> Result<std::vector<std::int64_t>> { return marginal(a); };
  }
};

std::shared_ptr<const Plan> plan_for(std::vector<Axis> axes, double rho) {
  auto marginals = all_marginals(axes, 3, Weighting::Cells);
  return std::make_shared<const Plan>(
      Plan::make(std::move(axes), std::move(marginals), Rho::make(rho).value()).value());
}

std::vector<std::vector<Axis>> bases() {
  std::vector<std::vector<Axis>> list;
  list.push_back(
      {Axis::cells("a", 3).value(), Axis::cells("b", 5).value(), Axis::cells("c", 4).value()});
  list.push_back({Axis::cells("a", 3).value(), Axis::ranges("b", 5).value(),
                  Axis::hierarchy("c", 4, {{0, 3}}).value()});
  return list;
}

TEST(ReleaseTest, WithAlmostNoNoiseGivesTheExactTables) {
  const Small small;
  for (auto& axes : bases()) {
    SeededRandom random(1);
    const auto released = release(plan_for(std::move(axes), 1e12), small.counter(), random).value();
    for (const Attributes& a : std::vector<Attributes>{{}, {0}, {2}, {0, 1}, {1, 2}, {0, 1, 2}}) {
      const auto exact = small.marginal(a);
      const auto got = released.marginal(a);
      ASSERT_EQ(got.size(), exact.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], static_cast<double>(exact[i]), 1e-3);
    }
  }
}

TEST(ReleaseTest, EveryMarginalIsTheSumOfAFinerOne) {
  const Small small;
  for (auto& axes : bases()) {
    SeededRandom random(2);
    const auto released = release(plan_for(std::move(axes), 0.01), small.counter(), random).value();
    const auto full = released.marginal({0, 1, 2}), pair = released.marginal({0, 2});
    for (std::uint32_t i = 0; i < 3; ++i)
      for (std::uint32_t k = 0; k < 4; ++k) {
        double sum = 0;
        for (std::uint32_t j = 0; j < 5; ++j) sum += full[(i * 5 + j) * 4 + k];
        EXPECT_NEAR(sum, pair[i * 4 + k], 1e-8);
      }
  }
}

// Squared errors over their planned variance: coefficients are independent, so the mean over all of
// them in T releases has relative standard error sqrt(2 / (60 T)); single tables are looser. Six
// standard errors: false alarms are rarer than 1e-8.
TEST(ReleaseTest, ErrorsAreThoseOfThePlan) {
  const Small small;
  constexpr int kTrials = 250;
  for (auto& axes : bases()) {
    SeededRandom random(3);
    const auto plan = plan_for(std::move(axes), 0.05);
    std::vector<double> squares(plan->marginals().size(), 0);
    double noise = 0, pure = 0;
    const Counter empty = [&](const Attributes& a) -> Result<std::vector<std::int64_t>> {
      return std::vector<std::int64_t>(plan->cells(a), 0);
    };
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto released = release(plan, trial % 2 == 0 ? small.counter() : empty, random).value();
      for (std::size_t m = 0; m < squares.size(); ++m) {
        const Attributes& a = plan->marginals()[m].attributes;
        const auto got = released.marginal(a);
        const auto exact = trial % 2 == 0 ? small.marginal(a) : empty(a).value();
        for (std::size_t i = 0; i < got.size(); ++i) {
          const double error = got[i] - static_cast<double>(exact[i]);
          squares[m] += error * error / static_cast<double>(got.size());
        }
      }
      if (trial % 2 == 0) continue;
      for (std::size_t s = 0; s < plan->spaces().size(); ++s) {
        const auto variances = coefficient_variances(*plan, plan->spaces()[s]);
        for (std::size_t i = 0; i < variances.size(); ++i) {
          const auto z = static_cast<double>(released.coefficients(s)[i]);
          noise += z * z / variances[i];
          ++pure;
        }
      }
    }
    std::printf("coefficients: mean square over planned %.4f\n", noise / pure);
    EXPECT_EQ(pure, 60.0 * kTrials / 2);
    EXPECT_NEAR(noise / pure, 1, 6 * std::sqrt(2 / pure));
    for (std::size_t m = 0; m < squares.size(); ++m) {
      const double planned = plan->variance(plan->marginals()[m]);
      const double ratio = squares[m] / kTrials / planned;
      std::printf("marginal %zu: variance %.3f planned, ratio %.4f\n", m, planned, ratio);
      EXPECT_NEAR(ratio, 1, 6 * std::sqrt(2.0 / kTrials));
    }
  }
}

TEST(ReleaseTest, IntervalsHoldAsOftenAsTheySay) {
  EXPECT_NEAR(interval_half_width(4, 0.95), 2 * 1.959964, 1e-5);
  EXPECT_GT(interval_half_width(4, 0.95, 100), interval_half_width(4, 0.95));
  const Small small;
  SeededRandom random(4);
  const auto plan = plan_for(bases()[0], 0.02);
  int inside = 0, all_inside = 0;
  constexpr int kTrials = 500;
  const Marginal& marginal = plan->marginals().back();
  const double one = interval_half_width(plan->variance(marginal), 0.95);
  const double all = interval_half_width(plan->variance(marginal), 0.95, 60);
  const auto exact = small.marginal(marginal.attributes);
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto got = release(plan, small.counter(), random).value().marginal(marginal.attributes);
    double worst = 0;
    for (std::size_t i = 0; i < 60; ++i)
      worst = std::max(worst, std::fabs(got[i] - static_cast<double>(exact[i])));
    inside += std::fabs(got[7] - static_cast<double>(exact[7])) <= one;
    all_inside += worst <= all;
  }
  const double slack = 6 * std::sqrt(0.95 * 0.05 / kTrials);
  std::printf("95%% intervals: one cell %.4f, all cells %.4f\n", inside / double{kTrials},
              all_inside / double{kTrials});
  EXPECT_NEAR(inside / double{kTrials}, 0.95, slack);
  EXPECT_GT(all_inside / double{kTrials}, 0.95 - slack);
}

TEST(ReleaseTest, AFailedCountIsPassedOn) {
  SeededRandom random(5);
  const Counter failing = [](const Attributes&) -> Result<std::vector<std::int64_t>> {
    return Error{ErrorCode::Unavailable, "no database"};
  };
  EXPECT_FALSE(release(plan_for(bases()[0], 1), failing, random));
}

}  // namespace
}  // namespace discreet::tables
