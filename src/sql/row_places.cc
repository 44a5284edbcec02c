#include <algorithm>
#include <utility>

#include "sql/question.h"
#include "sql/row_places_internal.h"

namespace discreet::sql {
namespace {

bool reads(const Scalar& scalar, ColumnId column) {
  bool found = false;
  for_each_column(scalar, [&](ColumnId id) { found |= id == column; });
  return found;
}

}  // namespace

bool is_row_by_row(const Plan& plan) {
  if (const auto* filter = std::get_if<Filter>(&plan.node)) return is_row_by_row(*filter->input);
  if (const auto* project = std::get_if<Project>(&plan.node)) return is_row_by_row(*project->input);
  const auto* scan = std::get_if<Scan>(&plan.node);
  return scan != nullptr && !scan->row_number;
}

bool is_whole_table(const Plan& plan) {
  if (const auto* project = std::get_if<Project>(&plan.node))
    return is_whole_table(*project->input);
  return std::holds_alternative<Scan>(plan.node);
}

const Scan& scan_below(const Plan& plan) {
  if (const auto* filter = std::get_if<Filter>(&plan.node)) return scan_below(*filter->input);
  if (const auto* project = std::get_if<Project>(&plan.node)) return scan_below(*project->input);
  return std::get<Scan>(plan.node);
}

bool is_tables_own(const Plan& plan, ColumnId column) {
  if (const auto* filter = std::get_if<Filter>(&plan.node))
    return is_tables_own(*filter->input, column);
  if (const auto* project = std::get_if<Project>(&plan.node))
    return std::any_of(project->outputs.begin(), project->outputs.end(), [&](const auto& output) {
      const auto* use = std::get_if<ColumnUse>(&output.second->node);
      return output.first == column && use != nullptr && is_tables_own(*project->input, use->id);
    });
  const auto& columns = std::get<Scan>(plan.node).columns;
  return std::any_of(columns.begin(), columns.end(),
                     [&](const Scan::Column& one) { return one.id == column; });
}

std::optional<Placed> with_places(const Plan& plan, ColumnId column) {
  if (const auto* filter = std::get_if<Filter>(&plan.node)) {
    if (reads(*filter->predicate, column)) return std::nullopt;
    auto below = with_places(*filter->input, column);
    if (below) below->plan = make_plan(Filter{below->plan, filter->predicate});
    return below;
  }
  if (const auto* project = std::get_if<Project>(&plan.node)) {
    const ColumnUse* source = nullptr;
    for (const auto& [id, value] : project->outputs)
      if (id == column) source = std::get_if<ColumnUse>(&value->node);
    if (source == nullptr) return std::nullopt;
    for (const auto& [id, value] : project->outputs)
      if (id != column && reads(*value, source->id)) return std::nullopt;
    auto below = with_places(*project->input, source->id);
    if (below) below->plan = make_plan(Project{below->plan, project->outputs});
    return below;
  }
  Scan scan = std::get<Scan>(plan.node);
  for (auto& one : scan.columns) {
    if (one.id != column) continue;
    Placed placed{nullptr, std::exchange(one.name, kPlaceColumn)};
    scan.table = placed_table(scan.table);
    placed.plan = make_plan(std::move(scan));
    return placed;
  }
  return std::nullopt;
}

}  // namespace discreet::sql
