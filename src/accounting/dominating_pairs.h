// From loss events to dominating pairs: which law prices which event, under which neighbours and in
// which direction.
//
// Under add/remove the two directions (the unit leaves, the unit joins) are two plans, each
// composed as a whole; the answer is the worse one. Under replace-one the pairs are symmetric, and
// one plan serves. Additive noise of sensitivity s under add/remove has sensitivity 2 s under
// replacement; events that only state a guarantee (pure, approximate, zCDP, randomized response,
// bounded range) state it for the neighbours that are asked about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "accounting/loss_law.h"
#include "base/result.h"
#include "privacy/loss_event.h"
#include "privacy/neighbours.h"

namespace discreet {

enum class Direction { Remove, Add };

/// A law used `count` times. Equal keys mean equal laws.
struct LawCount {
  LossLawPtr law;
  std::uint64_t count;
  std::string key;
};

/// All that happened, sorted by how it can be composed.
struct LossPlan {
  Bracket gaussian_mu2;       ///< sum of (sensitivity / sigma)^2 over plain Gaussian releases
  Bracket zcdp_rho;           ///< sum over events known by their zCDP only
  double binary_epsilon = 0;  ///< the epsilon shared by all binary pairs, when binary_only
  std::uint64_t binary_count = 0;
  double binary_log_finite = 0;  ///< sum of ln(1 - delta) over all binary pairs
  std::vector<LawCount> laws;    ///< everything else, equal ones joined
  bool symmetric = true;         ///< both directions are equal

  bool gaussian_only() const { return laws.empty() && zcdp_rho.upper == 0; }
  bool zcdp_only() const { return laws.empty() && gaussian_mu2.upper == 0; }
  bool binary_only() const;
};

/// InvalidParameter: a number outside its range. Refused: an event for which no tight pair is known
/// here (the message says which).
Result<LossPlan> make_plan(const LossEvent& event, Neighbours neighbours, Direction direction);

/// The law of Gaussian releases together: one release with shift mu and unit noise.
LossLawPtr gaussian_law(double mu);

}  // namespace discreet
