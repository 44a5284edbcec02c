// The audit tries every oracle as a black box, and catches three that are broken.
#include <gtest/gtest.h>

#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "local/coin.h"
#include "local/hash.h"
#include "local/oracle.h"
#include "local/report_bytes_internal.h"
#include "support/seeded_random.h"

namespace discreet::local {
namespace {

using enum OracleKind;

constexpr double kEpsilon = 1;
constexpr std::uint64_t kValues = 8;

Spec audited(OracleKind kind) {
  Spec spec;
  spec.kind = kind;
  spec.epsilon = kEpsilon;
  spec.values = is_mean(kind) ? 0 : kValues;
  if (kind == CountMeanSketch || kind == HadamardSketch) {
    spec.hashes = 1;
    spec.width = 8;
    for (spec.hash_seed = 0;; ++spec.hash_seed)  // a hash that separates the two values audited
      if (large_hash(spec.hash_seed, 0).bucket(0, 8) != large_hash(spec.hash_seed, 0).bucket(5, 8))
        break;
  }
  if (kind == Rappor) {
    spec.hashes = 1;
    spec.width = 8;
    spec.cohorts = 1;
    for (spec.hash_seed = 0;; ++spec.hash_seed)
      if (large_hash(spec.hash_seed, 0).bucket(0, 8) != large_hash(spec.hash_seed, 0).bucket(5, 8))
        break;
  }
  return spec;
}

std::int64_t two_bits(const std::uint8_t* bits, std::uint64_t first, std::uint64_t second) {
  return (bit(bits, first) ? 1 : 0) + (bit(bits, second) ? 2 : 0);
}

/// What tells the two inputs apart best: any function of the report will do, for post-processing
/// cannot add to the loss.
std::int64_t key(const Oracle& oracle, std::span<const std::uint8_t> report) {
  switch (oracle.spec().kind) {
    case BinaryHash:
    case OptimizedHash: {  // which of the two values the report supports
      const SmallHash hash{static_cast<std::uint32_t>(get(report.data(), 4)),
                           static_cast<std::uint32_t>(get(report.data() + 4, 4))};
      const auto cell = get(report.data() + 8, 4);
      return (hash.bucket(0, oracle.spec().cells) == cell ? 1 : 0) +
             (hash.bucket(5, oracle.spec().cells) == cell ? 2 : 0);
    }
    case SummedHistogram:  // the difference of the two cells that differ, in quarters
      return (static_cast<std::int64_t>(get(report.data(), 6)) -
              static_cast<std::int64_t>(get(report.data() + 30, 6))) /
             256;
    case MeanPiecewise:
    case MeanHybrid:
      return report[0] == 0 ? -1 - report[1]
                            : static_cast<std::int64_t>(get(report.data() + 1, 4)) >> 16;
    case MeanLaplace:
      return static_cast<std::int64_t>(get(report.data(), 6)) >> 18;
    case SymmetricUnary:
    case OptimizedUnary:
    case ThresholdHistogram:
    case Subset:  // the two bits that can tell
      return two_bits(report.data(), 0, 5);
    case CountMeanSketch:
    case Rappor: {
      const auto hash = large_hash(oracle.spec().hash_seed, 0);
      const std::size_t before = oracle.spec().kind == Rappor ? 2 : 1;
      return two_bits(report.data() + before, hash.bucket(0, 8), hash.bucket(5, 8));
    }
    default:
      return static_cast<std::int64_t>(get(report.data(), report.size()));
  }
}

AuditResult audit(const Oracle& oracle, std::uint64_t first, std::uint64_t second,
                  RandomSource& random) {
  const auto run = [&](std::uint64_t input) {
    return [&oracle, input](RandomSource& r) {
      std::vector<std::uint8_t> report(oracle.report_bytes());
      oracle.randomize(input, r, report);
      return key(oracle, report);
    };
  };
  return audit_epsilon(run(first), run(second), {.trials = 240'000, .confidence = 1 - 1e-8},
                       random);
}

TEST(LocalAudit, NoOracleIsRefutedAndEveryOneIsPressedHard) {
  SeededRandom random(20261116);
  for (const auto kind : all_oracles()) {
    const auto oracle = Oracle::make(audited(kind)).value();
    const std::uint64_t other = is_mean(kind) ? oracle->inputs() - 1 : 5;
    const auto found = audit(*oracle, 0, other, random);
    std::cout << name(kind) << ": claimed " << kEpsilon << ", at least " << found.lower_bound
              << " by " << found.event << " (false alarm 1e-8)\n";
    EXPECT_LE(found.lower_bound, kEpsilon) << name(kind);
    EXPECT_GT(found.lower_bound, 0.5) << name(kind) << ": an audit this weak would miss a bug";
  }
}

// What pure-LDP had before 1.2.0: the chances of OUE with a one kept too often.
TEST(LocalAudit, CatchesABrokenUnaryEncoding) {
  SeededRandom random(4);
  const Coin noise = Coin::at_least(Probability::logistic(Rational(1)));
  const auto broken = [&](std::uint64_t input) {
    return [&noise, input](RandomSource& r) {
      std::int64_t bits = 0;
      for (unsigned i = 0; i < kValues; ++i) {
        const bool one = i == input ? !noise.toss(r) : noise.toss(r);  // p should be 1/2
        bits |= std::int64_t{one} << i;
      }
      return bits;
    };
  };
  const auto found =
      audit_epsilon(broken(0), broken(5), {.trials = 240'000, .confidence = 1 - 1e-8}, random);
  std::cout << "broken unary encoding: claimed 1, at least " << found.lower_bound << " by "
            << found.event << "\n";
  EXPECT_GT(found.lower_bound, 1.2);
}

// A permanent round that only ever sets bits: a zero at a value's place denies the value for sure.
TEST(LocalAudit, CatchesARapporThatNeverClearsASetBit) {
  SeededRandom random(5);
  const Coin noise = Coin::at_least(Probability::logistic(Rational(1, 2)));
  const auto broken = [&](std::uint64_t input) {
    return [&noise, input](RandomSource& r) {
      std::int64_t bits = 0;
      for (unsigned i = 0; i < kValues; ++i) bits |= std::int64_t{noise.toss(r) || i == input} << i;
      return bits;
    };
  };
  const auto found =
      audit_epsilon(broken(0), broken(5), {.trials = 240'000, .confidence = 1 - 1e-8}, random);
  std::cout << "RAPPOR that never clears: claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_GT(found.lower_bound, 2);
}

// Local hashing whose hash is chosen after the value (so that the value is in the first cell).
TEST(LocalAudit, CatchesAHashThatDependsOnTheValue) {
  SeededRandom random(6);
  const auto oracle = Oracle::make(audited(OptimizedHash)).value();
  const auto broken = [&](std::uint64_t input) {
    return [&oracle, input](RandomSource& r) {
      std::vector<std::uint8_t> report(12);
      for (;;) {
        oracle->randomize(input, r, report);
        const SmallHash hash{static_cast<std::uint32_t>(get(report.data(), 4)),
                             static_cast<std::uint32_t>(get(report.data() + 4, 4))};
        if (hash.bucket(input, oracle->spec().cells) == 0) break;
      }
      const SmallHash hash{static_cast<std::uint32_t>(get(report.data(), 4)),
                           static_cast<std::uint32_t>(get(report.data() + 4, 4))};
      return static_cast<std::int64_t>(hash.bucket(0, oracle->spec().cells) == 0);
    };
  };
  const auto found =
      audit_epsilon(broken(0), broken(5), {.trials = 40'000, .confidence = 1 - 1e-8}, random);
  EXPECT_GT(found.lower_bound, 2);
}

}  // namespace
}  // namespace discreet::local
