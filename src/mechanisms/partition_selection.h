// Which keys of a table may be shown: a key that only one person has would give that person away.
//
// PartitionSelection tosses, for a key that n privacy units have, a coin with the largest chance of
// keeping that any (epsilon, delta)-DP rule can have, for every n at once (Desfontaines, Voss and
// Gipson 2022, Theorem 1). NoisyPartitionSelection gives the noisy number of units as well, out of
// the same noise: key and count are paid for once.
//
// Guarantee: with every unit in at most `partitions_per_unit_max` keys, the set of kept keys (and
// the
//            counts) is (epsilon, delta)-DP under add/remove. A key that no unit has is never kept.
// Assumes:   `units` is the number of distinct privacy units of a key, after the limit was
// enforced;
//            RandomSource yields independent uniform bits.
// Proof:     docs/proofs/partition_selection.md
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rational.h"
#include "privacy/loss_event.h"
#include "random/geometric.h"

namespace discreet {

struct PartitionLimits {
  std::uint64_t partitions_per_unit_max = 1;  ///< keys that one unit may touch
  std::uint64_t units_min = 1;  ///< keys with fewer units are dropped whatever the coin says
};

class PartitionSelection {
 public:
  /// The budget is for the whole table; each key's coin gets an equal share of it.
  /// InvalidParameter: a share of epsilon outside [2^-40, 512], of delta outside [2^-1000, 1), or a
  /// limit of zero.
  static Result<PartitionSelection> make(ApproxDp budget, PartitionLimits limits);

  /// A fresh coin for a key that `units` privacy units have.
  bool keep(std::uint64_t units, RandomSource& random) const;

  /// The chance of that, to about twelve digits: the odds of suppression are one minus this.
  double keep_probability(std::uint64_t units) const;
  /// The least number of units whose key is kept with at least this chance.
  /// InvalidParameter: not within (0, 1].
  Result<std::uint64_t> least_units_kept(double probability) const;

  /// What one pass over all keys costs.
  LossEvent loss() const;

  /// Bounds on the chance with `bits` binary digits of work: what the exact coin is decided by.
  struct Bounds {
    Rational low, high;
  };
  Bounds keep_bounds(std::uint64_t units, unsigned bits) const;

 private:
  PartitionSelection(ApproxDp share, PartitionLimits limits);

  ApproxDp share_;  // of one key
  PartitionLimits limits_;
  Rational epsilon_, delta_;        // of the share, exactly
  std::uint64_t rising_steps_ = 1;  // n up to which the chance grows by the e^epsilon rule
  std::vector<double> chances_;     // of few units, which most keys have
};

class NoisyPartitionSelection {
 public:
  /// As above; the noise is the truncated geometric with the least bound whose delta is within the
  /// share. The delta really spent may be smaller, and loss() says so.
  static Result<NoisyPartitionSelection> make(ApproxDp budget, PartitionLimits limits);

  /// The noisy number of units, or nothing when the key must stay hidden.
  std::optional<std::int64_t> release(std::uint64_t units, RandomSource& random) const;

  double keep_probability(std::uint64_t units) const;
  /// InvalidParameter: not within (0, 1].
  Result<std::uint64_t> least_units_kept(double probability) const;
  /// With this confidence the noise drawn is within this distance of zero; never beyond bound().
  double error_bound(double confidence) const;
  /// Noise lies in [-bound, bound]; a key is shown when its noisy count is above the bound.
  std::int64_t bound() const { return bound_; }

  LossEvent loss() const;

 private:
  NoisyPartitionSelection(ApproxDp spent, PartitionLimits limits, std::int64_t bound,
                          GeometricSampler magnitude)
      : spent_(spent), limits_(limits), bound_(bound), magnitude_(std::move(magnitude)) {}

  ApproxDp spent_;  // by one key
  PartitionLimits limits_;
  std::int64_t bound_;
  GeometricSampler magnitude_;
};

/// The share of one key, and the checks on budget and limits that both forms and the thresholds of
/// partition_threshold.h make.
Result<ApproxDp> partition_share(ApproxDp budget, PartitionLimits limits);

}  // namespace discreet
