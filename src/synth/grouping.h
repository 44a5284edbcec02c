// Values too rare to be seen through the noise are measured together. Decided from noisy one-way
// marginals only, so it is post-processing.
#pragma once

#include <cstdint>
#include <vector>

#include "synth/dice.h"
#include "synth/domain.h"
#include "synth/noisy_marginals.h"

namespace discreet::synth {

struct AttributeGroups {
  std::vector<std::uint16_t> group_of;              ///< per value
  std::vector<std::vector<std::uint16_t>> members;  ///< per group
  /// Per value, its chance within its group.
  std::vector<double> chance;
  /// Per group, the noisy count and its standard deviation.
  std::vector<double> count, sigma;
};

struct Grouping {
  std::vector<AttributeGroups> attributes;
  Domain domain;         ///< of groups
  double rows_estimate;  ///< how many rows there are, as the noisy one-ways say; at least 1

  /// The table in codes of groups.
  CodedTable coarsen(const CodedTable& table) const;
};

/// `one_ways` holds attribute i at position i. A group's noisy count is at least `sigmas` standard
/// deviations of one cell, where values suffice for that.
Grouping group_values(const Domain& domain, const std::vector<NoisyMarginal>& one_ways,
                      double sigmas);

/// Each record of groups gets one value of its group, systematically.
CodedTable refine_groups(const CodedTable& coarse, const Grouping& grouping, const Domain& domain,
                         Dice& dice);

}  // namespace discreet::synth
