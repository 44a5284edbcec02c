// AIM (McKenna, Mullins, Sheldon and Miklau 2022): adaptive and iterative. One-way marginals first;
// then, round by round, the marginal that the model gets most wrong is chosen by the exponential
// mechanism, measured, and a graphical model is fitted to everything measured so far. Rounds get
// louder (less noise) when a measurement taught nothing; the model's size is limited.
//
// Where the limit keeps marginals of the workload out (wide tables), answers are rebuilt from the
// residuals of everything measured, around the model (residuals.h): then any candidate may be
// chosen, and records are pulled towards the rebuilt marginals by a local search.
//
// Guarantee: (epsilon, delta)-DP by zCDP when one row is added or removed.
// Proof:     docs/proofs/synth_selection.md
#pragma once

#include "privacy/parameters.h"
#include "synth/fit.h"

namespace discreet::synth {

/// Where answers to marginals come from. Auto: residuals for workloads of up to 250 marginals whose
/// junction tree would not fit the size limit, from rho 0.01 on. Looks at released sizes only.
enum class Reconstruction { Auto, Model, Residual };

/// InvalidParameter names what there is.
Result<Reconstruction> parse_reconstruction(const std::string& name);

struct AimSettings {
  Reconstruction reconstruction = Reconstruction::Auto;
  double select_share = 0.1;        ///< of each round's budget
  double rounds_per_attribute = 8;  ///< plan before annealing
  std::uint64_t model_bytes = 2'000'000;
  int iterations = 120;  ///< of mirror descent per round
  int final_iterations = 1200;
  double group_sigmas = 1;               ///< values rarer than this many sigmas are merged
  std::uint32_t oversampling = 2;        ///< rows sampled per row to judge the model's marginals
  std::uint64_t proposals = 10'000'000;  ///< of the local search towards rebuilt marginals
};

Result<Twin> fit_aim(const CodedTable& table, const Workload& workload, ApproxDp target,
                     const AimSettings& settings, const FitContext& context);

}  // namespace discreet::synth
