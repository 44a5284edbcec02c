// The end of a release: its unit, its bounds, the domains of its keys and its engine statements.
#include <algorithm>

#include <fmt/format.h>

#include "sql/binder_internal.h"
#include "sql/explain.h"
#include "sql/rewrite.h"

namespace discreet::sql {
namespace {

void collect(const Plan& plan, std::set<std::string>& tables, std::set<std::size_t>& releases);

void collect(const Scalar& scalar, std::set<std::string>& tables, std::set<std::size_t>& releases) {
  if (const auto* subquery = std::get_if<SubqueryValue>(&scalar.node))
    collect(*subquery->plan, tables, releases);
  if (const auto* applied = std::get_if<Apply>(&scalar.node))
    for (const auto& arg : applied->args) collect(*arg, tables, releases);
  if (const auto* cast = std::get_if<CastTo>(&scalar.node)) collect(*cast->arg, tables, releases);
  if (const auto* when = std::get_if<CaseWhen>(&scalar.node)) {
    for (const auto& [condition, result] : when->branches) {
      collect(*condition, tables, releases);
      collect(*result, tables, releases);
    }
    collect(*when->otherwise, tables, releases);
  }
}

/// Tables and earlier releases that a plan reads.
void collect(const Plan& plan, std::set<std::string>& tables, std::set<std::size_t>& releases) {
  struct Walk {
    std::set<std::string>& tables;
    std::set<std::size_t>& releases;
    void scalar(const ScalarPtr& one) const {
      if (one) collect(*one, tables, releases);
    }
    void plan(const PlanPtr& one) const { collect(*one, tables, releases); }
    void operator()(const OneRow&) const {}
    void operator()(const Scan& scan) const { tables.insert(scan.table); }
    void operator()(const ReleasedTable& table) const { releases.insert(table.index); }
    void operator()(const Filter& node) const {
      scalar(node.predicate);
      plan(node.input);
    }
    void operator()(const Project& node) const {
      for (const auto& [id, value] : node.outputs) scalar(value);
      plan(node.input);
    }
    void operator()(const Join& node) const {
      scalar(node.condition);
      plan(node.left);
      plan(node.right);
    }
    void operator()(const Aggregate& node) const {
      for (const auto& [id, key] : node.keys) scalar(key);
      for (const auto& [id, one] : node.aggregates) {
        for (const auto& arg : one.args) scalar(arg);
        scalar(one.filter);
      }
      plan(node.input);
    }
    void operator()(const Combine& node) const {
      for (const auto& [input, columns] : node.inputs) plan(input);
    }
    void operator()(const Distinct& node) const { plan(node.input); }
    void operator()(const SortLimit& node) const { plan(node.input); }
  };
  std::visit(Walk{tables, releases}, plan.node);
}

}  // namespace

Result<Relation> Binder::finish_release(const Query& query, Relation input,
                                        Aggregation& aggregation) {
  const int position = query.position;
  const bool had_unit = input.unit.has_value();
  DISCREET_TRY_VOID(attach_unit(input, position));
  // The statement stands alone, so nothing in it may come from the query around: also not from deep
  // inside a subquery of FROM.
  bool depends = false;
  const auto look = [&](ColumnId id) {
    for (const Scope* at = aggregation.below->outer; at != nullptr; at = at->outer)
      depends |= std::any_of(at->fields.begin(), at->fields.end(),
                             [&](const Field& field) { return field.id == id; });
  };
  for_each_plan_column(*input.plan, look);
  for (const auto& key : aggregation.keys) for_each_column(*key.scalar, look);
  for (const auto& raw : aggregation.raw) for_each_column(*raw, look);
  for (const auto& condition : aggregation.conditions) for_each_column(*condition, look);
  if (depends)
    return source_.refuse(position,
                          "this aggregate reads many people's rows anew for every row around it, "
                          "so one person would change others' rows",
                          "Aggregate it once, without the outer column, so that it is released "
                          "first; or tie it to the privacy unit");
  Release& release = *aggregation.release;
  release.people = input.people;
  release.unit_is_row = input.unit_is_row;
  release.bounds.one_row_per_unit = input.one_row_per_unit;
  release.bounds.rows_max =
      input.one_row_per_unit ? std::optional<std::uint64_t>(1) : input.rows_max;
  release.bounds.groups_max = release.bounds.rows_max;
  if (query.privacy_clause) {
    const PrivacyClause& clause = clauses_.at(*query.privacy_clause);
    if (clause.options.privacy_unit_column) {
      Scope scope;
      scope.fields = input.fields;
      NameExpr name;
      name.parts.push_back(*clause.options.privacy_unit_column);
      if (const auto dot = name.parts[0].rfind('.'); dot != std::string::npos)
        name.parts = {name.parts[0].substr(0, dot), name.parts[0].substr(dot + 1)};
      bool is_outer = false;
      DISCREET_TRY(const Field* field,
                   find_field(Expr{clause.position, name}, name, scope, is_outer));
      if (field->anchor != input.people)
        return source_.refuse(
            clause.position,
            fmt::format("privacy_unit_column {} is not the privacy unit of the policy",
                        *clause.options.privacy_unit_column),
            fmt::format("Leave it out, or name the unit ({})", input.people));
    }
    release.options = clause.options;
  }
  // GoogleSQL's AVG is the mean of units' means, each within the bounds; a declared range bounds
  // means as it bounds rows. With one row a unit the two averages are the same.
  if (release.options && release.bounds.rows_max != std::uint64_t{1})
    for (AggregateRelease& aggregate : release.aggregates) {
      const auto* average = std::get_if<AvgRelease>(&aggregate.kind);
      if (average == nullptr || (aggregate.asked && !aggregate.asked->per_row)) continue;
      const Value& value = release.values[*release.features[average->sum].value];
      if (value.origin == BoundsOrigin::Technical) continue;
      aggregate.asked = AskedBounds{false, static_cast<double>(value.lower) * value.grid.unit(),
                                    static_cast<double>(value.upper) * value.grid.unit()};
    }
  const bool all_per_unit =
      std::all_of(aggregation.keys.begin(), aggregation.keys.end(), [&](const auto& key) {
        bool per_unit = true;
        for_each_column(*key.scalar, [&](ColumnId id) {
          per_unit &=
              std::any_of(input.fields.begin(), input.fields.end(),
                          [&](const Field& field) { return field.id == id && field.per_unit; });
        });
        return per_unit;
      });
  if (all_per_unit) release.bounds.groups_max = 1;  // also where there are no keys

  ReleasedTable table{releases_.size(), {}, aggregation.release_ids, false};
  Relation made;
  made.privacy = Privacy::Released;
  made.single_row = aggregation.keys.empty() && !aggregation.grouping_sets;
  std::vector<std::pair<ColumnId, ScalarPtr>> keys;
  for (const auto& key : aggregation.keys) {
    Key one;
    one.column = fmt::format("k{}", release.keys.size() + 1);
    one.text = key.text;
    one.type = released_type(key.scalar->type);
    one.may_be_null = facts_.of(*key.scalar).may_be_null;
    release.keys.push_back(std::move(one));
    keys.emplace_back(key.id, key.scalar);
    table.keys.push_back(key.id);
    Field field;
    field.id = key.id;
    field.type = released_type(key.scalar->type);
    made.fields.push_back(std::move(field));
  }
  for (const ColumnId id : aggregation.rolled_up) {
    table.keys.push_back(id);
    Field field;
    field.id = id;
    field.type = integer_type();
    made.fields.push_back(std::move(field));
  }
  release.grouping_sets = aggregation.grouping_sets;
  table.joint = aggregation.grouping_sets.has_value();
  for (std::size_t i = 0; i < aggregation.release_ids.size(); ++i) {
    Field field;
    field.id = aggregation.release_ids[i];
    field.type = release.aggregates[i].type;
    made.fields.push_back(std::move(field));
  }
  release.table = fmt::format("released_{}", releases_.size() + 1);
  find_key_domains(*input.plan, keys, facts_, policy_, release, schema_.dialect());
  if (release.options)
    for (const std::string& name : release.options->public_counts) {
      DISCREET_TRY(PublicCounts counts, bind_public_counts(name, input, aggregation));
      release.public_counts.push_back(std::move(counts));
    }

  std::optional<UnitLinkPlan> link;
  if (!had_unit)
    if (const auto* join = std::get_if<Join>(&input.plan->node)) {
      const auto* equal = as_apply(*join->condition, Function::Equal);
      link = UnitLinkPlan{join->left, join->right, equal->args[0], equal->args[1]};
    }
  Type unit_type = integer_type();
  for (const Field& field : input.fields)
    if (field.id == *input.unit) unit_type = field.type;
  write_release_sql(ReleaseInput{*input.plan, use_column(*input.unit, unit_type), keys,
                                 aggregation.raw, aggregation.conditions, aggregation.feature_sql,
                                 facts_, schema_.dialect(), link},
                    release);
  if (release.options && release.options->group_selection == GroupSelection::PublicGroups)
    for (std::size_t i = 0; i < release.keys.size(); ++i)
      if (!release.keys[i].is_public())
        return source_.refuse(aggregation.keys[i].position,
                              "PUBLIC_GROUPS needs keys that are public",
                              "Join a public table and group by its column, or ask the data owner "
                              "to list the column's values");
  release.tree = describe_plan(*input.plan);
  std::set<std::string> tables;
  std::set<std::size_t> needs;
  collect(*input.plan, tables, needs);
  for (const auto& raw : aggregation.raw) collect(*raw, tables, needs);
  for (const auto& condition : aggregation.conditions) collect(*condition, tables, needs);
  for (const std::string& name : tables)
    if (const auto* read = policy_.table(name); read != nullptr && !read->is_public())
      release.tables.push_back(name);
  release.needs.assign(needs.begin(), needs.end());
  // What was released before in this question is not in files.
  if (needs.empty())
    release.over_files.tables.assign(tables.begin(), tables.end());
  else
    release.over_files = {};
  for (const bool sought : aggregation.bound_is_sought)
    if (sought)
      notice(
          "a value has no declared bounds, so they are found privately within the statement's "
          "epsilon; `range = [low, high]` on the column in the policy, or "
          "contribution_bounds_per_row => (low, high), would be cheaper");
  releases_.push_back(std::move(release));
  made.plan = make_plan(std::move(table));
  return made;
}

}  // namespace discreet::sql
