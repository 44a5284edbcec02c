// The wire, the choice of an oracle, post-processing, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "local/choose.h"
#include "local/crowd.h"
#include "local/postprocess.h"
#include "local/wire.h"
#include "support/seeded_random.h"

namespace discreet::local {
namespace {

using ::testing::HasSubstr;
using enum OracleKind;

Spec spec_of(OracleKind kind, double epsilon, std::uint64_t values) {
  Spec spec;
  spec.kind = kind;
  spec.epsilon = epsilon;
  spec.values = is_mean(kind) ? 0 : values;
  return spec;
}

TEST(Wire, EveryOraclesReportsSurviveBothForms) {
  SeededRandom random(5);
  for (const auto kind : all_oracles()) {
    const auto oracle = Oracle::make(spec_of(kind, 1.25, 37)).value();
    std::vector<std::uint8_t> reports(oracle->report_bytes() * 50);
    std::string lines;
    for (std::size_t i = 0; i < 50; ++i) {
      const auto report =
          std::span(reports).subspan(i * oracle->report_bytes(), oracle->report_bytes());
      oracle->randomize(i % 37, random, report);
      lines += report_line(report) + "\n";
    }
    const auto spec = parse_header(header_line(oracle->spec()));
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(*spec, oracle->spec());
    ReadReports text, binary;
    read_lines(*oracle, lines, 2, text);
    EXPECT_EQ(text.reports, reports) << name(kind);
    EXPECT_EQ(text.refused, 0U);
    const std::string batch = binary_batch(oracle->spec(), reports);
    const auto parsed = parse_binary_batch(
        Bytes(reinterpret_cast<const std::uint8_t*>(batch.data()), batch.size()));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->spec, oracle->spec());
    read_records(*oracle, parsed->records, binary);
    EXPECT_EQ(binary.reports, reports);
  }
}

TEST(Wire, ABadReportIsRefusedAloneAndNamedByItsLine) {
  const auto oracle = Oracle::make(spec_of(RandomizedResponse, 1, 10)).value();
  ReadReports read;
  read_lines(*oracle, "\"03\"\n\"0a\"\nnot json\n\"zz\"\n\"0303\"\n\n\"09\"\n\"", 2, read);
  EXPECT_EQ(read.accepted, 2U);
  EXPECT_EQ(read.refused, 5U);
  EXPECT_EQ(read.reports, (std::vector<std::uint8_t>{3, 9}));
  EXPECT_EQ(read.refusals.front().place, 3U);
  EXPECT_THAT(read.refusals.front().why, HasSubstr("no client"));
}

TEST(Wire, AnOddEndOfABinaryBatchIsOneRefusedReport) {
  const auto oracle = Oracle::make(spec_of(OptimizedHash, 1, 10)).value();
  SeededRandom random(1);
  std::vector<std::uint8_t> report(12);
  oracle->randomize(2, random, report);
  report.resize(15);
  ReadReports read;
  read_records(*oracle, report, read);
  EXPECT_EQ(read.accepted, 1U);
  EXPECT_EQ(read.refused, 1U);
}

TEST(Header, SaysWhatIsWrong) {
  EXPECT_THAT(parse_header("hello").error().message, HasSubstr("discreet_local"));
  EXPECT_THAT(parse_header(R"({"discreet_local":2})").error().message, HasSubstr("newer"));
  EXPECT_THAT(parse_header(R"({"discreet_local":1,"oracle":"olh","epsilom":1})").error().message,
              HasSubstr("did you mean 'epsilon'"));
  EXPECT_THAT(
      parse_header(R"({"discreet_local":1,"oracle":"olx","epsilon":1,"values":4})").error().message,
      HasSubstr("no oracle 'olx'"));
  EXPECT_THAT(parse_header(R"({"discreet_local":1,"oracle":"olh","epsilon":"1","values":4})")
                  .error()
                  .message,
              HasSubstr("epsilon"));
  EXPECT_FALSE(parse_header(R"({"discreet_local":1,"oracle":"grr","epsilon":1,"values":-4})"));
  EXPECT_FALSE(parse_header(
      R"({"discreet_local":1,"oracle":"grr","epsilon":1,"values":4,"report_bytes":9})"));
}

TEST(Spec, RefusesWhatWouldHideNothingOrCarryNothing) {
  for (const double epsilon : {0.0, -1.0, 1e-9, 21.0, double(NAN), double(INFINITY)})
    EXPECT_FALSE(complete(spec_of(OptimizedUnary, epsilon, 4))) << epsilon;
  EXPECT_FALSE(complete(spec_of(OptimizedUnary, 1, 1)));
  auto rappor = spec_of(Rappor, 2, 10);
  rappor.permanent_epsilon = 1;
  EXPECT_THAT(complete(rappor).error().message, HasSubstr("permanent"));
  auto labels = spec_of(RandomizedResponse, 1, 0);
  labels.labels = {"a", "b", "a"};
  EXPECT_THAT(complete(labels).error().message, HasSubstr("same label"));
}

TEST(Choice, FewValuesTakeRandomizedResponseAndManyTakeHashing) {
  EXPECT_EQ(choose_oracle(1, 2)->kind, RandomizedResponse);
  EXPECT_EQ(choose_oracle(4, 16)->kind, RandomizedResponse);
  const auto many = choose_oracle(1, 1024).value();
  EXPECT_TRUE(many.kind == OptimizedHash || many.kind == Hadamard || many.kind == Subset);
  const auto table = compare_oracles(1, 1024).value();
  for (const auto& choice : table)
    if (choice.spec.kind == many.kind) {
      EXPECT_LE(choice.variance, table.front().variance * 1.02);
    }
  EXPECT_EQ(choose_oracle(0.3, 0)->kind, MeanDuchi);
  EXPECT_TRUE(is_mean(choose_oracle(4, 0)->kind));
}

TEST(Choice, TheEpsilonForAnErrorReachesIt) {
  const auto spec = spec_of(OptimizedHash, 0, 1024);
  const auto epsilon = epsilon_for_error(spec, {.error = 5000, .reports = 1'000'000}).value();
  auto at = spec;
  at.epsilon = epsilon;
  const auto variance = Oracle::make(at).value()->variance();
  EXPECT_NEAR(1.95996 * std::sqrt(std::max(variance.at(1e6, 0), variance.at(1e6, 5e5))), 5000, 20);
  EXPECT_EQ(epsilon_for_error(spec, {.error = 0.001, .reports = 1'000'000}).error().code,
            ErrorCode::Refused);
}

TEST(PostProcessing, EveryNamedWayKeepsItsPromise) {
  const std::vector<double> raw = {60, 45, -20, 5, 30, -4};
  const double total = 100;
  const auto sum = [](const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0);
  };
  for (const auto& how : post_process_names()) {
    const auto out = post_process(post_process_named(how).value(), raw, total, 25);
    ASSERT_EQ(out.size(), raw.size());
    if (how != "none" && how != "norm") {
      for (const double v : out) EXPECT_GE(v, 0) << how;
    }
    if (how.starts_with("norm") && how != "norm-cut") {
      EXPECT_NEAR(sum(out), total, 1e-9) << how;
    }
    if (how == "simplex") {
      EXPECT_NEAR(sum(out), total, 1e-9);
    }
    if (how == "norm-cut") {
      EXPECT_LE(sum(out), total);
    }
  }
  // Norm-sub ends at the projection (Wang et al. 2020, section 4).
  const auto sub = post_process(PostProcess::NormSub, raw, total);
  const auto projected = post_process(PostProcess::Simplex, raw, total);
  for (std::size_t i = 0; i < raw.size(); ++i) EXPECT_NEAR(sub[i], projected[i], 1e-9);
  EXPECT_THAT(post_process_named("simplx").error().message, HasSubstr("simplex"));
}

