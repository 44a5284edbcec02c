// The latent-class method: every marginal of the workload is measured once, a mixture of products
// is fitted to all of them, and records are made from it.
//
// Guarantee: (epsilon, delta)-DP when one row is added or removed; the number of rows is private.
// Proof:     docs/proofs/synth_measurements.md
// Note:      kin of relaxed projection, which a patent describes (docs/synthetic.md).
#pragma once

#include "privacy/parameters.h"
#include "synth/fit.h"

namespace discreet::synth {

struct LatentSettings {
  std::uint32_t components = 336;
  std::uint32_t steps = 1300;
  double rate = 0.15;
  double penalty = 0.12;  ///< lambda over the mu of all noise together, at mu = 0.18
  std::uint32_t batch = 16;
  std::uint64_t proposals = 10'000'000;  ///< of the local search
  double group_sigmas = 0;               ///< rarer values are merged; 0: by rule from the budget
  std::uint32_t covers = 0;  ///< times that a part of a large workload covers a pair; 0: by rule
  static LatentSettings fast();
};

Result<Twin> fit_latent(const CodedTable& table, const Workload& workload, ApproxDp target,
                        const LatentSettings& settings, const FitContext& context);

}  // namespace discreet::synth
