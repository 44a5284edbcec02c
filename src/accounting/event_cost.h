// What one loss event costs in the currency of each filter.
//
// Guarantee: rounded up, and valid for the event under the given relation. Refused where the event
//            has no finite cost in that currency (Gaussian noise is not pure, Laplace noise is not
//            Gaussian by itself), never converted the wrong way.
#pragma once

#include <span>
#include <vector>

#include "privacy/loss_event.h"
#include "privacy/neighbours.h"

namespace discreet {

/// (epsilon, delta): the sums of basic composition. For samples by amplification (textbook.h), for
/// groups by group privacy. Refused: Gaussian, discrete Gaussian and zCDP events.
Result<ApproxDp> basic_cost(const LossEvent& event, Neighbours neighbours);

/// zCDP outside a failure of probability delta (Bun and Steinke 2016, Definition 8.1).
struct ConcentratedCost {
  Rho rho;
  Delta delta;
};

/// Pure events cost epsilon^2/2, bounded range epsilon^2/8, Gaussian mu^2/2. A sample costs the
/// lesser of its whole and, for events with an epsilon, the amplified epsilon: zCDP itself
/// does not amplify.
Result<ConcentratedCost> concentrated_cost(const LossEvent& event, Neighbours neighbours);

/// Divergences at the given orders, outside a failure of probability delta.
struct RenyiCost {
  std::vector<double> divergences;
  double delta;
};
Result<RenyiCost> renyi_cost(const LossEvent& event, std::span<const double> orders,
                             Neighbours neighbours);

/// mu^2 of Gaussian differential privacy. Gaussian events exactly; events with an epsilon by
/// mu = 2 Phi^-1(e^eps / (1 + e^eps)), whose trade-off curve lies below that of randomized
/// response. Refused: discrete Gaussian, zCDP, samples, and events with a delta.
Result<double> gaussian_cost(const LossEvent& event, Neighbours neighbours);

}  // namespace discreet
