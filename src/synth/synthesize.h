// One private twin of a table, by any method: the entry point.
//
// Guarantee: the twin and everything else in the result is (epsilon, delta)-DP when one row is
//            added to or removed from the table.
// Proof:     docs/proofs/synth_measurements.md, docs/proofs/synth_selection.md
#pragma once

#include <optional>
#include <string>

#include "synth/aim.h"
#include "synth/fit.h"
#include "synth/latent.h"
#include "synth/rap.h"

namespace discreet::synth {

enum class Method { Auto, Latent, Aim, Mst, Rap, Independent };

/// InvalidParameter names the methods there are.
Result<Method> parse_method(const std::string& name);
const char* name(Method method);

struct SynthesisSettings {
  Method method = Method::Auto;
  bool fast = false;  ///< a fraction of the time for a little more error
  LatentSettings latent{};
  AimSettings aim{};
  RapSettings rap{};
};

/// What `auto` means for this domain, workload and budget. Looks at no rows.
Method choose_method(const Domain& domain, const Workload& workload, ApproxDp target);

Result<Twin> synthesize(const CodedTable& table, const Workload& workload, ApproxDp target,
                        const SynthesisSettings& settings, const FitContext& context);

}  // namespace discreet::synth
