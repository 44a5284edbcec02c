#include "local/audits/oracle_audits.h"

#include <memory>
#include <string>

#include "local/coin.h"
#include "local/hash.h"
#include "local/oracle.h"
#include "local/report_bytes_internal.h"

namespace discreet::local {
namespace {

using enum OracleKind;

constexpr double kEpsilon = 1;
constexpr std::uint64_t kValues = 8;
const ApproxDp kClaim{Epsilon::make(kEpsilon).value(), Delta::zero()};

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

AuditedRun reports(const std::shared_ptr<const Oracle>& oracle, std::uint64_t input) {
  return [oracle, input](RandomSource& random) {
    std::vector<std::uint8_t> report(oracle->report_bytes());
    oracle->randomize(input, random, report);
    return key(*oracle, report);
  };
}

// What pure-LDP had before 1.2.0: the chances of OUE with a one kept too often.
AuditedRun unary_ones_kept(std::uint64_t input) {
  const Coin noise = Coin::at_least(Probability::logistic(Rational(1)));
  return [noise, input](RandomSource& random) {
    std::int64_t bits = 0;
    for (unsigned i = 0; i < kValues; ++i) {
      const bool one = i == input ? !noise.toss(random) : noise.toss(random);  // p should be 1/2
      bits |= std::int64_t{one} << i;
    }
    return bits;
  };
}

// A permanent round that only ever sets bits: a zero at a value's place denies the value for sure.
AuditedRun never_clears(std::uint64_t input) {
  const Coin noise = Coin::at_least(Probability::logistic(Rational(1, 2)));
  return [noise, input](RandomSource& random) {
    std::int64_t bits = 0;
    for (unsigned i = 0; i < kValues; ++i)
      bits |= std::int64_t{noise.toss(random) || i == input} << i;
    return bits;
  };
}

// Local hashing whose hash is chosen after the value, so that the value is in the first cell.
AuditedRun hash_follows_value(std::uint64_t input) {
  const std::shared_ptr<const Oracle> oracle = Oracle::make(audited(OptimizedHash)).value();
  return [oracle, input](RandomSource& random) {
    std::vector<std::uint8_t> report(oracle->report_bytes());
    for (;;) {
      oracle->randomize(input, random, report);
      const SmallHash hash{static_cast<std::uint32_t>(get(report.data(), 4)),
                           static_cast<std::uint32_t>(get(report.data() + 4, 4))};
      if (hash.bucket(input, oracle->spec().cells) == 0)
        return static_cast<std::int64_t>(hash.bucket(0, oracle->spec().cells) == 0);
    }
  };
}

}  // namespace

std::vector<AuditSubject> audited_oracles() {
  std::vector<AuditSubject> all;
  for (const auto kind : all_oracles()) {
    const std::shared_ptr<const Oracle> oracle = Oracle::make(audited(kind)).value();
    const std::uint64_t other = is_mean(kind) ? oracle->inputs() - 1 : 5;
    std::string label = "local-" + std::string(name(kind));
    for (char& c : label)
      if (c == '_') c = '-';
    all.push_back({label, "a local report of two values: " + std::string(name(kind)), kClaim,
                   reports(oracle, 0), reports(oracle, other), 240'000});
  }
  return all;
}

std::vector<AuditSubject> planted_oracles() {
  return {
      {"local-unary-ones-kept", "unary encoding with a one kept too often (pure-LDP before 1.2.0)",
       kClaim, unary_ones_kept(0), unary_ones_kept(5), 240'000},
      {"local-rappor-never-clears", "a permanent round that only ever sets bits", kClaim,
       never_clears(0), never_clears(5), 240'000},
      {"local-hash-follows-value", "a hash that is chosen after the value", kClaim,
       hash_follows_value(0), hash_follows_value(5), 40'000},
  };
}

}  // namespace discreet::local
