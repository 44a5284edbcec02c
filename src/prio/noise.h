// Noise that each server adds to its own share of a sum, so that the total is differentially
// private.
//
// Guarantee (full):    if at least one server adds its noise, the total, and everything the other
// servers
//                      and the collector see, is epsilon-DP (Laplace) or (epsilon, delta)-DP
//                      (Gaussian) for one client's reports under the stated relation.
// Guarantee (divided): if all servers add their part, the total is epsilon-DP with the noise of one
//                      server; a server that leaves its part out, or tells it, takes its part away.
// Assumes:   RandomSource yields independent uniform bits; the circuit was checked (a client cannot
//            contribute more than the circuit allows, but for the soundness error of the proof).
// Proof:     docs/proofs/prio_noise.md
#pragma once

#include <cstdint>
#include <optional>

#include "ledger/event.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/discrete_laplace.h"
#include "prio/noise_policy.h"
#include "prio/polya.h"
#include "prio/prio3.h"

namespace discreet::prio {

/// How far one client's report can move the vector of sums, in the circuit's own worst case.
struct CircuitSensitivity {
  double l1, l2;  ///< rounded up where they are not whole
};
CircuitSensitivity sensitivity(const Shape& shape, Neighbours neighbours);

/// The largest value of one entry of a measurement.
std::uint64_t entry_max(const Shape& shape);

/// Immutable; thread-safe.
class ShareNoise {
 public:
  /// InvalidParameter: epsilon or delta missing or out of range, Gaussian noise divided, noise too
  /// large.
  static Result<ShareNoise> make(const Shape& shape, unsigned servers, const NoisePolicy& policy);

  /// Fresh noise on every entry of one server's aggregate share.
  void add(const Prio3& prio, FieldVector& share, RandomSource& random) const;

  /// What one release costs, whoever of the other servers lies (full) or if none does (divided).
  LossEvent loss() const;
  ledger::Price price() const;
  const NoisePolicy& policy() const { return policy_; }

  /// 95 % of released entries are within this of the exact sum when all servers add noise: exact
  /// for one noise and for two Laplace noises, a bound for more.
  double error95() const;
  double variance() const;

  /// Refused: `reports` measurements and the noise (up to a chance of 2^-40 in all entries) could
  /// pass p / 2, where a negative total could not be told from a large one.
  Result<void> check_fits(std::uint64_t reports) const;

 private:
  ShareNoise(Shape shape, unsigned servers, NoisePolicy policy)
      : shape_(std::move(shape)), servers_(servers), policy_(policy) {}
  unsigned noises() const { return policy_.split == NoiseSplit::Full ? servers_ : 1; }

  Shape shape_;
  unsigned servers_;
  NoisePolicy policy_;
  std::optional<DiscreteLaplace> laplace_;
  std::optional<DiscreteGaussian> gaussian_;
  std::optional<PolyaSampler> polya_;
};

/// The same for any noise of this size, or none: sums without noise must not wrap round either.
Result<void> check_sums_fit(const Shape& shape, std::uint64_t reports, double noise = 0);

}  // namespace discreet::prio
