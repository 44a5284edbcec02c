// From rows of text to twins of text: the whole job, as verbs and statements ask for it.
//
// Guarantee: everything that is made is (epsilon, delta)-DP when one row is added or removed, for
//            the budget of the request: a tenth of it finds bins and keys where they are not
//            declared, the rest makes the twin.
// Proof:     docs/proofs/synth_measurements.md, docs/proofs/synth_selection.md
#pragma once

#include <string>
#include <vector>

#include "synth/encoding.h"
#include "synth/synthesize.h"

namespace discreet::synth {

struct RawTwinRequest {
  std::string workload = "3way";  ///< 1way, 2way ..., or JSON as Workload::parse reads it
  ApproxDp budget;
  SynthesisSettings settings{};
  std::size_t rows = 0;  ///< 0: a private estimate
  std::size_t twins = 1;
  bool refit = false;  ///< each twin from a fit of its own (FitContext::refit)
  std::size_t threads = 0;
  JobProgress progress = {};

  /// Whether it can be done for such columns, as far as can be told without rows.
  Result<void> check(const std::vector<ColumnSpec>& specs) const;
};

struct RawTwin {
  EncodedTable real;
  Workload workload;
  Twin twin;
  std::vector<RawTable> tables;
};

/// "3way": all marginals of three attributes with at most 50,000 cells; or JSON.
Result<Workload> workload_of(const std::string& text, const Domain& domain);

Result<RawTwin> fit_raw(const RawTable& raw, const std::vector<ColumnSpec>& specs,
                        const RawTwinRequest& request, RandomSource& random);

}  // namespace discreet::synth
