// Releases made from what units add to all groups together, beside those made from all groups of
// all units: the same to the last digit for sums of one sign, and not for others.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "curator/clipped_sums.h"
#include "curator/curator.h"
#include "curator/data.h"
#include "sql/planner.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

namespace fs = std::filesystem;

// Most people have a few visits, some hundreds; `gain` is of both signs and adds up to nothing for
// everybody.
constexpr char kRows[] =
    "SELECT CASE WHEN h % 31 = 0 THEN NULL WHEN h % 10 = 0 THEN h % 5 ELSE (h // 64) % 4001 "
    "END::BIGINT AS person, ((h // 7) % 60)::INTEGER AS place, ['red', 'blue', 'green', "
    "'grey'][1 + ((h // 11) % 4)::INTEGER] AS colour, CASE WHEN h % 17 = 0 THEN NULL ELSE (h // 3) "
    "% 1100 "
    "END::INTEGER AS cost, (h // 5 % 2)::INTEGER * 1800 - 900 AS gain FROM (SELECT hash(i) AS h "
    "FROM range(60000) t(i))";
constexpr char kPolicy[] = R"(
[tables.visits]
source = "visits.parquet"
unit = "person"
[tables.visits.columns]
place = { range = [0, 49] }
colour = { values = ["red", "green", "blue"] }
cost = { range = [0, 1000] }
gain = { range = [-1000, 1000] }
[budgets.default]
epsilon = "unlimited"
)";

