#include <gtest/gtest.h>

#include <numeric>

#include "anonymity/lattice.h"
#include "anonymity/metrics.h"
#include "anonymity/mondrian.h"
#include "support/seeded_random.h"

namespace discreet::anonymity {
namespace {

Table people(std::size_t rows, std::uint64_t seed) {
  SeededRandom random(seed);
  const auto below = [&](std::uint64_t n) {
    return static_cast<std::int64_t>(random.bits64() % n);
  };
  Table table;
  table.quasi = {{"zip", {}}, {"age", {}}, {"sex", {}, {"female", "male"}}};
  table.sensitive = {"diagnosis", {}, {"flu", "HIV", "asthma", "cancer"}};
  for (std::size_t i = 0; i < rows; ++i) {
    table.quasi[0].codes.push_back(10'000 + below(40));
    table.quasi[1].codes.push_back(below(90));
    table.quasi[2].codes.push_back(below(2));
    table.sensitive.codes.push_back(below(4));
  }
  return table;
}

void expect_partition(const Table& table, const Release& release) {
  std::vector<int> seen(table.rows());
  for (const Class& part : release.classes)
    for (const std::size_t row : part.rows) {
      ++seen[row];
      for (std::size_t c = 0; c < table.quasi.size(); ++c) {
        EXPECT_LE(part.ranges[c].lower, table.quasi[c].codes[row]);
        EXPECT_GE(part.ranges[c].upper, table.quasi[c].codes[row]);
      }
    }
  for (const std::size_t row : release.suppressed) ++seen[row];
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

TEST(MondrianTest, EveryRowIsInOneClassThatMeetsTheRequirements) {
  const Table table = people(3000, 1);
  for (const Requirements& requirements :
       {Requirements{5, 1, 1}, Requirements{5, 3, 1}, Requirements{10, 2, 0.3}}) {
    const Release release = mondrian(table, requirements).value();
    expect_partition(table, release);
    const Metrics found = measure(table, release);
    EXPECT_GE(found.k, requirements.k);
    EXPECT_GE(found.l, requirements.l);
    EXPECT_LE(found.t, requirements.t);
    EXPECT_GT(release.classes.size(), 20U);
  }
}

TEST(MondrianTest, ATableThatIsTooSmallIsRefused) {
  EXPECT_EQ(mondrian(people(4, 1), {5}).error().code, ErrorCode::Refused);
}

TEST(LatticeTest, TheBestCombinationOfLevelsIsFound) {
  const Table table = people(2000, 2);
  std::vector<Hierarchy> hierarchies;
  for (const Column& column : table.quasi) hierarchies.push_back(default_hierarchy(column));
  const Requirements requirements{5, 1, 1};
  const LatticeResult found = generalise(table, hierarchies, requirements, 0.02).value();
  expect_partition(table, found.release);
  const Metrics metrics = measure(table, found.release);
  EXPECT_GE(metrics.k, 5U);
  EXPECT_LE(metrics.suppressed, 0.02);
  // Against every combination, one after the other.
  double least = 2;
  const auto& h = hierarchies;
  std::vector<Hierarchy> one(3);
  for (const auto a : h[0].widths)
    for (const auto b : h[1].widths)
      for (const auto c : h[2].widths) {
        one = {{{a}}, {{b}}, {{c}}};
        const auto single = generalise(table, one, requirements, 0.02);
        if (single) least = std::min(least, measure(table, single->release).information_loss);
      }
  EXPECT_DOUBLE_EQ(metrics.information_loss, least);
}

TEST(MetricsTest, TheTwoByTwoExampleComesOutByHand) {
  Table table;
  table.quasi = {{"age", {30, 30, 40, 41}}};
  table.sensitive = {"diagnosis", {0, 0, 0, 1}, {"flu", "HIV"}};
  const Metrics found = measure(table, as_published(table));
  EXPECT_EQ(found.k, 1U);
  EXPECT_EQ(found.l, 1U);
  EXPECT_DOUBLE_EQ(found.alone, 0.5);
  EXPECT_DOUBLE_EQ(found.homogeneous, 1);
  EXPECT_DOUBLE_EQ(found.t, 0.75);
  EXPECT_DOUBLE_EQ(found.information_loss, 0);
  EXPECT_DOUBLE_EQ(found.prosecutor_mean, 0.75);
}

TEST(MetricsTest, PeopleAreTheMoreAloneTheMoreIsKnown) {
  const auto points = curse_of_dimensionality(people(1000, 3));
  ASSERT_EQ(points.size(), 3U);
  EXPECT_LT(points[0].alone, 0.01);
  EXPECT_GT(points[2].alone, points[0].alone);
  EXPECT_EQ(points[2].k, 1U);
}

TEST(DescribeTest, RangesReadAsPeopleWriteThem) {
  const Column age{"age", {20, 90}}, sex{"sex", {0, 1, 2}, {"a", "b", "c"}};
  const Column born{"born", {0, 10'000}, {}, true};
  EXPECT_EQ(describe(age, {30, 39}), "30-39");
  EXPECT_EQ(describe(age, {30, 30}), "30");
  EXPECT_EQ(describe(age, {20, 90}), "*");
  EXPECT_EQ(describe(sex, {0, 1}), "{a, b}");
  EXPECT_EQ(describe(born, {0, 30}), "1970-01-01..1970-01-31");
}

}  // namespace
}  // namespace discreet::anonymity
