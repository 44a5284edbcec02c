// The strings that many clients hold, found by two servers that see no client's string (Poplar1),
// in rounds: count some prefixes, keep those that stand out, ask about longer ones.
//
// Guarantee: if at least one server adds its noise, all counts of all rounds, the choice of
// prefixes
//            that follows from them and the list at the end are epsilon-DP (delta zero: discrete
//            Laplace) or (epsilon, delta)-DP (discrete Gaussian) for replacing one report. How many
//            reports there are is not hidden.
// Assumes:   what poplar1.h assumes; each client sends one report.
// Proof:     docs/proofs/prio_noise.md, "Strings"
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/discrete_laplace.h"
#include "prio/poplar1.h"

namespace discreet::prio {

struct HeavyStringsPolicy {
  std::size_t bits = 0;            ///< of every client's string
  std::size_t bits_per_round = 4;  ///< fewer rounds mean less noise and more candidates: 1 to 8
  double epsilon = 0;              ///< of all rounds together
  double delta = 0;
  /// Noisy counts below this are dropped. Without it: what no prefix that nobody holds passes, in
  /// any round, but for a chance of 5 %.
  std::optional<double> threshold = std::nullopt;
  std::size_t kept_max = 256;  ///< the largest counts of a round that go on
};

struct HeavyString {
  BitString string;
  std::int64_t count;
};

/// One round as everyone may see it.
struct HeavyRound {
  PrefixQuery query;
  std::vector<std::int64_t> counts;  ///< noisy, one a prefix
  double threshold;
  std::size_t refused;  ///< reports that did not pass this round's check
};

struct HeavyStringsResult {
  std::vector<HeavyString> strings;  ///< largest count first
  std::vector<HeavyRound> rounds;
};

struct StringReport {
  Bytes nonce;
  Report shares;
};

/// Immutable.
class HeavyStrings {
 public:
  /// InvalidParameter: no epsilon, or a size out of range.
  static Result<HeavyStrings> make(const HeavyStringsPolicy& policy);

  const Poplar1& poplar() const { return poplar_; }
  std::size_t rounds() const { return lengths_.size(); }
  /// 95 % of counts are within this of the exact ones when both servers add noise.
  double error95() const;
  /// What a round of this many candidates drops, if the policy does not say.
  double noise_bound(std::size_t candidates) const;

  StringReport shard(ByteSpan context, const BitString& string, RandomSource& random) const;

  /// What a server adds to its share of a round.
  void add_noise(const PrefixQuery& query, FieldVector& share, RandomSource& random) const;
  /// The first query, and the one after a round; nothing when no prefix is left, or all bits are
  /// asked.
  PrefixQuery first() const;
  Result<std::optional<PrefixQuery>> next(const HeavyRound& round) const;

  /// Both servers in one process, exchanging what they would exchange. A server without a source of
  /// noise is one that lies: for tests.
  Result<HeavyStringsResult> run(ByteSpan context, ByteSpan verify_key,
                                 std::span<const StringReport> reports,
                                 std::array<RandomSource*, 2> noise) const;

 private:
  HeavyStrings(HeavyStringsPolicy policy, Poplar1 poplar) : policy_(policy), poplar_(poplar) {}
  std::vector<BitString> survivors(const HeavyRound& round) const;
  double variance() const;

  HeavyStringsPolicy policy_;
  Poplar1 poplar_;
  std::vector<std::size_t> lengths_;
  std::optional<DiscreteLaplace> laplace_;
  std::optional<DiscreteGaussian> gaussian_;
};

}  // namespace discreet::prio
