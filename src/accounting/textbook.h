// The composition and amplification theorems of the textbooks, each as one call.
//
// Guarantee: what the cited theorem gives, rounded up. They are shown beside the tight answers for
//            teaching and for choosing; admission and reports use filters and distributions.
#pragma once

#include <cstdint>
#include <span>

#include "privacy/neighbours.h"
#include "privacy/parameters.h"

namespace discreet {

/// Sums of epsilons and deltas. Dwork and Roth 2014. Holds however adaptively the
/// releases were chosen, parameters included (Rogers et al. 2016).
ApproxDp basic_composition(std::span<const ApproxDp> releases);
ApproxDp basic_composition(ApproxDp one, std::uint64_t count);

/// The largest epsilon and the largest delta: releases on disjoint parts of the data, under
/// add/remove (McSherry 2009). Under replace-one a unit may move from one part to
/// another, so the two largest of each are added.
ApproxDp parallel_composition(std::span<const ApproxDp> parts, Neighbours neighbours);

/// (e sqrt(2 k ln(1/slack)) + k e (e^e - 1), k d + slack). Dwork, Rothblum and Vadhan 2010; Dwork
/// and Roth 2014. InvalidParameter: slack not in (0, 1].
Result<ApproxDp> advanced_composition(ApproxDp one, std::uint64_t count, double slack);

/// (sum e_i^2 / 2 + sqrt(2 ln(1/slack) sum e_i^2), sum d_i + slack): different releases, by way of
/// concentrated privacy (Bun and Steinke 2016). Holds with parameters
/// chosen on the fly when a filter stops the sums (Whitehouse et al. 2023).
Result<ApproxDp> advanced_composition(std::span<const ApproxDp> releases, double slack);

/// The largest equal epsilon whose `count` releases stay within the target by advanced composition
/// with all of the target's delta as slack, rounded down. InvalidParameter: delta 0 or count 0.
Result<Epsilon> advanced_composition_share(ApproxDp target, std::uint64_t count);

/// (ln(1 + q (e^e - 1)), q d): each unit takes part with probability q. Balle, Barthe and Gaboardi
/// 2018 (add/remove). Under replace-one the inner guarantee must hold for replacing a
/// unit and for a unit that joins or leaves; then the same follows from their advanced joint
/// convexity. InvalidParameter: q outside [0, 1].
Result<ApproxDp> amplify_by_poisson_sampling(ApproxDp inner, double probability);

/// The same with q = sample / population: a uniform sample without replacement (same paper).
/// `inner` holds for replacing a unit; what is returned then holds for replacing one, and for one
/// that joins or leaves (docs/proofs/privacy_loss_distribution.md).
Result<ApproxDp> amplify_by_sampling_without_replacement(ApproxDp inner, std::uint64_t sample,
                                                         std::uint64_t population);

/// What the inner mechanism may spend when each unit takes part with probability q and the whole
/// must meet the target: the inverse of amplify_by_poisson_sampling, rounded down.
Result<ApproxDp> inner_budget_for_poisson_sampling(ApproxDp target, double probability);

}  // namespace discreet
