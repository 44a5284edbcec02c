// Noisy stochastic gradients done right: who takes part in a step is an exact coin for each row
// (Poisson sampling), every row's gradient is clipped, sums are whole numbers with exact discrete
// Gaussian noise, and the price is that of the loss distribution of all steps together.
//
// Guarantee: a plan from plan_sgd() with its first release and its steps is (epsilon, delta)-DP
// under
//            add/remove of one row.
// Assumes:   the caller samples anew for each step with PoissonBatches and bounds each row's share.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include <cstdint>
#include <vector>

#include "privacy/parameters.h"
#include "random/random_source.h"

namespace discreet::learn {

struct SgdPlan {
  double rate = 1;  ///< each row takes part in a step with this chance
  std::uint64_t steps = 1;
  double multiplier = 0;  ///< noise of a step, in units of the clipping norm
  double first_mu = 0;    ///< of the full-data release before the steps; 0: none
};

/// The least noise (to half a percent) for these steps after a full release that takes
/// `first_share` of the mu^2 that the target would allow to full releases alone. InvalidParameter:
/// a rate not within (0, 1], no steps, a share not within [0, 1). Refused: no noise is enough.
Result<SgdPlan> plan_sgd(ApproxDp target, double rate, std::uint64_t steps, double first_share);

/// What the plan costs at this delta, by the loss distribution; an upper bound.
Result<double> sgd_epsilon(const SgdPlan& plan, double delta);

/// Rows that take part in one step, each by its own exact coin.
class PoissonBatches {
 public:
  /// InvalidParameter: not within (0, 1].
  static Result<PoissonBatches> make(double rate);
  std::vector<std::uint32_t> draw(std::size_t rows, RandomSource& random) const;

 private:
  explicit PoissonBatches(double rate) : rate_(rate) {}
  double rate_;
};

}  // namespace discreet::learn
