// Strings that nobody listed, several attributes, and the four models of trust.
#include <gtest/gtest.h>

#include <iostream>

#include "local/attributes.h"
#include "local/crowd.h"
#include "local/estimates.h"
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

Spec drinks_and_ages(std::string_view strategy) {
  const std::vector<AttributeQuestion> asked = {{"drink", 0, {"tea", "coffee", "water"}},
                                                {"age", 9, {}}};
  return record_spec(strategy, 2, asked).value();
}

TEST(Records, TravelLikeAnyOtherReport) {
  for (const char* strategy : {"sample", "split", "auto"}) {
    const Spec spec = drinks_and_ages(strategy);
    const std::string header = header_line(spec);
    EXPECT_EQ(parse_header(header).value(), spec) << header;
    EXPECT_EQ(input_of(spec, "tea,0").value(), 0U);
    EXPECT_EQ(input_of(spec, "water,8").value(), 2U + 3 * 8);
    EXPECT_EQ(value_text(spec, 2), "drink=water");
    EXPECT_EQ(value_text(spec, 3), "age=0");
    EXPECT_EQ(row_of(spec, "age=8").value(), 11U);
    for (const char* wrong : {"tea", "tea,9", "milk,1", "tea,1,2", ""})
      EXPECT_FALSE(input_of(spec, wrong)) << wrong;
    EXPECT_FALSE(row_of(spec, "age"));
    EXPECT_FALSE(row_of(spec, "size=1"));
    std::string more = header;  // an attribute that takes more than its share
    more.replace(more.rfind("\"epsilon\":"), 10, "\"epsilon\":1");
    EXPECT_FALSE(parse_header(more)) << more;
  }
  EXPECT_EQ(drinks_and_ages("auto").kind, OracleKind::Sample);
  const std::vector<AttributeQuestion> many(63, {"a", 2, {}});
  EXPECT_FALSE(record_spec("sample", 1, many)) << "names repeat, and 2^63 combinations";
  EXPECT_FALSE(record_spec("olh", 1, std::span(many).first(1)));
}

// Errors of every row against their stated size: 12 rows, six standard errors each.
TEST(Records, EveryRowIsEstimatedWithItsStatedError) {
  SeededRandom random(14);
  for (const char* strategy : {"sample", "split"}) {
    const auto oracle = Oracle::make(drinks_and_ages(strategy)).value();
    const auto truth = zipf_record_counts(30'000, oracle->spec(), 1);
    const Tally tally = collect_records_from_crowd(*oracle, truth, random);
    EXPECT_EQ(tally.reports, 30'000U);
    double squares = 0;
    const auto rows = estimate_rows(*oracle, tally, {}).value();
    ASSERT_EQ(rows.size(), truth.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double miss =
          (rows[i].estimate - static_cast<double>(truth[i])) / rows[i].standard_error;
      squares += miss * miss;
      EXPECT_LT(std::abs(miss), 6) << rows[i].value;
    }
    std::cout << strategy << ": mean square of errors over standard errors "
              << squares / static_cast<double>(rows.size()) << "\n";
    // Post-processing knows that each attribute adds up to everyone.
    const auto tidy = estimate_rows(*oracle, tally, {.post = "norm-sub"}).value();
    double drinks = 0, ages = 0;
    for (std::size_t i = 0; i < tidy.size(); ++i) (i < 3 ? drinks : ages) += tidy[i].estimate;
    EXPECT_NEAR(drinks, 30'000, 1e-6);
    EXPECT_NEAR(ages, 30'000, 1e-6);
    const auto one = estimate_rows(*oracle, tally, {.candidates = {"age=2"}}).value();
    EXPECT_EQ(one[0].estimate, rows[5].estimate);
  }
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
