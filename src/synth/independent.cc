#include "synth/independent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "synth/grouping.h"

namespace discreet::synth {

Result<Twin> fit_independent(const CodedTable& table, ApproxDp target, const FitContext& context) {
  const Domain& domain = table.domain;
  std::vector<Clique> one_ways;
  for (std::uint32_t a = 0; a < domain.size(); ++a) one_ways.push_back({a});
  DISCREET_TRY(auto measurements,
               Measurements::make(target, std::vector<double>(domain.size(), 1.0), domain.width()));
  Twin twin;
  twin.rho = measurements.rho();
  twin.measured = measurements.measure(table, one_ways, context.workers, context.random);
  twin.events = measurements.events();
  const Grouping grouping = group_values(domain, twin.measured, 3);
  twin.rows_estimate = grouping.rows_estimate;
  const std::size_t rows = context.rows_out > 0
                               ? context.rows_out
                               : static_cast<std::size_t>(std::llround(grouping.rows_estimate));
  Dice dice(context.random);
  for (std::size_t t = 0; t < context.twins; ++t) {
    CodedTable records{domain, {}};
    for (std::size_t a = 0; a < domain.size(); ++a) {
      const AttributeGroups& groups = grouping.attributes[a];
      std::vector<double> mass(domain[a].size, 0);
      double sum = 0;
      for (std::size_t v = 0; v < mass.size(); ++v) {
        mass[v] = std::max(0.0, groups.count[groups.group_of[v]]) * groups.chance[v];
        sum += mass[v];
      }
      std::vector<std::uint16_t> column(rows);
      double position = dice.unit(), cumulated = 0;
      std::size_t filled = 0;
      for (std::size_t v = 0; v < mass.size(); ++v) {
        cumulated += (sum > 0 ? mass[v] / sum : 1.0 / static_cast<double>(mass.size())) *
                     static_cast<double>(rows);
        for (; position < cumulated && filled < rows; position += 1)
          column[filled++] = static_cast<std::uint16_t>(v);
      }
      for (; filled < rows; ++filled) column[filled] = column[filled > 0 ? filled - 1 : 0];
      for (std::size_t i = rows; i > 1; --i) std::swap(column[i - 1], column[dice.below(i)]);
      records.columns.push_back(std::move(column));
    }
    twin.tables.push_back(std::move(records));
  }
  twin.notes.push_back(
      fmt::format("independent: {} one-way marginals, noise of standard deviation {:.4g}",
                  domain.size(), twin.measured.front().sigma));
  return twin;
}

}  // namespace discreet::synth
