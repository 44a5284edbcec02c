// Showing the keys whose noisy number of units reaches a threshold: the older rules, beside the
// optimal one of partition_selection.h, for comparison and for tables whose keys have many units
// each, where Gaussian noise on many keys per unit is smaller.
//
// Guarantee: with every unit in at most `partitions_per_unit_max` keys, the shown keys and their
// noisy
//            counts are (epsilon, delta)-DP under add/remove. The whole of epsilon is spent on the
//            noise; delta covers a key that one unit alone has reaching the threshold (and, for
//            Gaussian noise, half of it the noise).
// Assumes:   `units` counts distinct privacy units after the limit was enforced; keys without units
//            are never asked about, and are never shown.
// Proof:     docs/proofs/partition_selection.md
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "mechanisms/partition_selection.h"
#include "random/discrete_gaussian_sampler.h"
#include "random/discrete_laplace_sampler.h"

namespace discreet {

class PartitionThreshold {
 public:
  /// InvalidParameter: as PartitionSelection::make, or noise too large to draw.
  static Result<PartitionThreshold> laplace(ApproxDp budget, PartitionLimits limits);
  static Result<PartitionThreshold> gaussian(ApproxDp budget, PartitionLimits limits);

  /// The noisy number of units, or nothing when the key must stay hidden.
  std::optional<std::int64_t> release(std::uint64_t units, RandomSource& random) const;

  /// The chance that a key of this many units is shown, to about six digits.
  double keep_probability(std::uint64_t units) const;
  /// The least number of units whose key is shown with at least this chance.
  /// InvalidParameter: not within (0, 1).
  Result<std::uint64_t> least_units_kept(double probability) const;

  /// A key is shown when its noisy count of units reaches this.
  std::int64_t threshold() const { return threshold_; }
  /// With this confidence the noise of a shown count is within this distance of zero (before it is
  /// known that the count is shown, which favours noise above zero).
  double error_bound(double confidence) const;
  /// Standard deviation of the noise.
  double noise_deviation() const;
  LossEvent loss() const;

 private:
  using Noise = std::variant<DiscreteLaplaceSampler, DiscreteGaussianSampler>;
  PartitionThreshold(ApproxDp budget, PartitionLimits limits, std::int64_t threshold,
                     Delta threshold_delta, Noise noise)
      : budget_(budget),
        limits_(limits),
        threshold_(threshold),
        threshold_delta_(threshold_delta),
        noise_(std::move(noise)) {}

  double tail(std::int64_t t) const;  // about P[Z >= t]

  ApproxDp budget_;
  PartitionLimits limits_;
  std::int64_t threshold_;
  Delta threshold_delta_;
  Noise noise_;
};

}  // namespace discreet
