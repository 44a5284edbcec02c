// What private centres buy: the error of an average over several rows a person, with and without.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "curator/centred_sums.h"
#include "statement_audit.h"

namespace discreet {
namespace {

constexpr char kManyRows[] = R"(
CREATE TABLE visits AS SELECT i // 5 AS person, 18 + i * 7 % 5 AS x FROM range(10000) t(i);
)";

class CentredSumsTest : public ::testing::Test {
 protected:
  CentredSumsTest() {
    auto policy = catalog::Policy::parse(
        "[tables.visits]\nsource = \"v.csv\"\nunit = \"person\"\n"
        "[tables.visits.columns]\nx = { range = [0, 100] }\n"
        "[budgets.default]\nepsilon = 1.0\ndelta = 1e-6\n",
        "policy.toml", {.sources_exist = false});
    schema_.add("visits", {{"person", "BIGINT"}, {"x", "BIGINT"}});
    release_ =
        sql::Planner(*policy, schema_).plan("SELECT avg(x) FROM visits").value().releases.front();
    groups_.emplace(Groups::make(release_, engine_).value());
    contributions_.emplace(Contributions::load_partials(release_, *groups_, engine_).value());
    const SumPlan plan = plan_sums(release_);
    const auto& average = std::get<sql::AvgRelease>(release_.aggregates.front().kind);
    sums_ = {plan.sums[plan.uses.front().count], plan.sums[*plan.uses.front().linear]};
    column_ = {1, 0, average.count, plan.uses.front().x.middle, 0, 100};
  }

  double mean_of(const NoisySums& noisy, std::int64_t centre) const {
    return static_cast<double>(centre) +
           static_cast<double>(noisy.cells[1][0]) / static_cast<double>(noisy.cells[0][0]);
  }

  sql::FixedSchema schema_;
  DuckDb engine_ = engine_with(kManyRows);
  sql::Release release_;
  std::optional<Groups> groups_;
  std::optional<Contributions> contributions_;
  std::vector<Sum> sums_;
  CentredColumn column_{};
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

// Medians, since one search for a bound in a hundred runs far past the largest unit. Of 80 runs
// each is known to 14 %, and their ratio is about a quarter: half of it is six deviations away.
TEST_F(CentredSumsTest, AnAverageFarFromTheMiddleOfItsRangeHasHalfTheError) {
  const Epsilon epsilon = Epsilon::make(1).value();
  const auto plain = ClippedSums::make(epsilon, sums_, {}).value();
  const auto centred = CentredSums::make(epsilon, sums_, {column_}, {}).value();
  SeededRandom random(20261120);
  std::vector<double> before, after, centres;
  for (int run = 0; run < 80; ++run) {
    before.push_back(
        std::abs(mean_of(plain.release(*contributions_, 1, random), column_.middle) - 20));
    const auto released = centred.release(*contributions_, 1, random);
    after.push_back(std::abs(mean_of(released.sums, released.centres[0]) - 20));
    centres.push_back(static_cast<double>(released.centres[0]));
  }
  std::cout << "around the middle " << median(before) << ", around the private mean "
            << median(after) << "; median centre " << median(centres) << "\n";
  EXPECT_LT(median(after), median(before) / 2);
  EXPECT_NEAR(median(centres), 20, 2);
}

// With few people the crude mean says nothing, and the middle stays.
TEST_F(CentredSumsTest, ACentreThatIsNoiseIsNotUsed) {
  const auto centred = CentredSums::make(Epsilon::make(0.01).value(), sums_, {column_}, {}).value();
  SeededRandom random(20261121);
  for (int run = 0; run < 20; ++run)
    EXPECT_EQ(centred.release(*contributions_, 1, random).centres[0], column_.middle);
}

}  // namespace
}  // namespace discreet
