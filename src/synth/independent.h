// Independent columns: one-way marginals only. The baseline, and the right choice when only single
// columns matter.
//
// Guarantee: (epsilon, delta)-DP when one row is added or removed.
// Proof:     docs/proofs/synth_measurements.md
#pragma once

#include "privacy/parameters.h"
#include "synth/fit.h"

namespace discreet::synth {

Result<Twin> fit_independent(const CodedTable& table, ApproxDp target, const FitContext& context);

}  // namespace discreet::synth
