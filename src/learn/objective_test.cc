#include "learn/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "learn/logistic_minimum.h"
#include "privacy/gaussian_profile.h"
#include "support/seeded_random.h"

namespace discreet::learn {
namespace {

constexpr std::uint32_t kColumns = 9;

ApproxDp budget(double epsilon) {
  return {Epsilon::make(epsilon).value(), Delta::make(1e-5).value()};
}

Coding coding_of(std::uint32_t classes) {
  std::vector<synth::ColumnSpec> specs;
  for (std::uint32_t c = 0; c < kColumns; ++c)
    specs.push_back({"c" + std::to_string(c), synth::CodeColumn{2}, false});
  specs.push_back({"y", synth::CodeColumn{classes}, false});
  return Coding::make(specs, "y").value();
}

// The label follows the first column, but for every tenth row.
CodedRows rows_of(std::size_t count) {
  CodedRows rows;
  rows.rows = count;
  for (std::uint32_t c = 0; c < kColumns; ++c) {
    auto& column = rows.columns.emplace_back();
    for (std::size_t i = 0; i < count; ++i)
      column.push_back(static_cast<std::uint16_t>((i >> (c % 5)) & 1));
  }
  for (std::size_t i = 0; i < count; ++i)
    rows.labels.push_back(static_cast<std::uint16_t>((i & 1) ^ (i % 10 == 0)));
  return rows;
}

TEST(ObjectiveTest, ThePlanMeetsItsTargetAndALargerMuWouldNot) {
  for (const double epsilon : {0.1, 1.0, 10.0}) {
    ObjectivePlan plan = plan_objective(budget(epsilon), 0.1).value();
    std::cout << "epsilon " << epsilon << ": mu " << plan.mu << "\n";
    EXPECT_LE(objective_delta(plan, epsilon), 1e-5);
    plan.mu *= 1.01;
    EXPECT_GT(objective_delta(plan, epsilon), 1e-5);
  }
  EXPECT_FALSE(plan_objective(budget(0), 0.1));
}

TEST(ObjectiveTest, ItLearnsWhatThereIsToLearnAndRefusesThreeClasses) {
  SeededRandom random(1);
  const Coding coding = coding_of(2);
  const auto rows = rows_of(4000);
  const auto trained = train_objective(rows, coding, budget(1), random).value();
  std::vector<double> score(1);
  std::size_t right = 0;
  for (std::size_t row = 0; row < rows.rows; ++row) {
    trained.model.score(rows, row, score);
    right += class_of(score) == rows.labels[row];
  }
  for (const auto& note : trained.notes.notes) std::cout << note << "\n";
  EXPECT_GT(right, 3500U);
  EXPECT_FALSE(trained.notes.majority);
  EXPECT_EQ(train_objective(rows, coding_of(3), budget(1), random).error().code,
            ErrorCode::Refused);
}

TEST(ObjectiveTest, TooFewRowsMakeItGiveUp) {
  SeededRandom random(2);
  const auto trained = train_objective(rows_of(40), coding_of(2), budget(0.1), random).value();
  EXPECT_TRUE(trained.notes.majority);
}

// A canary in a table of many columns and nothing else: its slope is half a unit in each.
TEST(ObjectiveTest, ACanaryStaysBelowTheClaimAndNoiseForOneColumnIsCaught) {
  constexpr std::size_t kMany = 144;
  std::vector<synth::ColumnSpec> specs;
  for (std::size_t c = 0; c < kMany; ++c)
    specs.push_back({"c" + std::to_string(c), synth::CodeColumn{1}, false});
  specs.push_back({"y", synth::CodeColumn{2}, false});
  const Coding coding = Coding::make(specs, "y").value();
  const auto audit = [&](bool broken) {
    SeededRandom random(3);
    // Little else is spent, so that the objective's own noise is what is audited.
    const ObjectiveSettings settings{.table_share = 0.01,
                                     .check_share = 0,
                                     .start = 0,
                                     .rows_min = 0,
                                     .one_column_noise = broken};
    const auto run = [&](bool canary, RandomSource& r) {
      CodedRows rows;
      rows.rows = canary ? 1 : 0;
      rows.columns.assign(kMany, std::vector<std::uint16_t>(rows.rows, 0));
      rows.labels.assign(rows.rows, 1);
      const auto trained = train_objective(rows, coding, budget(2), r, settings).value();
      double sum = 0;
      for (const auto& weights : trained.model.weights) sum += weights[0];
      return static_cast<std::int64_t>(std::floor(50 * sum));
    };
    return audit_epsilon([&](RandomSource& r) { return run(true, r); },
                         [&](RandomSource& r) { return run(false, r); },
                         {.trials = 1500, .confidence = 1 - 1e-7, .delta = 1e-5}, random)
        .lower_bound;
  };
  const double ours = audit(false), twin = audit(true);
  std::cout << "claim 2: audited " << ours << ", noise for one column " << twin << "\n";
  EXPECT_LE(ours, 2);
  EXPECT_GT(twin, 2);
}

// The exact minimum of m columns of one code each moves along one line only, where its density has
// a closed form: Gaussian noise times the loss's second derivative.
struct Line {
  double m = 9, sigma = 0, ridge = 0;
  double zeros = 0, ones = 0;  // rows of each label

