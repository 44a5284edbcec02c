// How far a twin is from the real table. Reads the real rows without noise: NOT private, for
// benchmarks and for owners who look at it themselves.
#pragma once

#include <vector>

#include "synth/domain.h"
#include "synth/workers.h"
#include "synth/workload.h"

namespace discreet::synth {

struct MarginalScore {
  double max_error = 0;   ///< largest distance of a cell, as a fraction of the rows
  double mean_error = 0;  ///< over cells
  double tvd = 0;         ///< total variation distance
};

struct Score {
  double max_error = 0;   ///< over all cells
  double mean_error = 0;  ///< over all cells
  double mean_tvd = 0;    ///< over marginals
  std::vector<MarginalScore> marginals;
};

/// Both tables must have the same domain; each is compared as fractions of its own rows.
Score score_twin(const CodedTable& real, const CodedTable& twin, const Workload& workload,
                 Workers& workers);

}  // namespace discreet::synth
