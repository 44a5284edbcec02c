// From a fitted model to whole records: systematic sampling, then an integer local search that
// pulls the records' counts towards the model's marginals. Post-processing only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synth/dice.h"
#include "synth/domain.h"
#include "synth/mixture.h"

namespace discreet::synth {

/// `rows` records: every component gets its share of them, and within a component each value of an
/// attribute appears its expected number of times, rounded down or up at random.
CodedTable sample_mixture(const Mixture& model, std::size_t rows, Dice& dice);

/// What the search pulls towards: wanted counts of a marginal, in the clique's order.
struct SearchTarget {
  Clique attributes;
  std::vector<float> counts;
};

/// Tries `proposals` times to give one record another record's value of one attribute, and keeps
/// the change when it lowers the sum of squared distances to the targets. Refused when `progress`
/// says stop.
Result<void> local_search(CodedTable& table, std::span<const SearchTarget> targets,
                          std::uint64_t proposals, Dice& dice, const Progress& progress);

}  // namespace discreet::synth
