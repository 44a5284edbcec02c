// A part of a large workload that still shows every pair of attributes several times.
//
// Measuring m marginals needs noise that grows with the root of m. Past a few hundred, a part that
// covers every pair teaches a latent-class model more than the whole under more noise (measured in
// docs/synthetic.md). Chosen from the domain and the workload only.
#pragma once

#include "synth/workload.h"

namespace discreet::synth {

/// Greedy: each time the marginal that covers most pairs not yet covered `times` times, the one
/// with fewer cells among equals.
Workload cover_pairs(const Workload& workload, const Domain& domain, std::uint32_t times);

}  // namespace discreet::synth
