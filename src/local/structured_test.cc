// Strings that nobody listed, several attributes, and the four models of trust.
#include <gtest/gtest.h>

#include <iostream>

#include "local/attributes.h"
#include "local/crowd.h"
#include "local/heavy_hitters.h"
#include "local/trust_models.h"
#include "support/seeded_random.h"

namespace discreet::local {
namespace {

TEST(HeavyHitters, FindsTheFrequentStringsAndInventsNone) {
  const auto hitters = HeavyHitters::make({.epsilon = 4, .bytes_max = 6, .name = "words"}).value();
  const std::vector<std::pair<std::string, int>> people = {
      {"coffee", 9000}, {"tea", 6000}, {"m\xc3\xa1te", 4000}, {"coffin", 3500}};
  SeededRandom random(11);
  std::vector<std::uint8_t> reports, report(HeavyHitters::kReportBytes);
  const auto send = [&](const std::string& text) {
    hitters.randomize(text, random, report);
    ASSERT_TRUE(hitters.valid(report));
    reports.insert(reports.end(), report.begin(), report.end());
  };
  for (const auto& [text, count] : people)
    for (int i = 0; i < count; ++i) send(text);
  for (int i = 0; i < 7500; ++i) send("x" + std::to_string(random.bits64() % 100000));  // rare ones
  const auto found = hitters.find(reports, 10).value();
  for (const auto& hitter : found)
    std::cout << hitter.text << ": " << hitter.estimate << " +- " << hitter.standard_error << "\n";
  ASSERT_EQ(found.size(), people.size());
  for (const auto& [text, count] : people) {
    bool seen = false;
    for (const auto& hitter : found) {
      if (hitter.text != text) continue;
      seen = true;
      EXPECT_LT(std::abs(hitter.estimate - count), 6 * hitter.standard_error) << text;
    }
    EXPECT_TRUE(seen) << text;
  }
  const auto again = HeavyHitters::from_header(hitters.header());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->header(), hitters.header());
  EXPECT_TRUE(HeavyHitters::is_header(hitters.header()));
  EXPECT_FALSE(HeavyHitters::make({.epsilon = 0, .name = "none"}));
  EXPECT_FALSE(HeavyHitters::make({.epsilon = 1, .bytes_max = 0, .name = "none"}));
}

TEST(Attributes, BothStrategiesEstimateEveryAttributeAndSamplingIsBetter) {
  const std::vector<std::uint64_t> values = {2, 5, 16};
  SeededRandom random(12);
  double errors[2] = {};
  for (const auto strategy :
       {AttributeReports::Strategy::Sample, AttributeReports::Strategy::Split}) {
    const auto reports = AttributeReports::choose(strategy, 1, values).value();
    auto tallies = reports.empty_tallies();
    std::vector<std::uint8_t> report(reports.report_bytes());
    constexpr int kPeople = 60'000;
    for (int i = 0; i < kPeople; ++i) {
      const auto u = static_cast<std::uint64_t>(i);
      const std::vector<std::uint64_t> inputs = {u % 4 == 0 ? 1U : 0U, u % 5,
                                                 u % 10 < 5 ? 3U : u % 16};
      reports.randomize(inputs, random, report);
      ASSERT_TRUE(reports.valid(report));
      reports.add(report, tallies);
    }
    const auto first = reports.estimate(0, tallies).value();
    EXPECT_LT(std::abs(first[1].estimate - kPeople / 4), 6 * first[1].standard_error);
    const auto second = reports.estimate(1, tallies).value();
    for (const auto& e : second)
      EXPECT_LT(std::abs(e.estimate - kPeople / 5), 6 * e.standard_error);
    errors[static_cast<int>(strategy)] = second[0].standard_error;
  }
  std::cout << "standard error: sample " << errors[0] << ", split " << errors[1] << "\n";
  EXPECT_LT(errors[0], errors[1]);
  EXPECT_FALSE(AttributeReports::choose(AttributeReports::Strategy::Split, 1, {}));
}

TEST(TrustModels, ErrorsFallAsTrustGrowsAndMatchTheirPredictions) {
  SeededRandom random(13);
  const auto truth = zipf_counts(20'000, 10, 1);
  const auto rows =
      compare_trust_models(truth, {.epsilon = 1, .delta = 1e-6, .repetitions = 20}, random).value();
  ASSERT_EQ(rows.size(), 4U);
  for (const auto& row : rows) {
    std::cout << row.model << ": predicted " << row.predicted << ", measured " << row.measured
              << "\n";
    // 200 squared errors: their mean is within 60 % with a false alarm far below 1e-6.
    EXPECT_NEAR(row.measured / row.predicted, 1, 0.6) << row.model;
  }
  EXPECT_GT(rows[0].measured, rows[1].measured);
  EXPECT_GT(rows[1].measured, rows[2].measured);
  EXPECT_GT(rows[2].measured, rows[3].measured);
  EXPECT_GT(rows[1].local_epsilon, 1.5) << "shuffling allows reports that say more";
}

}  // namespace
}  // namespace discreet::local
