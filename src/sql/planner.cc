#include "sql/planner.h"

#include <algorithm>

#include <fmt/format.h>

#include "sql/binder_internal.h"
#include "sql/emit.h"
#include "sql/error_columns.h"
#include "sql/explain.h"

namespace discreet::sql {
namespace {

/// Which column of this release it is (PlannedQuestion::picked). Nothing: it is computed.
std::optional<std::size_t> picked_column(const Plan& plan, ColumnId column, std::size_t release) {
  if (const auto* project = std::get_if<Project>(&plan.node)) {
    for (const auto& [id, value] : project->outputs)
      if (const auto* use = std::get_if<ColumnUse>(&value->node); id == column && use != nullptr)
        return picked_column(*project->input, use->id, release);
    return std::nullopt;
  }
  const auto* table = std::get_if<ReleasedTable>(&plan.node);
  if (table == nullptr || table->joint || table->index != release) return std::nullopt;
  std::vector<ColumnId> columns = table->keys;
  columns.insert(columns.end(), table->aggregates.begin(), table->aggregates.end());
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

std::optional<std::vector<std::size_t>> picked_columns(const Plan& plan,
                                                       const std::vector<ColumnId>& columns,
                                                       const std::vector<Release>& releases) {
  if (releases.empty() || releases.back().grouping_sets) return std::nullopt;
  std::vector<std::size_t> picked;
  for (const ColumnId column : columns) {
    const auto one = picked_column(plan, column, releases.size() - 1);
    if (!one) return std::nullopt;
    picked.push_back(*one);
  }
  return picked;
}

}  // namespace

Result<PlannedQuestion> Binder::bind(const Query& query) {
  DISCREET_TRY(auto relation, bind_query(query, nullptr));
  if (relation.privacy == Privacy::Private) {
    const Field* by = anchored(relation);
    const bool shows_key = by != nullptr && !by->name.empty();
    const int position = query.targets.empty() ? query.position : query.targets.front().position;
    return source_.refuse(
        position,
        shows_key ? fmt::format("every row of the result would be one person's: '{}' tells whose",
                                by->name)
                  : "the result would be rows of people",
        shows_key ? fmt::format(
                        "Leave '{}' out of GROUP BY and SELECT, or aggregate the result once more",
                        by->name)
                  : "Aggregate them: count(*), sum(x), avg(x), ... with GROUP BY");
  }
  PlannedQuestion question;
  std::vector<ColumnId> shown;
  std::string columns, texts;
  const auto add_text = [&texts](ColumnId column) {
    texts += fmt::format("{}CAST({} AS VARCHAR)", texts.empty() ? "" : ", ", column_name(column));
  };
  for (const Field& field : relation.fields) {
    if (field.name.empty()) continue;
    shown.push_back(field.id);
    columns += fmt::format("{}{} AS {}", columns.empty() ? "" : ", ", column_name(field.id),
                           quote_name(field.name));
    add_text(field.id);
    OutputColumn output{field.name, field.type, {}, plain_.contains(field.id), std::nullopt};
    if (const auto from = computed_from_.find(field.id); from != computed_from_.end())
      output.from = from->second;
    question.columns.push_back(std::move(output));
  }
  const auto with_errors =
      add_errors(relation.plan, [this] { return new_column("", double_type()); });
  std::vector<ColumnId> errors;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto known = with_errors.errors.find(shown[i]);
    if (known == with_errors.errors.end() || !known->second) continue;
    question.columns[i].error = shown.size() + errors.size();
    errors.push_back(*known->second);
    add_text(*known->second);
  }
  // The order must be the outermost thing: an engine may forget the order of a subquery.
  const Plan* plan = relation.plan.get();
  const Plan* plan_with_errors = with_errors.plan.get();
  std::string tail;
  if (const auto* sort = std::get_if<SortLimit>(&plan->node)) {
    for (const SortKey& key : sort->keys) {
      shown.push_back(key.column);
      tail += fmt::format("{}{}{} NULLS {}", tail.empty() ? " ORDER BY " : ", ",
                          column_name(key.column), key.descending ? " DESC" : "",
                          key.nulls_first.value_or(key.descending) ? "FIRST" : "LAST");
    }
    if (sort->limit) tail += fmt::format(" LIMIT {}", *sort->limit);
    if (sort->offset) tail += fmt::format(" OFFSET {}", *sort->offset);
    plan = sort->input.get();
    plan_with_errors = std::get<SortLimit>(plan_with_errors->node).input.get();
  }
  question.final_sql = fmt::format("SELECT {} FROM ({}){}", columns, emit_plan(*plan, shown), tail);
  shown.insert(shown.end(), errors.begin(), errors.end());
  question.final_text_sql =
      fmt::format("SELECT {} FROM ({}){}", texts, emit_plan(*plan_with_errors, shown), tail);
  if (tail.empty()) question.picked = picked_columns(*plan_with_errors, shown, releases_);
  question.tree = describe_plan(*relation.plan);
  question.releases = std::move(releases_);
  question.tables.assign(tables_.begin(), tables_.end());
  question.notices = std::move(notices_);
  return question;
}

Result<PlannedQuestion> Planner::plan(const Source& source, const Statement& statement) const {
  if (!statement.query) return source.invalid(-1, "this statement asks nothing", "Write a SELECT");
  Binder binder(source, policy_, schema_, statement.clauses);
  try {
    DISCREET_TRY(auto question, binder.bind(*statement.query));
    question.normalised_text = statement.normalised_text;
    return question;
  } catch (const TooLong&) {
    return source.invalid(-1, "an expression is too long for the engine",
                          "Nest fewer functions in each other");
  }
}

Result<PlannedQuestion> Planner::plan(const std::string& text,
                                      const std::vector<Parameter>& parameters) const {
  const Source source(text);
  DISCREET_TRY(const auto statement, parse_statement(source, parameters));
  return plan(source, statement);
}

}  // namespace discreet::sql
