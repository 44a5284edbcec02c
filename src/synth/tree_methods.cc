#include <algorithm>
#include <cmath>

#include "synth/tree_methods_internal.h"

namespace discreet::synth {

CodedTable refine_groups(const CodedTable& coarse, const Grouping& grouping, const Domain& domain,
                         Dice& dice) {
  CodedTable fine{domain, {}};
  for (std::size_t a = 0; a < domain.size(); ++a) {
    const AttributeGroups& groups = grouping.attributes[a];
    std::vector<std::vector<std::size_t>> rows_of(groups.members.size());
    for (std::size_t row = 0; row < coarse.rows(); ++row)
      rows_of[coarse.columns[a][row]].push_back(row);
    std::vector<std::uint16_t> column(coarse.rows());
    for (std::size_t g = 0; g < rows_of.size(); ++g) {
      auto& rows = rows_of[g];
      for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[dice.below(i)]);
      double position = dice.unit(), cumulated = 0;
      std::size_t filled = 0;
      for (const std::uint16_t value : groups.members[g]) {
        cumulated += groups.chance[value] * static_cast<double>(rows.size());
        for (; position < cumulated && filled < rows.size(); position += 1)
          column[rows[filled++]] = value;
      }
      for (; filled < rows.size(); ++filled) column[rows[filled]] = groups.members[g].front();
    }
    fine.columns.push_back(std::move(column));
  }
  return fine;
}

ModelMeasurement to_measurement(const NoisyMarginal& noisy) {
  return {noisy.attributes, {noisy.counts.begin(), noisy.counts.end()}, noisy.sigma};
}

void emit_tables(const GraphicalModel& model, const Grouping& grouping, const Domain& domain,
                 const FitContext& context, Dice& dice, Twin& twin) {
  const std::size_t rows = context.rows_out > 0
                               ? context.rows_out
                               : static_cast<std::size_t>(std::llround(grouping.rows_estimate));
  for (std::size_t t = 0; t < context.twins; ++t)
    twin.tables.push_back(refine_groups(model.sample(rows, dice), grouping, domain, dice));
}

}  // namespace discreet::synth
