// One Gaussian budget for a whole training run: every number a trainer learns from rows passes
// through here, as whole numbers with exact discrete Gaussian noise.
//
// Guarantee: what is released through one GaussianBudget is together (epsilon, delta)-DP for its
//            target, however sensitivities, sizes and the number of later releases were chosen from
//            earlier ones: releases cost shares of mu^2 that never add up to more than one, and are
//            paid before noise is drawn. The number of rows stays private.
// Assumes:   add/remove of one row; the caller's L2 sensitivities; RandomSource yields independent
//            uniform bits.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "privacy/loss_event.h"
#include "privacy/parameters.h"
#include "random/random_source.h"

namespace discreet::learn {

/// Not safe for concurrent use.
class GaussianBudget {
 public:
  /// InvalidParameter: epsilon not positive and finite, or delta not strictly between 0 and 1.
  static Result<GaussianBudget> make(ApproxDp target);
  /// For a run that may be mu-Gaussian-DP where something else turns that into (epsilon, delta)
  /// (selection.h). InvalidParameter: not positive and finite.
  static Result<GaussianBudget> of_mu(double mu, ApproxDp target);

  /// Adds fresh noise in place and returns its standard deviation. `sensitivity` bounds the L2
  /// distance of the whole vector between neighbours; `share` is the part of mu^2 it takes.
  /// BudgetExhausted: more than what is left. InvalidParameter: noise that does not fit.
  Result<double> release(std::span<std::int64_t> exact, double sensitivity, double share,
                         RandomSource& random);

  /// Sums of z z^T, where every row has |z|^2 <= `norm2_max`: the diagonal first, then the part
  /// above it, whose noise is smaller by the root of two because those entries count twice. Returns
  /// the standard deviation on the diagonal.
  Result<double> release_symmetric(std::span<std::int64_t> diagonal, std::span<std::int64_t> above,
                                   double norm2_max, double share, RandomSource& random);

  /// A vector that is released piece by piece, later pieces chosen after seeing earlier ones (a
  /// tree over time): paid at once, for all pieces together of this L2 sensitivity.
  class Reserved;
  Result<Reserved> reserve(double sensitivity, double share);

  /// The standard deviation that release() would use.
  double sigma(double sensitivity, double share) const;
  /// The whole run is mu-Gaussian-DP.
  double mu() const { return mu_; }
  /// The part of mu^2 that is left, 0 to 1.
  double left() const;
  ApproxDp target() const { return target_; }
  /// One for each draw of noise.
  const std::vector<LossEvent>& events() const { return events_; }

 private:
  GaussianBudget(ApproxDp target, double mu) : target_(target), mu_(mu) {}
  Result<void> pay(double share);
  Result<double> draw(std::span<std::int64_t> exact, double sensitivity, double share,
                      RandomSource& random);

  ApproxDp target_;
  double mu_;  // rounded down
  double spent_ = 0;
  std::uint64_t coordinates_ = 0;
  std::vector<LossEvent> events_;
  struct Noise;
  std::shared_ptr<const Noise> last_;  // steps and trees ask for the same noise again and again
};

class GaussianBudget::Reserved {
 public:
  double sigma() const { return sigma_; }
  /// Adds fresh noise in place.
  void draw(std::span<std::int64_t> exact, GaussianBudget& budget, RandomSource& random) const;

 private:
  friend class GaussianBudget;
  Reserved(double sensitivity, double share, double sigma)
      : sensitivity_(sensitivity), share_(share), sigma_(sigma) {}
  double sensitivity_, share_, sigma_;
};

}  // namespace discreet::learn