class UnitTotalsSuite : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string text = (fs::temp_directory_path() / "discreet-totals-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
    auto plain = DuckDb::open({}).value();
    ASSERT_TRUE(plain.execute(fmt::format("COPY ({}) TO {} (ROW_GROUP_SIZE 10000)", kRows,
                                          sql_literal((folder_ / "visits.parquet").string()))));
    std::ofstream(folder_ / "policy.toml") << kPolicy;
    policy_ = std::make_unique<catalog::Policy>(
        catalog::Policy::load((folder_ / "policy.toml").string()).value());
    data_ = std::make_unique<Data>(Data::open(*policy_, [](std::string_view) {}).value());
    // Files just written are not trusted yet.
    for (int tries = 0; tries < 100 && data_->engine().files_state({"visits"}).empty(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  static void TearDownTestSuite() {
    data_.reset();
    policy_.reset();
    fs::remove_all(folder_);
  }

  struct Loaded {
    sql::PlannedQuestion question;
    Groups groups;
    Contributions all, totals;
    const sql::Release& release() const { return question.releases.front(); }
  };
  static Loaded load(const std::string& statement) {
    auto question = sql::Planner(*policy_, *data_).plan(statement).value();
    const sql::Release& release = question.releases.front();
    auto groups = Groups::make(release, data_->engine()).value();
    SeededRandom unused(1);
    // Owners are read when they are asked for the second time.
    static_cast<void>(Contributions::load(release, groups, data_->engine(), unused));
    auto all = Contributions::load(release, groups, data_->engine(), unused).value();
    auto totals =
        Contributions::load(release, groups, data_->engine(), unused, std::nullopt, true).value();
    return {std::move(question), std::move(groups), std::move(all), std::move(totals)};
  }
  /// How often the two releases differ, of how many.
  static std::pair<int, int> compare(const Loaded& loaded, const Sum& sum) {
    int differ = 0, tried = 0;
    for (const double epsilon : {0.01, 0.2, 1.0, 20.0})
      for (const std::uint64_t size_max : {0, 1, 5})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
          ClipOptions options;
          if (size_max > 0) options.size_max = size_max;
          const auto clipped =
              ClippedSums::make(Epsilon::make(epsilon).value(), {sum}, options).value();
          SeededRandom one(seed), other(seed);
          const auto expected = clipped.release(loaded.all, loaded.groups.size(), one);
          const auto found = clipped.release(loaded.totals, loaded.groups.size(), other);
          ++tried;
          differ += found.cells != expected.cells || found.bound != expected.bound ? 1 : 0;
        }
    return {differ, tried};
  }

  static inline fs::path folder_;
  static inline std::unique_ptr<catalog::Policy> policy_;
  static inline std::unique_ptr<Data> data_;
};

TEST_F(UnitTotalsSuite, SumsOfOneSignAreReleasedAlike) {
  for (const char* statement : {
           "SELECT place, sum(cost) FROM visits GROUP BY place",
           "SELECT place, count(*) FROM visits GROUP BY place",
           "SELECT place, count(cost) FROM visits GROUP BY place",
           "SELECT colour, sum(cost) FROM visits GROUP BY colour",
           "SELECT colour, place, sum(cost) FROM visits GROUP BY colour, place",
           "SELECT place, sum(cost) FROM visits WHERE gain > 0 GROUP BY place",
           "SELECT place % 7 AS p, sum(-cost) FROM visits GROUP BY place % 7",
           "SELECT place, sum(cost) FROM visits WHERE cost < 0 GROUP BY place",
       }) {
    const Loaded loaded = load(statement);
    ASSERT_NE(loaded.totals.totals(), nullptr) << statement;
    EXPECT_EQ(loaded.all.totals(), nullptr);
    const SumPlan plan = plan_sums(loaded.release());
    ASSERT_EQ(plan.sums.size(), 1u) << statement;
    ASSERT_TRUE(is_of_one_sign(loaded.release(), plan.sums.front())) << statement;
    const auto [differ, tried] = compare(loaded, plan.sums.front());
    std::printf("%d of %d releases differ: %s\n", differ, tried, statement);
    EXPECT_EQ(differ, 0) << statement;
  }
}

// The broken twin: a unit's gains and losses cancel in its total, which would let it add any
// amount.
TEST_F(UnitTotalsSuite, TotalsOfBothSignsWouldMislead) {
  const Loaded loaded = load("SELECT place, sum(gain) FROM visits GROUP BY place");
  ASSERT_NE(loaded.totals.totals(), nullptr);
  const SumPlan plan = plan_sums(loaded.release());
  ASSERT_EQ(plan.sums.size(), 1u);
  EXPECT_FALSE(is_of_one_sign(loaded.release(), plan.sums.front()));
  const auto [differ, tried] = compare(loaded, plan.sums.front());
  std::printf("%d of %d releases differ\n", differ, tried);
  EXPECT_GT(differ, tried / 2);
}

// Numbers of 64 bits go a shorter way than those of 128, which the engine's own sums have.
TEST_F(UnitTotalsSuite, NarrowAndWideNumbersAreReleasedAlike) {
  int tried = 0;
  for (const char* statement : {
           "SELECT colour, count(*), avg(cost) FROM visits GROUP BY colour",
           "SELECT place, count(*), sum(cost), avg(gain) FROM visits GROUP BY place",
           "SELECT place, sum(gain) FROM visits GROUP BY place",
           "SELECT colour, place, count(*), count(cost) FROM visits GROUP BY colour, place",
           "SELECT place, count(*), sum(cost), sum(gain), count(gain) FROM visits GROUP BY place",
           "SELECT count(*), sum(cost), avg(gain) FROM visits",
           "SELECT sum(gain) FROM visits",
       }) {
    const Loaded loaded = load(statement);
    auto groups = Groups::make(loaded.release(), data_->engine()).value();
    const auto wide =
        Contributions::load_partials(loaded.release(), groups, data_->engine()).value();
    EXPECT_NE(loaded.all.partials().numbers.narrow(), nullptr) << statement;
    EXPECT_EQ(wide.partials().numbers.narrow(), nullptr) << statement;
    // As the plan has them, and moved to a middle.
    auto sums = plan_sums(loaded.release()).sums;
    if (sums.size() > 1 && sums[1].terms.size() == 1) sums[1].terms.push_back({0, -487});
    for (const double epsilon : {0.01, 1.0, 20.0})
      for (const bool one_group : {false, true})
        for (const std::uint64_t size_max : {0, 1, 5})
          for (std::uint64_t seed = 0; seed < 3; ++seed) {
            ClipOptions options;
            options.one_group = one_group;
            if (size_max > 0) options.size_max = size_max;
            const auto clipped =
                ClippedSums::make(Epsilon::make(epsilon).value(), sums, options).value();
            SeededRandom one(seed), other(seed);
            const auto expected = clipped.release(wide, groups.size(), one);
            const auto found = clipped.release(loaded.all, loaded.groups.size(), other);
            EXPECT_TRUE(found.cells == expected.cells) << statement << " at " << epsilon;
            EXPECT_EQ(found.bound, expected.bound) << statement;
            ++tried;
          }
    // Of so many groups not every thread has cells, and none are added up while sizes are measured.
    const auto clipped = ClippedSums::make(Epsilon::make(1).value(), sums, {}).value();
    SeededRandom one(0), other(0);
    constexpr std::size_t kManyGroups = (std::size_t{1} << 20) + 1;
    EXPECT_TRUE(clipped.release(loaded.all, kManyGroups, other).cells ==
                clipped.release(wide, kManyGroups, one).cells)
        << statement;
    ++tried;
  }
  std::printf("%d releases\n", tried);
}

TEST_F(UnitTotalsSuite, WhatNeedsEveryGroupIsNotOfOneSign) {
  for (const char* statement : {"SELECT place, count(DISTINCT person) FROM visits GROUP BY place",
                                "SELECT place, avg(cost) FROM visits GROUP BY place",
                                "SELECT place, stddev(cost) FROM visits GROUP BY place"}) {
    const auto question = sql::Planner(*policy_, *data_).plan(statement).value();
    const sql::Release& release = question.releases.front();
    const SumPlan plan = plan_sums(release);
    EXPECT_FALSE(std::all_of(plan.sums.begin(), plan.sums.end(), [&](const Sum& sum) {
      return is_of_one_sign(release, sum);
    })) << statement;
  }
}

}  // namespace
}  // namespace discreet
