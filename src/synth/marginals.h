// Exact counts: how many rows fall into each cell of a marginal. Private until noise is added, so
// nothing but noisy_marginals.h and score.h may call this on private rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synth/domain.h"
#include "synth/workers.h"

namespace discreet::synth {

/// Row-major in the clique's own order of attributes: the last one varies fastest.
std::vector<std::int64_t> count_marginal(const CodedTable& table,
                                         std::span<const std::uint32_t> clique);

/// One thread per marginal. Where many are small, columns are packed into bits first.
std::vector<std::vector<std::int64_t>> count_marginals(const CodedTable& table,
                                                       std::span<const Clique> cliques,
                                                       Workers& workers);

}  // namespace discreet::synth
