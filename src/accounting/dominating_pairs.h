// From loss events to dominating pairs: which law prices which event, under which neighbours and in
// which direction.
//
// Under add/remove the two directions (the unit leaves, the unit joins) are two plans, each
// composed as a whole; the answer is the worse one. Under replace-one the pairs are symmetric, and
// one plan serves. Additive noise of sensitivity s under add/remove has sensitivity 2 s under
// replacement; events that only state a guarantee (pure, approximate, zCDP, randomized response,
// bounded range) state it for the neighbours that are asked about.
//
// Pairs: randomized response for pure and approximate DP (Kairouz, Oh and Viswanath 2015); shifted
// noise for additive noise; ((1-q)Q + qP, Q) and its reverse for Poisson samples under add/remove
// (Zhu, Dong and Wang 2022, on subsampling); ((1-q)Q + qP, (1-q)Q + qP') under replacement, with P
// and P' shifted to opposite sides. A sample without replacement under add/remove: the pairs of a
// Poisson sample, with P and Q as far apart as replacing puts them, because the sample without the
// unit has another in its place; under replace-one the same made symmetric (symmetric_law.h).
// Argument: docs/proofs/privacy_loss_distribution.md. For bounded range the law with profile (1 -
// e^{(x-e)/2})^2 / (1 - e^{-e}), the largest over its worst pairs (Dong, Durfee and Rogers 2020).
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
  LossLawPtr lower = nullptr;  ///< a mechanism of the kind, where `law` only bounds them; or null
};

/// Releases of randomized response of one epsilon, or anything as bad.
struct BinaryCount {
  double epsilon;
  std::uint64_t count;
};

/// All that happened, sorted by how it can be composed.
struct LossPlan {
  Bracket gaussian_mu2;             ///< sum of (sensitivity / sigma)^2 of plain Gaussian releases
  double rho = 0;                   ///< sum over events known by their zCDP only
  std::vector<BinaryCount> binary;  ///< pure and approximate DP, by increasing epsilon
  Bracket log_finite;               ///< sum of ln(1 - delta) of the latter
  double failures = 0;              ///< sum of these deltas, exact for a single one
  std::vector<LawCount> laws;       ///< everything else, equal ones joined
  bool symmetric = true;            ///< the other direction's plan is equal

  bool only_gaussian() const { return laws.empty() && binary.empty() && rho == 0; }
  bool only_zcdp() const { return laws.empty() && binary.empty() && gaussian_mu2.upper == 0; }
  bool only_binary() const { return laws.empty() && gaussian_mu2.upper == 0 && rho == 0; }
};

/// InvalidParameter: a number outside its range. Refused: an event for which no pair is known here
/// (the message says which).
Result<LossPlan> make_plan(const LossEvent& event, Neighbours neighbours, Direction direction);

/// The law of plain Gaussian releases together: one release with this shift and unit noise.
LossLawPtr gaussian_law(double mu);

/// The law of randomized response of this epsilon among `values` answers.
LossLawPtr randomized_response_law(double epsilon, std::uint64_t values = 2);

}  // namespace discreet
