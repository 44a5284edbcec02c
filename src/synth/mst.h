// MST (McKenna, Miklau and Sheldon 2021): a third of the budget for one-way marginals, a third to
// choose a spanning tree of the pairs that are furthest from independent, a third to measure the
// tree's pairs; a graphical model is fitted to them.
//
// Guarantee: (epsilon, delta)-DP by zCDP when one row is added or removed.
// Proof:     docs/proofs/synth_selection.md
#pragma once

#include "privacy/parameters.h"
#include "synth/fit.h"

namespace discreet::synth {

Result<Twin> fit_mst(const CodedTable& table, const Workload& workload, ApproxDp target,
                     const FitContext& context);

}  // namespace discreet::synth