  double density(double at) const {
    const double p = 1 / (1 + std::exp(-std::sqrt(m) * at));
    const double noise = std::sqrt(m) * ((zeros + ones) * p - ones) + ridge * at;
    return std::exp(-0.5 * noise * noise / (sigma * sigma)) / (sigma * std::sqrt(2 * M_PI)) *
           (m * (zeros + ones) * p * (1 - p) + ridge);
  }
};

// How much more often than e^epsilon times an event happens, at worst.
double hockey_stick(const Line& one, const Line& other, double epsilon) {
  constexpr double kEnd = 60, kStep = 3e-3;
  double sum = 0;
  for (double at = -kEnd; at < kEnd; at += kStep)
    sum += kStep * std::fmax(0, one.density(at) - std::exp(epsilon) * other.density(at));
  return sum;
}

TEST(ObjectiveTest, DensitiesOfTheExactMinimumStayWithinTheProofAndATooSmallRidgeDoesNot) {
  constexpr double kMu = 0.5, kCurvature = 0.1;
  double worst = 0, worst_twin = 0;
  for (const double epsilon : {0.3, 0.6, 1.2})
    for (const auto& [zeros, ones] : {std::pair{0.0, 0.0}, {3.0, 0.0}, {2.0, 2.0}, {40.0, 3.0}})
      for (const bool label : {false, true})
        for (const bool twin : {false, true}) {
          Line without{.zeros = zeros, .ones = ones};
          without.sigma = std::sqrt(without.m) / kMu;
          // The proof's, and one for which a row's curvature was forgotten.
          without.ridge = without.m / 4 / std::expm1(kCurvature) / (twin ? 50 : 1);
          Line with = without;
          (label ? with.ones : with.zeros) += 1;
          const double delta =
              std::fmax(hockey_stick(with, without, epsilon), hockey_stick(without, with, epsilon));
          const double claim = 2 * gaussian_delta_down(kMu, epsilon - kCurvature);
          (twin ? worst_twin : worst) = std::fmax(twin ? worst_twin : worst, delta / claim);
        }
  std::cout << "delta over its bound: " << worst << "; with a fiftieth of the ridge " << worst_twin
            << "\n";
  EXPECT_LE(worst, 1);
  EXPECT_GT(worst, 0.1);  // the bound is not idle
  EXPECT_GT(worst_twin, 1);
}

TEST(ObjectiveTest, TheMinimumIsAsNearAsItSaysAndATwinThatStopsEarlyIsNot) {
  SeededRandom random(5);
  CodedRows rows;
  rows.rows = 300;
  const std::vector<std::uint32_t> sizes = {4, 3, 7};
  std::vector<Bins> bins;
  for (const std::uint32_t size : sizes) {
    auto& of = bins.emplace_back();
    of.size = size;
    for (std::uint32_t i = 0; i < size; ++i)
      of.bin_of_code.push_back(static_cast<std::uint16_t>(i));
    auto& column = rows.columns.emplace_back();
    for (std::size_t row = 0; row < rows.rows; ++row)
      column.push_back(static_cast<std::uint16_t>(random.bits64() % size));
  }
  for (std::size_t row = 0; row < rows.rows; ++row)
    rows.labels.push_back(static_cast<std::uint16_t>(rows.columns[0][row] % 2));
  for (const double ridge : {0.01, 1.0, 100.0}) {
    PerturbedLoss loss{std::vector<double>(14, 0.1), {}, ridge, 400, 60};
    for (int i = 0; i < 14; ++i)
      loss.tilt.push_back(static_cast<double>(random.bits64() % 2000) / 100 - 10);
    // The true slope, as well as long doubles know it.
    const auto slope = [&](const std::vector<double>& at) {
      std::vector<long double> sum(14);
      for (std::size_t i = 0; i < 14; ++i)
        sum[i] =
            static_cast<long double>(ridge) * (static_cast<long double>(at[i]) - loss.centre[i]) +
            loss.tilt[i];
      for (std::size_t row = 0; row < rows.rows; ++row) {
        const std::size_t a = rows.columns[0][row], b = 4U + rows.columns[1][row],
                          c = 7U + rows.columns[2][row];
        const long double score = static_cast<long double>(at[a]) + at[b] + at[c];
        const long double residual = 1 / (1 + std::exp(-score)) - rows.labels[row];
        for (const std::size_t i : {a, b, c}) sum[i] += residual;
      }
      long double squares = 0;
      for (const long double s : sum) squares += s * s;
      return static_cast<double>(std::sqrt(squares));
    };
    const auto found = minimise_logistic(rows, bins, loss).value();
    const auto early = minimise_logistic(rows, bins, loss, 1e12).value();
    std::cout << "ridge " << ridge << ": claimed " << found.away << ", slope / ridge "
              << slope(found.weights) / ridge << "; the twin is at least "
              << slope(early.weights) / (ridge + 300 * 3 / 4.0) << " away\n";
    EXPECT_LE(slope(found.weights) / ridge, found.away);
    EXPECT_GT(slope(early.weights) / (ridge + 300 * 3 / 4.0), found.away);
  }
  // More than can be proved is refused by public numbers, before the rows are looked at.
  PerturbedLoss vast{std::vector<double>(14, 0.0), std::vector<double>(14, 0.0), 1e-6, 1e9, 1};
  EXPECT_EQ(minimise_logistic(rows, bins, vast).error().code, ErrorCode::Refused);
}

}  // namespace
}  // namespace discreet::learn
