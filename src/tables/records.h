// Whole records behind released marginals, for tables too large to write down.
//
// All marginals of one set of records are whole, not negative and consistent with each other by
// construction. The records are made to fit what was released: a latent-class model is fitted to
// the estimated marginals, sampled, and the sample searched for changes of single values that bring
// its marginals nearer to a blend of model and estimate, each weighted by what the other's error
// seems to be (synth/mixture.h, synth/records.h). A public total is kept exactly.
// Post-processing only. The same note as for synthetic data applies: kin of relaxed projection,
// which a patent describes (docs/synthetic.md).
#pragma once

#include <cstdint>
#include <optional>

#include "synth/fit.h"
#include "tables/release.h"

namespace discreet::tables {

struct RecordSettings {
  std::uint32_t components = 128;
  std::uint32_t steps = 400;
  double rate = 0.2;
  double penalty = 0.124;  ///< lambda over the mu of the whole release, as in synth/latent.h
  std::uint32_t batch = 16;
  std::uint64_t proposals = 2'000'000;
  double group_sigmas = 2;  ///< rarer values than this share their cells when the model is fitted
};

/// Records whose marginals are near those released. InvalidParameter: the plan does not measure
/// every attribute's own marginal.
Result<synth::CodedTable> fit_records(const Released& released, std::optional<std::uint64_t> total,
                                      const RecordSettings& settings,
                                      const synth::FitContext& context);

}  // namespace discreet::tables
