#include "curator/clamped_aggregate.h"

#include <gtest/gtest.h>

#include "engines/duckdb/database.h"

#include <cmath>
#include <iostream>

#include "curator/release_job.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

constexpr double kHuge = 1e15;  // noise is zero but for chances below exp(-1000)

// Units with whole numbers x in groups k: partials are unit, k, rows, count of x, sum of x.
class ClampedAggregateTest : public ::testing::Test {
 protected:
  ClampedAggregateTest() {
    release_.table = "released_1";
    release_.people = "patients";
    release_.values = {{sql::Grid{},
                        {sql::TypeKind::Integer},
                        -1'000'000,
                        1'000'000,
                        sql::BoundsOrigin::Declared,
                        "x"}};
    release_.features = {{sql::Feature::Kind::Rows, "f1", std::nullopt, std::nullopt},
                         {sql::Feature::Kind::Count, "f2", 0, std::nullopt},
                         {sql::Feature::Kind::Sum, "f3", 0, std::nullopt}};
    release_.options = sql::PrivacyOptions{};
  }

  void public_keys(std::vector<std::int64_t> keys) {
    sql::ListedKey listed;
    for (const std::int64_t key : keys) listed.values.emplace_back(key);
    release_.keys = {{"k1", "k", {sql::TypeKind::Integer}, listed, false}};
  }
  void partials(const std::string& values) {
    release_.partials_sql =
        "SELECT u::BIGINT, k::BIGINT, a::BIGINT, b::BIGINT, c::BIGINT FROM (VALUES " + values +
        ") t(u, k, a, b, c)";
  }
  // Source rows: unit, k, x.
  void rows(const std::string& values) {
    release_.rows_sql =
        "SELECT u::BIGINT, k::BIGINT, x::BIGINT FROM (VALUES " + values + ") t(u, k, x)";
    release_.partials_sql = "SELECT u, k, count(*), count(x), coalesce(sum(x), 0) FROM (" +
                            release_.rows_sql + ") t(u, k, x) GROUP BY u, k";
  }
  void ask(sql::AggregateKind kind, double lower, double upper) {
    release_.aggregates.push_back({"a" + std::to_string(release_.aggregates.size() + 1),
                                   "asked",
                                   std::move(kind),
                                   {sql::TypeKind::Double},
                                   sql::AskedBounds{false, lower, upper},
                                   std::nullopt});
  }
  Result<ReleaseJob> job(double epsilon) const {
    return ReleaseJob::make(release_, {Epsilon::make(epsilon).value(), Delta::zero()});
  }
  ReleasedTable run(double epsilon) { return job(epsilon).value().run(engine_, random_).value(); }
  static double number(const Cell& cell) { return std::get<double>(cell); }

  sql::Release release_;
  DuckDb engine_ = DuckDb::open({}).value();
  SeededRandom random_{20};
};

TEST_F(ClampedAggregateTest, HugeEpsilonGivesTheSumsOfClampedPartials) {
  public_keys({1, 2, 3});
  // Sums 5, 300 and -40 in group 1, 50 in group 2; unit 4 has only NULLs, and takes no part in SUM.
  partials(
      "(1, 1, 2, 2, 5), (2, 1, 9, 8, 300), (3, 1, 1, 1, -40), (4, 1, 3, 0, 0), "
      "(5, 2, 1, 1, 50)");
  ask(sql::SumRelease{1, 2}, -10, 100);
  ask(sql::SumRelease{1, 2}, 7.5, 60);
  ask(sql::CountRelease{0}, 0, 3);
  ask(sql::CountRelease{1}, 1, 4);
  ask(sql::CountUnitsRelease{}, 0, 5);
  const ReleasedTable out = run(kHuge);
  const std::vector<std::vector<double>> expected = {{5 + 100 - 10, 50, 0},
                                                     {8 + 60 + 8, 50, 0},
                                                     {2 + 3 + 1 + 3, 1, 0},
                                                     {2 + 4 + 1 + 1, 1, 0},
                                                     {4, 1, 0}};
  for (std::size_t a = 0; a < expected.size(); ++a)
    for (std::size_t g = 0; g < 3; ++g)
      EXPECT_EQ(number(out.aggregates[a].values[g]), expected[a][g]) << a << " in " << g;
}

TEST_F(ClampedAggregateTest, AnAverageIsTheMeanOfUnitsClampedMeans) {
  public_keys({1});
  // Means 2.5, 40 (clamped to 10), -3 (clamped to 0); a unit with NULLs only is not counted.
  partials("(1, 1, 2, 2, 5), (2, 1, 9, 9, 360), (3, 1, 1, 1, -3), (4, 1, 1, 0, 0)");
  ask(sql::AvgRelease{1, 2}, 0, 10);
  EXPECT_NEAR(number(run(kHuge).aggregates[0].values[0]), (2.5 + 10 + 0) / 3, 1e-5);
}

TEST_F(ClampedAggregateTest, WithoutALimitInTheStatementAUnitCountsInOneGroup) {
  public_keys({1, 2, 3, 4});
  partials("(1, 1, 1, 1, 1), (1, 2, 1, 1, 1), (1, 3, 1, 1, 1), (1, 4, 1, 1, 1)");
  ask(sql::CountRelease{0}, 0, 1);
  const auto total = [&] {
    double sum = 0;
    const ReleasedTable out = run(kHuge);
    for (const Cell& cell : out.aggregates[0].values) sum += number(cell);
    return sum;
  };
  EXPECT_EQ(total(), 1);
  EXPECT_EQ(run(kHuge).notices.size(), 1u);
  release_.options->max_groups_contributed = 3;
  EXPECT_EQ(total(), 3);
  EXPECT_TRUE(run(kHuge).notices.empty());
}

