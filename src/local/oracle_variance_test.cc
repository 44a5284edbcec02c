// Tries to refute the estimates: unbiased, with the variance of the formula, for every oracle.
//
// Each trial asks everyone once. The squared errors over the formula's variance, summed over
// trials, follow a chi-square law as far as sums of a thousand reports are normal; both tails are
// tested.
#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <iostream>

#include "local/confidence.h"
#include "local/crowd.h"
#include "local/oracle.h"
#include "support/seeded_random.h"

namespace discreet::local {
namespace {

using enum OracleKind;

constexpr int kTrials = 1200;
constexpr double kTail = 2.5e-8;  // each side, each of about 30 statistics: 1e-6 in all at most

void expect_chi_square(const std::string& what, double statistic, int trials) {
  const boost::math::chi_squared_distribution<> law(trials);
  const double low = quantile(law, kTail), high = quantile(complement(law, kTail));
  std::cout << what << ": sum of squared errors over variance " << statistic << " on " << trials
            << " trials, limits " << low << " to " << high << "\n";
  EXPECT_GT(statistic, low) << what;
  EXPECT_LT(statistic, high) << what;
}

void expect_unbiased(const std::string& what, double sum_of_z, int trials) {
  const double z = sum_of_z / std::sqrt(double(trials));
  std::cout << what << ": bias " << z << " standard errors\n";
  EXPECT_LT(std::abs(z), 6) << what;  // 2e-9
}

class CountVariance : public ::testing::TestWithParam<OracleKind> {};

TEST_P(CountVariance, MatchesTheFormula) {
  Spec spec;
  spec.kind = GetParam();
  spec.epsilon = 1;
  spec.values = 20;
  SeededRandom random(static_cast<std::uint64_t>(GetParam()) + 100);
  std::vector<std::uint64_t> truth(20, 0);
  truth[0] = 300;
  for (std::size_t v = 1; v < 15; ++v) truth[v] = 50;  // values 15 to 19 are nobody's
  std::vector<double> counts(truth.begin(), truth.end());
  std::vector<std::uint64_t> inputs(20);
  for (std::size_t v = 0; v < 20; ++v) inputs[v] = v;
  if (GetParam() == CountMeanSketch || GetParam() == HadamardSketch) {
    spec.hashes = 64;
    spec.width = 64;
  }
  if (GetParam() == Rappor) {
    spec.cohorts = 8;
    spec.width = 64;
    spec.epsilon = 4;
    spec.permanent_epsilon = 8;
  }
  double held = 0, empty = 0, held_z = 0, empty_z = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    // Sketches' formulas are averages over public hashes.
    if (GetParam() == CountMeanSketch || GetParam() == HadamardSketch)
      spec.hash_seed = static_cast<std::uint64_t>(trial);
    const auto oracle = Oracle::make(spec).value();
    const auto tally = collect_from_crowd(*oracle, truth, random);
    ASSERT_EQ(tally.reports, 1000U);
    const auto estimates = oracle->estimate(tally).value();
    const auto variances = oracle->variances(1000, counts, inputs);
    const auto z = [&](std::size_t v) {
      return (estimates[v].estimate - counts[v]) / std::sqrt(variances[v]);
    };
    held += z(0) * z(0);
    empty += z(17) * z(17);
    held_z += z(0);
    empty_z += z(17);
  }
  const std::string what = name(GetParam());
  expect_chi_square(what + ", held by 300", held, kTrials);
  expect_chi_square(what + ", held by nobody", empty, kTrials);
  expect_unbiased(what + ", held by 300", held_z, kTrials);
  expect_unbiased(what + ", held by nobody", empty_z, kTrials);
}

INSTANTIATE_TEST_SUITE_P(Oracles, CountVariance,
                         ::testing::Values(RandomizedResponse, SymmetricUnary, OptimizedUnary,
                                           ThresholdHistogram, SummedHistogram, BinaryHash,
                                           OptimizedHash, Hadamard, Subset, CountMeanSketch,
                                           HadamardSketch, Rappor),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(MeanVariance, MatchesTheFormulaForEveryMethod) {
  for (const auto kind : {MeanDuchi, MeanPiecewise, MeanHybrid, MeanLaplace}) {
    for (const double epsilon : {0.5, 1.0, 3.0}) {
      Spec spec;
      spec.kind = kind;
      spec.epsilon = epsilon;
      spec.low = 0;
      spec.high = 10;
      const auto oracle = Oracle::make(spec).value();
      SeededRandom random(static_cast<std::uint64_t>(kind) * 7 +
                          static_cast<std::uint64_t>(10 * epsilon));
      const std::vector<std::uint64_t> inputs = {input_of(spec, "1").value(),
                                                 input_of(spec, "9.5").value()};
      const std::vector<double> counts = {400, 200};
      const double truth = (400 * 1 + 200 * 9.5) / 600;
      const double variance = oracle->variances(600, counts, inputs)[0] / (600.0 * 600.0);
      std::vector<std::uint8_t> report(oracle->report_bytes());
      double squares = 0, sum = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        auto tally = oracle->empty_tally();
        for (int i = 0; i < 600; ++i) {
          oracle->randomize(inputs[i < 400 ? 0 : 1], random, report);
          ASSERT_TRUE(oracle->valid(report));
          oracle->add(report, tally);
        }
        const double z =
            (oracle->estimate(tally).value()[0].estimate - truth) / std::sqrt(variance);
        squares += z * z;
        sum += z;
      }
      const std::string what = std::string(name(kind)) + " at epsilon " + std::to_string(epsilon);
      expect_chi_square(what, squares, kTrials);
      expect_unbiased(what, sum, kTrials);
    }
  }
}

// The textbook's variances, of which the coins are rounded versions.
TEST(TextbookVariance, AgreesWithThePublishedFormulas) {
  const double eps = 1, e = std::exp(eps), h = std::exp(eps / 2), d = 20;
  const auto per_report = [&](OracleKind kind) {
    Spec spec;
    spec.kind = kind;
    spec.epsilon = eps;
    spec.values = 20;
    return Oracle::make(spec).value()->variance().per_report;
  };
  EXPECT_NEAR(per_report(RandomizedResponse), (d - 2 + e) / ((e - 1) * (e - 1)), 1e-9);
  EXPECT_NEAR(per_report(SymmetricUnary), h / ((h - 1) * (h - 1)), 1e-9);
  EXPECT_NEAR(per_report(OptimizedUnary), 4 * e / ((e - 1) * (e - 1)), 1e-9);
  EXPECT_NEAR(per_report(BinaryHash), std::pow((e + 1) / (e - 1), 2), 1e-9);
  EXPECT_NEAR(per_report(OptimizedHash), std::pow(e - 1 + 4, 2) / ((e - 1) * (e - 1) * 3), 1e-9);
  EXPECT_NEAR(per_report(Hadamard), std::pow((e + 1) / (e - 1), 2), 1e-9);
  EXPECT_NEAR(per_report(SummedHistogram), 8 / (eps * eps), 1e-3);

  const auto mean = [&](OracleKind kind, double t) {
    Spec spec;
    spec.kind = kind;
    spec.epsilon = eps;
    const auto oracle = Oracle::make(spec).value();
    const std::vector<double> one = {1};
    const std::vector<std::uint64_t> input = {
        static_cast<std::uint64_t>((t + 1) * (std::int64_t{1} << 20))};
    return oracle->variances(1, one, input)[0];
  };
  const double c2 = (e + 1) / (e - 1);
  EXPECT_NEAR(mean(MeanDuchi, 0.5), c2 * c2 - 0.25, 1e-6);
  EXPECT_NEAR(mean(MeanPiecewise, 0.5), 0.25 / (h - 1) + (h + 3) / (3 * (h - 1) * (h - 1)), 1e-4);
  EXPECT_NEAR(mean(MeanLaplace, 0.5), 8, 1e-6);
  EXPECT_NEAR(mean(MeanHybrid, 0.25),
              (h + 3) / (3 * h * (h - 1)) + (e + 1) * (e + 1) / (h * (e - 1) * (e - 1)), 1e-4);
}

TEST(Intervals, CoverTheTruthAsOftenAsTheySay) {
  SeededRandom random(99);
  Spec spec;
  spec.kind = OptimizedUnary;
  spec.epsilon = 1.5;
  spec.values = 10;
  const auto oracle = Oracle::make(spec).value();
  std::vector<std::uint64_t> truth = {500, 200, 100, 80, 60, 40, 15, 5, 0, 0};
  const double z = critical_value(0.95).value(), all = critical_value(0.95, 10).value();
  int covered = 0, together = 0;
  constexpr int kRounds = 2000;
  for (int i = 0; i < kRounds; ++i) {
    const auto tally = collect_from_crowd(*oracle, truth, random);
    const auto estimates = oracle->estimate(tally).value();
    bool every = true;
    for (std::size_t v = 0; v < truth.size(); ++v) {
      const auto holds = [&](Interval i2) {
        return i2.low <= static_cast<double>(truth[v]) && static_cast<double>(truth[v]) <= i2.high;
      };
      covered += holds(interval(estimates[v], tally.reports, z)) ? 1 : 0;
      every &= holds(interval(estimates[v], tally.reports, all));
    }
    together += every ? 1 : 0;
  }
  const double per_item = covered / (10.0 * kRounds), joint = together / double{kRounds};
  std::cout << "covered per item " << per_item << ", all together " << joint << "\n";
  EXPECT_GT(per_item, 0.95 - 6 * std::sqrt(0.95 * 0.05 / kRounds / 10));
  EXPECT_LT(per_item, 0.97);
  EXPECT_GT(joint, 0.95 - 6 * std::sqrt(0.95 * 0.05 / kRounds));
}

}  // namespace
}  // namespace discreet::local
