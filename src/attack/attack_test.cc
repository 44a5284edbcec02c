#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "attack/census.h"
#include "attack/linkage.h"
#include "attack/reconstruction.h"
#include "attack/shadow.h"
#include "attack/single_bit.h"
#include "attack/tracing.h"
#include "support/seeded_random.h"

namespace discreet::attack {
namespace {

void show(const Report& report) {
  for (const Outcome& found : report.outcomes)
    std::cout << report.name << ", " << found.target << ": " << found.success << " (" << found.low
              << " to " << found.high << "), baseline " << found.baseline << "\n";
}

// Seeded, so that any failure repeats; the limits hold with 99.95 % on each side.
TEST(ReconstructionTest, AccurateCountsGiveNearlyAllBitsAwayAndPrivateOnesNone) {
  SeededRandom random(1);
  const Report report = reconstruction({.people = 300, .queries = 1200}, random).value();
  show(report);
  EXPECT_EQ(report.outcomes[0].success, 1);
  EXPECT_GT(report.outcomes[1].success, 0.95);
  EXPECT_LT(report.outcomes[2].low, 0.55);
  EXPECT_LE(report.outcomes[2].low, report.outcomes[2].bound);
  // Through the curator's door: the budget is what stops it.
  EXPECT_EQ(report.outcomes[3].success, 1);
  EXPECT_LE(report.outcomes[4].low, report.outcomes[4].bound);
}

TEST(ReconstructionTest, RecoveryFollowsTheNormalLaw) {
  SeededRandom random(2);
  const std::size_t multiples[] = {4};
  const double noise[] = {0.25, 0.5, 1};
  const auto series = phase_change(400, multiples, noise, random).value();
  for (const auto& [relative, recovered] : series[0].points) {
    const double predicted = predicted_recovery(400, 1600, relative * std::sqrt(400.0));
    std::cout << "noise " << relative << " sqrt(n): " << recovered << ", predicted " << predicted
              << "\n";
    // Five standard deviations of a binomial share of 400.
    EXPECT_NEAR(recovered, predicted, 5 * std::sqrt(predicted * (1 - predicted) / 400) + 0.02);
  }
}

TEST(ReconstructionTest, EveryDecoderSolvesExactCounts) {
  SeededRandom random(3);
  for (const auto decoder : {Decoder::LeastSquares, Decoder::LinearProgram, Decoder::Exhaustive}) {
    const ReconstructionOptions options{.people = 12, .queries = 100, .decoder = decoder};
    EXPECT_EQ(reconstruct(options, nullptr, random).value(), 12U);
  }
}

// A tenth of the answers are nonsense: least squares is thrown off, the linear program is not.
TEST(ReconstructionTest, TheLinearProgramShrugsOffWildAnswers) {
  SeededRandom random(4);
  const Answering wild = [](std::span<std::int64_t> answers, RandomSource& source) {
    for (std::int64_t& answer : answers)
      if (source.bits64() % 10 == 0) answer = static_cast<std::int64_t>(source.bits64() % 5000);
  };
  ReconstructionOptions options{.people = 40, .queries = 240, .decoder = Decoder::LinearProgram};
  EXPECT_EQ(reconstruct(options, wild, random).value(), 40U);
  options.decoder = Decoder::LeastSquares;
  EXPECT_LT(reconstruct(options, wild, random).value(), 36U);
}

TEST(ReconstructionTest, SizesThatWouldNotFitAreRefused) {
  SeededRandom random(5);
  EXPECT_FALSE(
      reconstruct({.people = 40, .queries = 10, .decoder = Decoder::Exhaustive}, nullptr, random));
  EXPECT_FALSE(reconstruct({.people = 1, .queries = 10}, nullptr, random));
}

TEST(DifferencingTest, ExactSumsTellTheIncomeAndPrivateOnesDoNot) {
  SeededRandom random(6);
  const Report report = differencing({.attempts = 600}, random).value();
  show(report);
  EXPECT_EQ(report.outcomes[0].success, 1);
  EXPECT_LT(report.outcomes[2].low, report.outcomes[2].baseline);
  EXPECT_LT(report.outcomes[3].low, report.outcomes[3].baseline);
}

TEST(DayByDayTest, ExactCountsTellWhoCameAndPrivateOnesStayWithinTheBound) {
  SeededRandom random(14);
  const Report report = day_by_day({.attempts = 1000}, random).value();
  show(report);
  EXPECT_EQ(report.outcomes[0].success, 1);
  for (const std::size_t ours : {2U, 3U})
    EXPECT_LE(report.outcomes[ours].low, report.outcomes[ours].bound);
}

TEST(AveragingTest, FreshNoiseAveragesOutAndARecordedAnswerDoesNot) {
  SeededRandom random(7);
  const Report report = averaging({.attempts = 400}, random).value();
  show(report);
  EXPECT_EQ(report.outcomes[1].success, 1);
  for (const std::size_t curator : {2U, 3U})
    EXPECT_LT(report.outcomes[curator].low, report.outcomes[curator].baseline);
  EXPECT_GT(report.outcomes[2].high, report.outcomes[2].baseline);
}

TEST(FloatingPointTest, TheLastBitsTellTextbookNoiseApartAndOursNot) {
  SeededRandom random(8);
  const Report report = floating_point({.attempts = 20'000, .epsilon = 0.25}, random).value();
  show(report);
  EXPECT_GT(report.outcomes[1].low, report.outcomes[2].bound);  // beyond what epsilon allows
  EXPECT_LE(report.outcomes[2].low, report.outcomes[2].bound);
}

TEST(TimingTest, TheEffortOfATextbookSamplerTellsItsNoiseAndOursDoesNot) {
  SeededRandom random(9);
  const Report report = timing({.attempts = 5000}, random).value();
  show(report);
  for (const Outcome& found : report.outcomes) EXPECT_LT(found.baseline, 0.6) << found.target;
  EXPECT_GT(report.outcomes[0].success, 0.9);
  EXPECT_GT(report.outcomes[1].success, 0.9);
  EXPECT_LE(report.outcomes[2].low, report.outcomes[2].baseline);
}

TEST(TracingTest, ExactAveragesBetrayMembersAndPrivateOnesDoNot) {
  SeededRandom random(10);
  const Report report =
      tracing({.people = 20, .attributes = 1000, .attempts = 200}, random).value();
  show(report);
  EXPECT_GT(report.outcomes[0].success, 0.9);
  EXPECT_LE(report.outcomes[2].low, report.outcomes[2].bound);
  EXPECT_LT(report.outcomes[2].success, 0.65);
  EXPECT_LE(report.outcomes[3].low, report.outcomes[3].bound);
}

TEST(ShadowTest, AForestRemembersItsRowsAndAPrivateModelDoesNot) {
  SeededRandom random(16);
  const Report report =
      shadow_models({.people = 200, .shadows = 60, .attempts = 200}, random).value();
  show(report);
  EXPECT_GT(report.outcomes[0].low, 0.8);
  EXPECT_GT(report.outcomes[0].low, report.outcomes[2].high);
  EXPECT_LE(report.outcomes[2].low, report.outcomes[2].bound);
}

TEST(ShadowTest, EveryKindOfModelCanBeAttackedAndStaysWithinItsBound) {
  SeededRandom random(17);
  for (const char* model : {"naive-bayes", "rules", "linear", "kmeans", "pca"}) {
    const Report report =
        shadow_models(
            {.model = model, .people = 100, .shadows = 20, .attempts = 60, .only_ours = true},
            random)
            .value();
    show(report);
    EXPECT_LE(report.outcomes[0].low, report.outcomes[0].bound) << model;
  }
  EXPECT_FALSE(shadow_models({.model = "oracle"}, random));
}

TEST(LinkageTest, TheJoinFindsThoseWhoAreAlone) {
  SeededRandom random(11);
  const LinkageReport found = linkage({.people = 6000}, random).value();
  show(found.report);
  EXPECT_GE(found.report.outcomes[0].success, found.predicted);  // and some by luck
  EXPECT_GT(found.predicted, 0.5);
  EXPECT_GT(found.report.outcomes[2].success, 0.9) << "noise that hides nobody";
  EXPECT_GT(found.report.outcomes[0].low, found.report.outcomes[3].high);
  EXPECT_GT(found.report.outcomes[1].low, found.report.outcomes[3].high);
  EXPECT_LT(found.report.outcomes[3].success, found.report.outcomes[3].baseline + 0.1);
}

TEST(IntersectionTest, TwoTablesTellMoreThanOne) {
  SeededRandom random(12);
  const Report report = intersection({.people = 6000, .k = 4}, random).value();
  show(report);
  EXPECT_GT(report.outcomes[1].low, report.outcomes[0].high);
  EXPECT_GT(report.outcomes[2].success, 0.9) << "noise that hides nobody";
  EXPECT_LT(report.outcomes[3].success, report.outcomes[3].baseline + 0.1);
}

// The published example: median 30 and mean 44 leave 30 of 317,750 combinations of three different
// ages (Garfinkel, Abowd, Martindale 2019). One more has two people of 30.
TEST(CensusTest, MedianAndMeanLeaveThirtyCombinationsOfThreeAges) {
  std::size_t different = 0;
  const auto found = fitting_ages(3, 2 * 30, 3 * 44);
  for (const Ages& ages : found) different += ages[0] < ages[1] && ages[1] < ages[2];
  EXPECT_EQ(different, 30U);
  EXPECT_EQ(found.size(), 31U);
}

TEST(CensusTest, BlocksComeOutOfExactStatisticsMoreThanOutOfPrivateOnes) {
  SeededRandom random(13);
  const Report report = census({.blocks = 60, .people = 6}, random).value();
  show(report);
  EXPECT_GT(report.outcomes[0].low, report.outcomes[2].high);
}

TEST(PictureTest, PicturesHoldEveryTarget) {
  Report report{
      "Name", "what <it> counts", {outcome("a & b", 5, 10, 0.5, 0), outcome("c", 9, 10, 0.5, 0)}};
  const std::string svg = picture(report);
  EXPECT_NE(svg.find("a &amp; b"), std::string::npos);
  EXPECT_NE(svg.find("90.0 %"), std::string::npos);
  EXPECT_NE(curves("t", "x", "y", {{"s", {{1, 0.5}, {10, 1}}}}).find("polyline"),
            std::string::npos);
}

}  // namespace
}  // namespace discreet::attack
