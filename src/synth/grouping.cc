#include "synth/grouping.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace discreet::synth {
namespace {

// Light values in order (of position, or of size where positions mean nothing) until each group
// has mass enough; values with enough mass stay alone.
std::vector<std::vector<std::uint16_t>> form_groups(const Attribute& attribute,
                                                    const NoisyMarginal& counts, double least) {
  std::vector<std::uint16_t> order(attribute.size);
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  const auto count = [&](std::uint16_t value) { return static_cast<double>(counts.counts[value]); };
  if (!attribute.ordered)
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return count(a) > count(b); });
  std::vector<std::vector<std::uint16_t>> groups;
  std::vector<std::uint16_t> light;
  double mass = 0;
  std::ptrdiff_t last_light = -1;
  for (const std::uint16_t value : order) {
    if (count(value) >= least) {
      groups.push_back({value});
      continue;
    }
    light.push_back(value);
    mass += std::max(0.0, count(value));
    if (mass < least) continue;
    last_light = static_cast<std::ptrdiff_t>(groups.size());
    groups.push_back(std::move(light));
    light.clear();
    mass = 0;
  }
  if (!light.empty()) {
    if (last_light >= 0)
      groups[static_cast<std::size_t>(last_light)].insert(
          groups[static_cast<std::size_t>(last_light)].end(), light.begin(), light.end());
    else
      groups.push_back(std::move(light));
  }
  return groups;
}

// Chances within a group: James-Stein towards the group's mean from four values on, where it is
// better than the noisy counts themselves (Efron and Morris 1973).
void set_chances(const std::vector<std::uint16_t>& members, const NoisyMarginal& counts,
                 std::vector<double>& chance) {
  const auto size = static_cast<double>(members.size());
  double mean = 0;
  for (const auto value : members) mean += static_cast<double>(counts.counts[value]) / size;
  double spread = 0;
  for (const auto value : members)
    spread += std::pow(static_cast<double>(counts.counts[value]) - mean, 2);
  const double keep = members.size() < 4 ? 1
                      : spread > 0
                          ? std::max(0.0, 1 - (size - 3) * counts.sigma * counts.sigma / spread)
                          : 0;
  double sum = 0;
  for (const auto value : members) {
    chance[value] = std::max(0.0, mean + keep * (static_cast<double>(counts.counts[value]) - mean));
    sum += chance[value];
  }
  for (const auto value : members) chance[value] = sum > 0 ? chance[value] / sum : 1 / size;
}

}  // namespace

Grouping group_values(const Domain& domain, const std::vector<NoisyMarginal>& one_ways,
                      double sigmas) {
  std::vector<AttributeGroups> attributes;
  std::vector<Attribute> coarse;
  double rows = 0, weights = 0;
  for (std::size_t a = 0; a < domain.size(); ++a) {
    const NoisyMarginal& counts = one_ways[a];
    // Every one-way marginal sums to the number of rows, with noise that grows with its size.
    const double weight = 1 / (counts.sigma * counts.sigma * domain[a].size);
    rows += weight * static_cast<double>(
                         std::accumulate(counts.counts.begin(), counts.counts.end(), Int128{0}));
    weights += weight;
    AttributeGroups groups;
    groups.members = form_groups(domain[a], counts, sigmas * counts.sigma);
    groups.group_of.resize(domain[a].size);
    groups.chance.resize(domain[a].size);
    for (std::size_t g = 0; g < groups.members.size(); ++g) {
      double count = 0;
      for (const auto value : groups.members[g]) {
        groups.group_of[value] = static_cast<std::uint16_t>(g);
        count += static_cast<double>(counts.counts[value]);
      }
      groups.count.push_back(count);
      groups.sigma.push_back(counts.sigma *
                             std::sqrt(static_cast<double>(groups.members[g].size())));
      set_chances(groups.members[g], counts, groups.chance);
    }
    coarse.push_back(
        {domain[a].name, static_cast<std::uint32_t>(groups.members.size()), domain[a].ordered});
    attributes.push_back(std::move(groups));
  }
  return {std::move(attributes), Domain::make(std::move(coarse)).value(),
          std::max(1.0, rows / weights)};
}

CodedTable Grouping::coarsen(const CodedTable& table) const {
  CodedTable coarse{domain, {}};
  for (std::size_t a = 0; a < attributes.size(); ++a) {
    const auto& map = attributes[a].group_of;
    std::vector<std::uint16_t> column(table.rows());
    for (std::size_t row = 0; row < column.size(); ++row) column[row] = map[table.columns[a][row]];
    coarse.columns.push_back(std::move(column));
  }
  return coarse;
}

}  // namespace discreet::synth
