// Streams: totals right without noise, errors as planned, and the cost of the worst unit exactly.
#include "tables/prefix_stream.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/seeded_random.h"

namespace discreet::tables {
namespace {

std::vector<std::int64_t> stream_of(std::uint32_t periods) {
  std::vector<std::int64_t> increments;
  for (std::int64_t t = 0; t < periods; ++t) increments.push_back(t * 7919 % 101);
  return increments;
}

TEST(PrefixStreamTest, WithAlmostNoNoiseTotalsAreExact) {
  SeededRandom random(1);
  const auto stream = PrefixStream::make(365, Rho::make(1e9).value(), 1).value();
  const auto increments = stream_of(365);
  std::vector<std::int64_t> released;
  double total = 0;
  for (std::size_t t = 0; t < increments.size(); ++t) {
    released.push_back(stream.release(std::span(increments).first(t + 1), random));
    total += static_cast<double>(increments[t]);
    EXPECT_NEAR(stream.total(released), total, 0.01);
  }
}

TEST(PrefixStreamTest, AnyUnitCostsAtMostRhoAndTheFirstPeriodAllOfIt) {
  // The coefficients, seen through releases without noise.
  SeededRandom random(2);
  constexpr std::uint32_t kPeriods = 40;
  const auto quiet = PrefixStream::make(kPeriods, Rho::make(1e15).value(), 1).value();
  const auto stream = PrefixStream::make(kPeriods, Rho::make(0.1).value(), 3).value();
  const auto moved = [&](const std::vector<std::int64_t>& records) {
    double squares = 0;
    for (std::size_t t = 0; t < records.size(); ++t) {
      const auto y = static_cast<double>(quiet.release(std::span(records).first(t + 1), random));
      squares += y * y;
    }
    return squares;
  };
  std::vector<std::int64_t> first(kPeriods, 0);
  first[0] = 1;
  const double length2 = moved(first);
  // The noise's variance from the claim: rho = limit^2 length^2 / (2 sigma2).
  const double sigma2 = 9 * length2 / (2 * stream.rho().value());
  double most = 0;
  for (std::size_t a = 0; a < kPeriods; a += 3)
    for (std::size_t b = a; b < kPeriods; b += 5) {
      std::vector<std::int64_t> records(kPeriods, 0);
      records[a] += 2;
      records[b] += 1;
      const double cost = moved(records) / (2 * sigma2);
      EXPECT_LE(cost, stream.rho().value() * (1 + 1e-9));
      most = std::max(most, cost);
    }
  EXPECT_NEAR(most, stream.rho().value(), 1e-9);
  // The broken twin: the same unit sampled anew in every period, so that its records are always the
  // newest ones.
  double again = 0;
  for (std::uint32_t t = 0; t < kPeriods; ++t) {
    std::vector<std::int64_t> newest(t + 1, 0);
    newest[t] = 3;
    const auto y = static_cast<double>(quiet.release(newest, random));
    again += y * y;
  }
  EXPECT_GT(again / (2 * sigma2), 5 * stream.rho().value());
}

// 300 streams of 64 periods; the mean square of the last total has relative standard error
// sqrt(2 / 300), six of them are 0.49; over all periods errors hang together, so the same slack.
TEST(PrefixStreamTest, ErrorsAreThosePlannedAndSmallerThanTheTrees) {
  SeededRandom random(3);
  constexpr int kTrials = 300;
  const auto stream = PrefixStream::make(64, Rho::make(0.05).value(), 1).value();
  const std::vector<std::int64_t> nothing(64, 0);
  double last = 0, all = 0, planned = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::int64_t> released;
    for (std::size_t t = 0; t < 64; ++t) {
      released.push_back(stream.release(std::span(nothing).first(t + 1), random));
      const double error = stream.total(released);
      all += error * error / (64.0 * kTrials);
      if (t == 63) last += error * error / kTrials;
    }
  }
  for (std::uint32_t t = 0; t < 64; ++t) planned += stream.variance(t) / 64;
  std::printf("mean variance %.2f planned, %.2f seen, %.2f with a binary tree\n", planned, all,
              stream.tree_variance());
  EXPECT_NEAR(last / stream.variance(63), 1, 6 * std::sqrt(2.0 / kTrials));
  EXPECT_NEAR(all / planned, 1, 6 * std::sqrt(2.0 / kTrials));
  EXPECT_LT(planned, stream.tree_variance());
  for (const std::uint32_t periods : {2u, 30u, 365u, 3650u}) {
    const auto one = PrefixStream::make(periods, Rho::make(0.05).value(), 1).value();
    double mean = 0;
    for (std::uint32_t t = 0; t < periods; ++t) mean += one.variance(t) / periods;
    std::printf("%u periods: %.1f, tree %.1f\n", periods, mean, one.tree_variance());
    EXPECT_LT(mean, one.tree_variance());
  }
}

TEST(PrefixStreamTest, RefusesEmptyAndEndlessStreams) {
  const Rho rho = Rho::make(0.1).value();
  EXPECT_FALSE(PrefixStream::make(0, rho, 1));
  EXPECT_FALSE(PrefixStream::make(PrefixStream::kPeriodsMax + 1, rho, 1));
  EXPECT_FALSE(PrefixStream::make(10, rho, 0));
  EXPECT_FALSE(PrefixStream::make(10, Rho::zero(), 1));
}

}  // namespace
}  // namespace discreet::tables