TEST(OpenText, CandidatesAreCountedAfterwards) {
  SeededRandom random(3);
  for (const auto kind : {CountMeanSketch, HadamardSketch, Rappor}) {
    auto spec = spec_of(kind, 6, 0);
    const auto oracle = Oracle::make(spec).value();
    auto tally = oracle->empty_tally();
    std::vector<std::uint8_t> report(oracle->report_bytes());
    const std::vector<std::pair<std::string, int>> people = {
        {"tea", 9000}, {"coffee", 6000}, {"mate", 1000}};
    for (const auto& [drink, count] : people)
      for (int i = 0; i < count; ++i) {
        oracle->randomize(input_of(oracle->spec(), drink).value(), random, report);
        oracle->add(report, tally);
      }
    EXPECT_FALSE(oracle->estimate(tally)) << "there is no list to estimate";
    std::vector<std::uint64_t> candidates;
    for (const auto* drink : {"tea", "coffee", "mate", "milk"})
      candidates.push_back(input_of(oracle->spec(), drink).value());
    const auto estimates = oracle->estimate(tally, candidates).value();
    const double truth[] = {9000, 6000, 1000, 0};
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_LT(std::abs(estimates[i].estimate - truth[i]), 6 * estimates[i].standard_error + 1)
          << name(kind) << " " << i;
  }
}

TEST(Tallies, CanBeMergedInAnyOrder) {
  SeededRandom random(8);
  for (const auto kind : all_oracles()) {
    const auto oracle = Oracle::make(spec_of(kind, 1, 12)).value();
    std::vector<std::uint8_t> reports(oracle->report_bytes() * 40);
    for (std::size_t i = 0; i < 40; ++i)
      oracle->randomize(
          i % 12, random,
          std::span(reports).subspan(i * oracle->report_bytes(), oracle->report_bytes()));
    auto whole = oracle->empty_tally(), left = whole, right = whole;
    oracle->add(reports, whole);
    const Bytes bytes(reports);
    oracle->add(bytes.first(15 * oracle->report_bytes()), right);
    oracle->add(bytes.subspan(15 * oracle->report_bytes()), left);
    left.merge(right);
    EXPECT_EQ(left, whole) << name(kind);
  }
}

}  // namespace
}  // namespace discreet::local