TEST_F(ClampedAggregateTest, AUnitKeepsTheRowsThatTheStatementAllows) {
  public_keys({1, 2, 3});
  rows("(1, 1, 100), (1, 1, 100), (1, 2, 100), (1, 9, 100), (2, 3, 7), (2, 3, NULL)");
  ask(sql::SumRelease{1, 2}, 0, 1000);
  ask(sql::CountRelease{0}, 0, 1000);
  release_.aggregates.push_back({"a3", "count(*)", sql::CountRelease{0}, {}, {}, {}});
  release_.options->max_rows_contributed = 2;
  int together = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const ReleasedTable out = run(kHuge);
    const auto of = [&](std::size_t a, std::size_t g) {
      return number(out.aggregates[a].values[g]);
    };
    // Unit 1 has three rows within the domain, two of them stay; unit 2 keeps both of its own.
    ASSERT_EQ(of(0, 0) + of(0, 1), 200);
    ASSERT_EQ(of(1, 0) + of(1, 1), 2);
    ASSERT_EQ(of(2, 0) + of(2, 1), 2);
    ASSERT_EQ(of(0, 2), 7);
    ASSERT_EQ(of(1, 2), 2);
    together += of(1, 0) == 2 ? 1 : 0;
  }
  // Both rows of group 1 stay in one of three samples. Binomial(200, 1/3) leaves [34, 100] with
  // chance below 1e-6.
  std::cout << together << " of 200 samples keep both rows of group 1\n";
  EXPECT_GE(together, 34);
  EXPECT_LE(together, 100);
}

TEST_F(ClampedAggregateTest, BoundsAreRoundedInwardsOnTheGrid) {
  release_.values[0].grid = {sql::Grid::Base::Ten, 2};
  public_keys({1});
  partials("(1, 1, 1, 1, 100000), (2, 1, 1, 1, -100000)");
  ask(sql::SumRelease{1, 2}, -0.07, 0.999);  // -7 exactly, 99.9 becomes 99
  ask(sql::SumRelease{1, 2}, -0.289, 0.29);  // -28.9 becomes -28, 29 exactly
  const ReleasedTable out = run(kHuge);
  EXPECT_NEAR(number(out.aggregates[0].values[0]), 0.99 - 0.07, 1e-12);
  EXPECT_NEAR(number(out.aggregates[1].values[0]), 0.29 - 0.28, 1e-12);
}

TEST_F(ClampedAggregateTest, TheWholeShareGoesToNoiseForTheKnownSensitivity) {
  public_keys({1});
  partials("(1, 1, 1, 1, 5)");
  release_.options->max_groups_contributed = 3;
  release_.keys[0].domain = sql::RangeKey{1, 20'000};
  ask(sql::SumRelease{1, 2}, -20, 10);
  const double scale = 3 * 20 / 0.5;
  const ReleasedTable out = run(0.5);
  double mean_size = 0;
  for (const Cell& cell : out.aggregates[0].values) mean_size += std::fabs(number(cell));
  mean_size /= 20'000;
  std::cout << "mean size of the noise " << mean_size << ", expected " << scale << "\n";
  // Laplace: |Z| has mean and deviation `scale`; 5 deviations of the mean of 20000, chance 6e-7.
  EXPECT_NEAR(mean_size, scale, 5 * scale / std::sqrt(20'000.0));
  EXPECT_NEAR(*out.aggregates[0].error95[0], std::log(20.0) * scale, 0.01 * scale);
}

TEST_F(ClampedAggregateTest, SharesOfSeveralAggregatesAddUpToTheEpsilon) {
  public_keys({1});
  partials("(1, 1, 1, 1, 5)");
  ask(sql::SumRelease{1, 2}, 0, 10);
  const double alone = *job(1).value().forecast()[0].error95;
  ask(sql::CountRelease{0}, 0, 1);
  release_.aggregates.push_back({"a3", "count(*)", sql::CountRelease{0}, {}, {}, {}});
  release_.aggregates.push_back({"a4", "sum(x)", sql::SumRelease{1, 2}, {}, {}, {}});
  EXPECT_NEAR(*job(1).value().forecast()[0].error95, 4 * alone, 0.01 * alone);
}

TEST_F(ClampedAggregateTest, WhatCannotBeAnsweredIsRefusedBeforeAnyCharge) {
  public_keys({1, 2});
  ask(sql::SumRelease{1, 2}, 0.2, 0.7);
  EXPECT_EQ(job(1).error().code, ErrorCode::InvalidParameter) << "no whole number within";
  release_.aggregates.clear();
  ask(sql::SumRelease{1, 2}, 0, 1e12);
  EXPECT_TRUE(job(1));
  EXPECT_EQ(job(1e-9).error().code, ErrorCode::InvalidParameter) << "the noise would not fit";
  release_.aggregates.clear();
  ask(sql::VarianceRelease{1, 2, 2, false, false}, 0, 10);
  EXPECT_EQ(job(1).error().code, ErrorCode::Refused);
  release_.aggregates.clear();
  ask(sql::ExtremeRelease{0, true}, 0, 10);
  EXPECT_EQ(job(1).error().code, ErrorCode::Refused);
  release_.aggregates.clear();
  ask(sql::CountRelease{0}, 0, 10);
  EXPECT_TRUE(job(1));
  release_.options.reset();
  EXPECT_EQ(job(1).error().code, ErrorCode::Refused) << "no limit on groups in a plain statement";
  release_.keys.clear();
  EXPECT_TRUE(job(1)) << "without keys there is one group";
}

}  // namespace
}  // namespace discreet
