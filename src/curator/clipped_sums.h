// Releases sums to which a unit may contribute many rows in many groups, when nobody gave a bound.
//
// A unit's contributions to all sums and groups are one vector. Its size is an L1 norm in which
// each sum is measured by its declared row maximum. A bound B on the size is found privately
// (BoundSearch, a quarter of epsilon), every unit's vector is scaled down to B where it is larger,
// and discrete Laplace noise for an L1 sensitivity of B is added to every cell. Guarantee:
// epsilon-DP for all cells together, under add/remove of a unit. Assumes:   the contributions are
// grouped by unit; groups and sums are public or already released. Proof:
// docs/proofs/clipped_sums.md
#pragma once

#include <vector>

#include "base/rational.h"
#include "curator/contributions.h"
#include "curator/sums.h"
#include "privacy/loss_event.h"

namespace discreet {

struct NoisySums {
  std::vector<std::vector<Int128>> cells;  ///< by sum, by group
  std::vector<double> noise_sd;            ///< by sum
  double bound =
      0;  ///< rows of largest size that a unit may add (bounded sums), or units of the grid
};

class ClippedSums {
 public:
  /// `chosen` are indexes of `sums` to release together; either all bounded, or a single one.
  static Result<ClippedSums> make(Epsilon epsilon, std::vector<Sum> sums,
                                  std::optional<std::uint64_t> rows_max);

  NoisySums release(const Contributions& contributions, std::size_t groups,
                    RandomSource& random) const;

  LossEvent loss() const { return loss::Pure{epsilon_}; }
  /// What the noise would be at a bound of one row of largest size: the yardstick EXPLAIN can give.
  double noise_sd_per_row(std::size_t sum) const;

 private:
  ClippedSums(Epsilon epsilon, std::vector<Sum> sums) : epsilon_(epsilon), sums_(std::move(sums)) {}
  UInt128 size_of(Int128 value, std::size_t sum) const;
  Rational rate(std::size_t sum, const BigInt& bound) const;

  Epsilon epsilon_;
  std::vector<Sum> sums_;
  Epsilon search_ = Epsilon::zero(), noise_ = Epsilon::zero();
  std::vector<UInt128> bounds_;  // rising, in units of size
};

}  // namespace discreet
