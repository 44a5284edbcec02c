// Finds privately how much of each unit's contribution to keep, when nobody gave a bound.
//
// A unit's contribution has a size (a norm of its answer vector). Given N_i, the number of units
// whose size exceeds the i-th of a rising list of bounds, the search walks up the list and stops at
// the first bound that few enough units exceed: N_i - nu_i <= threshold - rho, with rho drawn once
// and every nu_i afresh, both geometric. Only the index is released. Guarantee: epsilon-DP when one
// unit joining raises N by one on a prefix of the list (as counting units above
//            rising bounds does) and leaves the rest; replacing a unit is removing and adding one.
// Assumes:   RandomSource yields independent uniform bits; the list of bounds and the threshold are
// public. Proof:     docs/proofs/bound_search.md
#pragma once

#include <cstdint>
#include <span>

#include "privacy/loss_event.h"
#include "random/geometric.h"

namespace discreet {

class BoundSearch {
 public:
  /// InvalidParameter: epsilon zero or so small that its noise does not fit 64-bit integers.
  static Result<BoundSearch> make(Epsilon epsilon, std::int64_t threshold);

  /// The threshold that balances clipping against noise: with `cells` released cells, noise of
  /// `noise_epsilon` each, stop when about cells / (2 noise_epsilon) units are still clipped, and
  /// stay 3 / epsilon above zero, so that the search's own noise does not run past the largest
  /// unit.
  static Result<BoundSearch> balanced(Epsilon epsilon, Epsilon noise_epsilon, std::uint64_t cells);

  /// The index of the bound to use; the last one when the search reaches the end. `above` is not
  /// empty and does not rise. All bounds are looked at, so the time does not depend on the index.
  std::size_t release(std::span<const std::int64_t> above, RandomSource& random) const;

  LossEvent loss() const { return loss::Pure{epsilon_}; }
  Epsilon epsilon() const { return epsilon_; }
  std::int64_t threshold() const { return threshold_; }

 private:
  BoundSearch(Epsilon epsilon, std::int64_t threshold, GeometricSampler noise)
      : epsilon_(epsilon), threshold_(threshold), noise_(std::move(noise)) {}

  Epsilon epsilon_;
  std::int64_t threshold_;
  GeometricSampler noise_;  // of rate epsilon / 2, for rho and for every nu
};

}  // namespace discreet
