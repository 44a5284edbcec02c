// What EXPLAIN tells of grouping sets: errors before anything is paid.
#include <fmt/format.h>

#include "curator/tables_job.h"

namespace discreet {
namespace {

double half_width(double variance) {
  return tables::interval_half_width(variance, 0.95);
}

}  // namespace

std::optional<double> TablesJob::error95(std::size_t aggregate, std::size_t set) const {
  return layout_ ? error95(aggregate, set, *layout_) : std::nullopt;
}

std::optional<double> TablesJob::error95(std::size_t aggregate, std::size_t set,
                                         const Layout& layout) const {
  const Column& column = columns_[aggregate];
  if (column.count || rows_max_ == 0) return std::nullopt;
  const tables::Marginal asked = marginal(set, layout.axes);
  if (is_known(measures_[column.measure], asked, layout)) return 0;
  return half_width(layout.plans[column.measure]->variance(asked)) * measures_[column.measure].unit;
}

std::vector<std::string> TablesJob::notes(Engine& engine) const {
  // Keys of public tables: their rows say how many cells there are.
  std::optional<Layout> read = layout_;
  if ((!layout_ || !release_->public_counts.empty()) && engine.begin()) {
    if (const auto groups = Groups::make(*release_, engine)) {
      if (auto made = layout_ ? Result<Layout>(*layout_) : layout_of(*groups)) {
        read = *std::move(made);
        if (auto known = find_known(*read, *groups, engine)) read->known = *std::move(known);
      }
    }
    engine.end();
  }
  const Layout* layout = read ? &*read : nullptr;
  std::vector<std::string> lines;
  for (std::size_t set = 0; set < release_->grouping_sets->size(); ++set)
    lines.push_back(note(set, layout));
  return lines;
}

std::string TablesJob::note(std::size_t set, const Layout* layout) const {
  std::string keys, errors;
  // By the numbers of the keys in GROUP BY: their texts are the engine's.
  for (const std::size_t key : (*release_->grouping_sets)[set])
    keys += fmt::format("{}{}", keys.empty() ? "keys " : ", ", key + 1);
  for (std::size_t i = 0; layout != nullptr && i < columns_.size(); ++i) {
    const auto error = error95(i, set, *layout);
    if (!error) continue;
    errors += fmt::format("{}{} ±{:.4g}", errors.empty() ? "" : ", ", release_->aggregates[i].text,
                          *error);
    if (*error == 0) {
      errors += " (public, exact)";
      continue;
    }
    if (const auto runs = planned(set, layout->axes); runs != marginal(set, layout->axes)) {
      const std::size_t m = columns_[i].measure;
      errors += fmt::format(" (runs of values ±{:.4g})",
                            half_width(layout->plans[m]->variance(runs)) * measures_[m].unit);
    }
  }
  return fmt::format("grouping set ({}): {} at 95%", keys.empty() ? "total" : keys,
                     errors.empty() ? "error depends on rows read later" : errors);
}

}  // namespace discreet
