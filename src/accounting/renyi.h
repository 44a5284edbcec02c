// Renyi divergence of a loss event, order by order: the currency of the adaptive filters.
//
// Guarantee: the value is not below D_order(M(x) || M(x')) for any neighbours x, x' and any
//            mechanism the event describes. Pairs of event and relation without a proved bound are
//            refused, never guessed.
// Tight:     pure, randomized response, Laplace, discrete Laplace, Gaussian, bounded range,
//            discrete Gaussian at integer sensitivities; Poisson samples of any of these that has a
//            dominating pair, under add/remove, and of Gaussian noise under replace-one, by
//            quadrature with a bound on its error.
// Bounds:    Poisson samples of anything else (Zhu and Wang 2019); samples without
//            replacement, and other Poisson samples under replace-one (advanced joint convexity:
//            Balle, Barthe and Gaboardi 2018; Wang, Balle and Kasiviswanathan 2019);
//            groups of sampled events (Mironov 2017, on group privacy).
//
// Under ReplaceOne an event with a sensitivity is priced at twice it; a stated epsilon or rho is
// taken to hold for that relation (docs/formats/loss_events.md).
#pragma once

#include "privacy/loss_event.h"
#include "privacy/neighbours.h"

namespace discreet {

/// The divergence of this order, rounded up. InvalidParameter: the order is not above 1 and
/// finite. Refused: no bound is known for the event under this relation, or the event has a delta
/// of its own, for which every divergence is infinite (use approximate_renyi_divergence).
Result<double> renyi_divergence(const LossEvent& event, double order, Neighbours neighbours);

/// A divergence that holds outside a failure of probability delta: "delta-approximate" in Bun and
/// Steinke 2016, Definition 8.1. Divergences and deltas both add under composition.
struct ApproximateRenyi {
  double divergence;
  double delta;
};

/// As above, for events that may have a delta. An (epsilon, delta)-DP event is epsilon-DP outside
/// a failure of probability delta (Kairouz, Oh and Viswanath 2015's simulation).
Result<ApproximateRenyi> approximate_renyi_divergence(const LossEvent& event, double order,
                                                      Neighbours neighbours);

}  // namespace discreet
