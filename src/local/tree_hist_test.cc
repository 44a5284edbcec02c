// TreeHist: the strings' walk with one sign of a Hadamard sketch a report.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>

#include "local/heavy_hitters.h"
#include "support/seeded_random.h"

namespace discreet::local {
namespace {

HeavyHitters tree(HitterSpec spec) {
  spec.kind = HitterKind::Sketch;
  return HeavyHitters::make(spec).value();
}

TEST(TreeHist, FindsTheFrequentStringsAndInventsNone) {
  for (const std::uint32_t piece_bits : {4U, 1U}) {
    const auto hitters =
        tree({.epsilon = 4, .bytes_max = 4, .piece_bits = piece_bits, .name = "words"});
    const std::map<std::string, int> people = {{"tea", 12000}, {"mate", 9000}, {"milk", 7000}};
    SeededRandom random(41);
    std::vector<std::uint8_t> reports, report(hitters.report_bytes());
    const auto send = [&](const std::string& text) {
      hitters.randomize(text, random, report);
      ASSERT_TRUE(hitters.valid(report));
      reports.insert(reports.end(), report.begin(), report.end());
    };
    for (const auto& [text, count] : people)
      for (int i = 0; i < count; ++i) send(text);
    for (int i = 0; i < 7000; ++i) send("x" + std::to_string(random.bits64() % 1000));
    const auto found = hitters.find(reports, 10).value();
    ASSERT_EQ(found.size(), people.size()) << piece_bits << " bits a piece";
    for (const auto& hitter : found) {
      std::cout << hitter.text << ": " << hitter.estimate << " +- " << hitter.standard_error
                << "\n";
      ASSERT_TRUE(people.contains(hitter.text)) << hitter.text;
      EXPECT_LT(std::abs(hitter.estimate - people.at(hitter.text)), 6 * hitter.standard_error);
    }
    const auto again = HeavyHitters::from_header(hitters.header());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->header(), hitters.header());
    EXPECT_TRUE(HeavyHitters::is_header(hitters.header()));
    report[0] = 255;
    EXPECT_FALSE(hitters.valid(report));
  }
}

/// Every report there is, of a small collection.
std::vector<std::vector<std::uint8_t>> all_reports(const HeavyHitters& hitters) {
  std::vector<std::vector<std::uint8_t>> out;
  const std::size_t size = hitters.report_bytes();
  std::vector<std::uint8_t> report(size);
  for (std::uint32_t code = 0; code < 1U << 16; ++code) {  // group below 4, fields below 16
    report[0] = static_cast<std::uint8_t>(code & 0xf);
    for (std::size_t i = 1; i < size; ++i)
      report[i] = static_cast<std::uint8_t>(code >> (4 * i) & 0xf);
    if (size < 4 && code >> (4 * size) != 0) break;
    if (hitters.valid(report)) out.push_back(report);
  }
  return out;
}

// Exact: chances add up to one and differ by at most e^epsilon between any two strings; and the
// bound is met, so that a client which kept the sign more often would be caught here.
TEST(TreeHist, AReportsExactChancesStayWithinEpsilon) {
  const auto hitters =
      tree({.epsilon = 1.5, .bytes_max = 1, .piece_bits = 2, .hashes = 2, .width = 4});
  const auto reports = all_reports(hitters);
  EXPECT_EQ(reports.size(), 4U * 2 * 8);
  double worst = 0;
  for (const char* a : {"a", "b", "z", "\xff"}) {
    Rational total = 0;
    for (const auto& report : reports) {
      const Rational chance = hitters.likelihood(report, a);
      total += chance;
      for (const char* b : {"a", "b", "z", "\xff"})
        worst =
            std::max(worst, static_cast<double>(Rational(chance / hitters.likelihood(report, b))));
    }
    EXPECT_EQ(total, 1);
  }
  std::cout << "worst ratio " << worst << ", e^epsilon " << std::exp(1.5) << "\n";
  EXPECT_LE(worst, std::exp(1.5));
  EXPECT_GT(worst, std::exp(1.5) * 0.999);
}

double chi_square(const HeavyHitters& sender, const HeavyHitters& claimed) {
  SeededRandom random(42);
  constexpr int kDraws = 100'000;
  std::map<std::vector<std::uint8_t>, int> seen;
  std::vector<std::uint8_t> report(sender.report_bytes());
  for (int i = 0; i < kDraws; ++i) {
    sender.randomize("tea", random, report);
    ++seen[report];
  }
  double sum = 0;
  for (const auto& each : all_reports(claimed)) {
    const double expected = kDraws * static_cast<double>(claimed.likelihood(each, "tea"));
    sum += (seen[each] - expected) * (seen[each] - expected) / expected;
  }
  return sum;
}

// 64 reports: a chi-square of 63 degrees passes 138 with a chance below 1e-7.
TEST(TreeHist, ReportsFollowTheirStatedLawAndAClientOfAnotherEpsilonIsCaught) {
  const HitterSpec spec{.epsilon = 1.5, .bytes_max = 1, .piece_bits = 2, .hashes = 2, .width = 4};
  HitterSpec louder = spec;
  louder.epsilon = 1.7;
  const double honest = chi_square(tree(spec), tree(spec));
  const double broken = chi_square(tree(louder), tree(spec));
  std::cout << "chi-square " << honest << ", of a client at epsilon 1.7 " << broken << "\n";
  EXPECT_LT(honest, 138);
  EXPECT_GT(broken, 138);
}

// The squared errors of 400 collections over their stated variances: a chi-square of 400 degrees is
// between 273 and 558 but for a chance below 1e-6. Fresh public hashes each time, since the
// variance is averaged over them.
TEST(TreeHist, ErrorsHaveTheStatedVariance) {
  SeededRandom random(43);
  constexpr int kRuns = 400, kHolders = 900, kOthers = 600;
  double squares = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto hitters = tree({.epsilon = 3,
                               .bytes_max = 1,
                               .hashes = 16,
                               .width = 64,
                               .hash_seed = static_cast<std::uint64_t>(run)});
    std::vector<std::uint8_t> reports, report(hitters.report_bytes());
    for (int i = 0; i < kHolders + kOthers; ++i) {
      hitters.randomize(i < kHolders ? "t" : "w", random, report);
      reports.insert(reports.end(), report.begin(), report.end());
    }
    const auto found = hitters.find(reports, 5).value();
    const auto it = std::ranges::find(found, "t", &Hitter::text);
    ASSERT_NE(it, found.end());
    const double miss = (it->estimate - kHolders) / it->standard_error;
    squares += miss * miss;
  }
  std::cout << "sum of squared errors over variances " << squares << " of " << kRuns << "\n";
  EXPECT_GT(squares, 273);
  EXPECT_LT(squares, 558);
}

}  // namespace
}  // namespace discreet::local
