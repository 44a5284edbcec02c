// Turning a wanted privacy into noise, shares and counts.
//
// Guarantee: every answer, priced again with the same function, meets the target; answers err on
// the
//            private side (noise up, shares and counts down).
// Assumes:   more noise and fewer releases never cost more, which holds for every event kind.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "privacy/loss_event.h"
#include "privacy/neighbours.h"

namespace discreet {

/// The epsilon of an event at a delta, rounded up.
using Pricing = std::function<Result<double>(const LossEvent& event, Delta delta)>;

/// By Renyi divergences: also valid for releases chosen on the fly.
Pricing renyi_pricing(Neighbours neighbours);
/// The upper end of the privacy loss distribution's interval: for releases fixed in advance.
Pricing tight_pricing(Neighbours neighbours);

/// A mechanism with one dial: more noise, less loss. For example a scale or a sigma.
using EventFamily = std::function<Result<LossEvent>(double noise)>;

/// The same releases with one of them made this often.
using CountFamily = std::function<Result<LossEvent>(std::uint64_t count)>;

struct NoiseSearch {
  double relative_tolerance = 1e-6;
  double noise_min = 1e-6;  ///< less noise than this is never tried
  double noise_max = 1e12;
};

/// The least noise with which `releases` of the family's event meet the target, to within the
/// tolerance from above. Refused: even noise_max does not meet it.
Result<double> least_noise(const EventFamily& family, std::uint64_t releases, ApproxDp target,
                           const Pricing& pricing, const NoiseSearch& search = {});

/// How many releases of this event the target pays for; 0 when not even one. At most `limit`.
Result<std::uint64_t> most_releases(const LossEvent& event, ApproxDp target, const Pricing& pricing,
                                    std::uint64_t limit = std::uint64_t{1} << 40);

/// The same where other releases are made beside the counted ones.
Result<std::uint64_t> most_counted_releases(const CountFamily& family, ApproxDp target,
                                            const Pricing& pricing, std::uint64_t limit);

/// One question of a workload: how far one unit moves it, and how much its error matters.
struct WeightedQuestion {
  double sensitivity;
  double weight = 1;
};

/// Shares of epsilon that minimise the weighted sum of variances under Laplace noise: proportional
/// to (weight sensitivity^2)^(1/3), by Lagrange. The shares add up to at most the whole.
/// InvalidParameter: no questions, or a sensitivity or weight that is not positive and finite.
Result<std::vector<Epsilon>> split_for_laplace(std::span<const WeightedQuestion> questions,
                                               Epsilon total);

/// The same for the weighted sum of mean absolute errors: proportional to (weight
/// sensitivity)^(1/2).
Result<std::vector<Epsilon>> split_for_laplace_absolute(std::span<const WeightedQuestion> questions,
                                                        Epsilon total);

/// Shares of rho that minimise the weighted sum of variances under Gaussian noise: proportional to
/// sensitivity sqrt(weight).
Result<std::vector<Rho>> split_for_gaussian(std::span<const WeightedQuestion> questions, Rho total);

}  // namespace discreet
