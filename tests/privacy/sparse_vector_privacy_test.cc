// Tries to refute the guarantee of sparse vector runs, on the very streams that give the broken
// variants away (planted_privacy_test.cc).
#include <gtest/gtest.h>

#include <iostream>
#include <limits>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/sparse_vector.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Stream = std::vector<std::int64_t>;

SparseVector settings(double epsilon, std::uint64_t answers_max, bool monotone = false,
                      double value_share = 0) {
  return SparseVector::make({.epsilon = Epsilon::make(epsilon).value(),
                             .sensitivity = LInfSensitivity{1},
                             .answers_max = answers_max,
                             .monotone = monotone,
                             .value_share = value_share})
      .value();
}

// The answers as binary digits; after the last yes the run refuses, which the transcript shows as
// noes.
AuditedRun answers(const SparseVector& sparse, const Stream& stream) {
  return [=](RandomSource& random) {
    auto run = sparse.start(0, random);
    std::int64_t key = 0;
    for (const std::int64_t exact : stream)
      key = 2 * key + (run.above(exact, random).value_or(false) ? 1 : 0);
    return key;
  };
}

// Noes first, then a measured yes on the last question; everything else is lumped together.
AuditedRun last_value(const SparseVector& sparse, const Stream& stream) {
  return [=](RandomSource& random) {
    constexpr std::int64_t kOther = std::numeric_limits<std::int64_t>::max();
    auto run = sparse.start(0, random);
    for (std::size_t i = 0; i + 1 < stream.size(); ++i)
      if (run.value_above(stream[i], random).value()) return kOther;
    return run.value_above(stream.back(), random).value().value_or(kOther);
  };
}

void expect_within(double epsilon, const AuditedRun& first, const AuditedRun& second,
                   RandomSource& random) {
  const AuditResult found = audit_epsilon(first, second, {}, random);
  std::cout << "claimed " << epsilon << ", at least " << found.lower_bound << " (" << found.event
            << ")\n";
  EXPECT_LE(found.lower_bound, epsilon);
}

const Stream kSpread{-1, -1, -1, -1, 1, 1, 1, 1}, kFlat(8, 0);

// False-alarm rate 1e-9 (the audit's confidence) an audit; the seed makes any alarm repeatable.
TEST(SparseVectorPrivacyTest, AboveThresholdStaysWithinEpsilon) {
  SeededRandom random(20261210);
  for (const double epsilon : {1.0, 3.0}) {
    const auto sparse =
        SparseVector::above_threshold(Epsilon::make(epsilon).value(), LInfSensitivity{1}).value();
    expect_within(epsilon, answers(sparse, {0, 1}), answers(sparse, {1, 0}), random);
    expect_within(epsilon, answers(sparse, {0, 0, 0, 0, 0, 1}), answers(sparse, {1, 1, 1, 1, 1, 0}),
                  random);
  }
}

TEST(SparseVectorPrivacyTest, SparseStaysWithinEpsilon) {
  SeededRandom random(20261211);
  for (const double epsilon : {1.0, 3.0}) {
    const auto sparse = settings(epsilon, 4);
    expect_within(epsilon, answers(sparse, kSpread), answers(sparse, kFlat), random);
  }
}

TEST(SparseVectorPrivacyTest, MonotoneQuestionsStayWithinEpsilon) {
  SeededRandom random(20261212);
  const auto sparse = settings(3, 2, true);
  expect_within(3, answers(sparse, {-2, -2, -2, -2, 1, 1}), answers(sparse, {-1, -1, -1, -1, 1, 1}),
                random);
  expect_within(3, answers(sparse, {0, 0, 0, 0}), answers(sparse, {1, 1, 1, 1}), random);
}

TEST(SparseVectorPrivacyTest, NumericSparseStaysWithinEpsilon) {
  SeededRandom random(20261213);
  for (const double epsilon : {1.0, 3.0}) {
    const auto sparse = settings(epsilon, 1, false, 0.25);
    expect_within(epsilon, last_value(sparse, {0, 0, 0, 0, 0, 1}),
                  last_value(sparse, {1, 1, 1, 1, 1, 0}), random);
  }
}

// The guarantee is for adaptive streams: here the next question depends on the last answer.
TEST(SparseVectorPrivacyTest, QuestionsThatFollowTheAnswersStayWithinEpsilon) {
  SeededRandom random(20261214);
  const auto sparse = SparseVector::make({.epsilon = Epsilon::make(2).value(),
                                          .sensitivity = LInfSensitivity{2},
                                          .answers_max = 2})
                          .value();
  const auto adaptive = [&](int sign) -> AuditedRun {
    return [=](RandomSource& source) {
      auto run = sparse.start(0, source);
      std::int64_t key = 0, question = 0;
      for (int i = 0; i < 8; ++i) {
        const bool yes = run.above(question, source).value_or(false);
        key = 2 * key + (yes ? 1 : 0);
        question = yes ? sign : (i % 2 == 0 ? -sign : 0);  // differs by 2 between the runs
      }
      return key;
    };
  };
  expect_within(2, adaptive(1), adaptive(-1), random);
}

}  // namespace
}  // namespace discreet
