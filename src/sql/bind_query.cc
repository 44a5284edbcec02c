// SELECT, set operations, DISTINCT, ORDER BY and LIMIT.
#include <algorithm>

#include <fmt/format.h>

#include "sql/binder_internal.h"
#include "sql/emit.h"

namespace discreet::sql {
namespace {

constexpr int kQueryDepthMax = 60;

const Field* field_with(const std::vector<Field>& fields, ColumnId id) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.id == id; });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace

Result<Relation> Binder::bind_query(const Query& query, Scope* outer) {
  if (++depth_ > kQueryDepthMax)
    return source_.invalid(query.position, "the statement is nested too deeply");
  const std::size_t ctes_before = ctes_.size();
  for (const CteRef& cte : query.ctes) {
    const std::size_t visible = ctes_.size();
    ctes_.push_back({&cte, visible, std::make_shared<std::optional<Relation>>()});
  }
  auto bound = query.set_operator ? bind_set_operation(query, outer) : bind_select(query, outer);
  ctes_.resize(ctes_before);
  --depth_;
  return bound;
}

std::string Binder::output_name(const Target& target) {
  if (!target.alias.empty()) return target.alias;
  const Expr* expr = target.expr.get();
  while (const auto* cast = std::get_if<CastExpr>(&expr->node)) expr = cast->arg.get();
  if (const auto* column = std::get_if<NameExpr>(&expr->node);
      column != nullptr && !column->parts.empty())
    return column->parts.back();
  if (const auto* call = std::get_if<CallExpr>(&expr->node);
      call != nullptr && call->is_operator && call->function == ".")
    return std::get<std::string>(std::get<LiteralExpr>(call->args[1]->node).value);
  if (const auto* call = std::get_if<CallExpr>(&expr->node);
      call != nullptr && (!call->is_operator || call->function == "coalesce"))
    return call->function;
  if (std::holds_alternative<CaseExpr>(expr->node)) return "case";
  return "?column?";
}

Result<std::vector<Target>> Binder::expand_stars(const Query& query, const Scope& scope) {
  std::vector<Target> targets;
  for (const Target& target : query.targets) {
    const auto* name = std::get_if<NameExpr>(&target.expr->node);
    if (name == nullptr || !name->star) {
      targets.push_back(target);
      continue;
    }
    const std::size_t before = targets.size();
    for (const Field& field : scope.fields) {
      if (field.name.empty() || field.unusable || (name->parts.empty() && field.merged)) continue;
      if (!name->parts.empty() && field.qualifier != name->parts.back()) continue;
      NameExpr column;
      if (!field.qualifier.empty()) column.parts.push_back(field.qualifier);
      column.parts.push_back(field.name);
      targets.push_back({std::make_shared<const Expr>(Expr{target.position, std::move(column)}),
                         field.name, target.position});
    }
    if (targets.size() == before)
      return source_.not_found(target.position, "* stands for no column here");
  }
  if (targets.empty())
    return source_.invalid(query.position, "SELECT without columns",
                           "Write what you want to know, for example count(*)");
  return targets;
}

Result<std::optional<std::uint64_t>> Binder::bind_count(const ExprPtr& expr, const char* what) {
  if (!expr) return std::optional<std::uint64_t>{};
  Scope nothing;
  DISCREET_TRY(const auto bound, bind_node(*expr, nothing));
  const auto* constant = as_constant(*bound);
  if (constant != nullptr && std::holds_alternative<std::monostate>(constant->value))
    return std::optional<std::uint64_t>{};
  const auto* count = constant == nullptr ? nullptr : std::get_if<std::int64_t>(&constant->value);
  if (count == nullptr || *count < 0)
    return source_.invalid(expr->position, fmt::format("{} needs a whole number", what));
  return std::optional<std::uint64_t>(static_cast<std::uint64_t>(*count));
}

Result<Relation> Binder::limit(const Query& query, Relation relation, std::vector<SortKey> keys) {
  DISCREET_TRY(const auto limit, bind_count(query.limit, "LIMIT"));
  DISCREET_TRY(const auto offset, bind_count(query.offset, "OFFSET"));
  if (relation.privacy == Privacy::Private) {
    // The order of private rows is nobody's business; which rows come first would be everybody's.
    // (At the top the whole result is refused, with better words.)
    if ((limit || offset) && depth_ > 1)
      return source_.refuse((query.limit ? query.limit : query.offset)->position,
                            "LIMIT over private rows makes one person's rows depend on another's",
                            "Aggregate first; LIMIT acts on released values");
    return relation;
  }
  if (keys.empty() && !limit && !offset) return relation;
  relation.plan = make_plan(SortLimit{relation.plan, std::move(keys), limit, offset});
  return relation;
}

Result<Relation> Binder::bind_select(const Query& query, Scope* outer) {
  Scope scope;
  scope.outer = outer;
  FromParts from;
  for (const FromPtr& item : query.from) {
    DISCREET_TRY(auto parts, bind_from(*item, outer));
    std::move(parts.parts.begin(), parts.parts.end(), std::back_inserter(from.parts));
    std::move(parts.conjuncts.begin(), parts.conjuncts.end(), std::back_inserter(from.conjuncts));
  }
  for (const Relation& part : from.parts) {
    scope.fields.insert(scope.fields.end(), part.fields.begin(), part.fields.end());
    scope.is_private |= part.privacy == Privacy::Private;
  }
  std::set<std::string> aliases;
  for (const FromPtr& item : query.from)
    if (!item->alias.empty() && !aliases.insert(item->alias).second)
      return source_.invalid(item->position,
                             fmt::format("the name '{}' is used twice in FROM", item->alias),
                             "Give one of them an alias");
  if (query.where) {
    DISCREET_TRY(const auto where, bind_condition(query.where, scope, "WHERE"));
    split_conjuncts(where, from.conjuncts);
  }
  Relation input;
  if (from.parts.empty()) {
    input.plan = make_plan(OneRow{});
    input.single_row = from.conjuncts.empty();
    if (auto predicate = join_conjuncts(from.conjuncts))
      input.plan = make_plan(Filter{input.plan, std::move(predicate)});
    if (scope.uses_released) input.privacy = Privacy::Released;
  } else {
    const int position = query.from.front()->position;
    DISCREET_TRY(input, combine(std::move(from), position, &scope));
  }
  DISCREET_TRY(const auto targets, expand_stars(query, scope));

  const bool aggregated =
      !query.group_by.empty() || query.grouping_sets || query.having ||
      std::any_of(targets.begin(), targets.end(),
                  [](const Target& target) { return contains_aggregate(*target.expr); }) ||
      std::any_of(query.order_by.begin(), query.order_by.end(),
                  [](const SortItem& item) { return contains_aggregate(*item.expr); });
  // SELECT DISTINCT x of private rows is GROUP BY x without aggregates: a release of keys.
  Query grouped_query = query;
  bool by_targets = false;
  if (query.distinct && !aggregated && input.privacy == Privacy::Private &&
      !input.within_outer_unit) {
    by_targets = std::none_of(targets.begin(), targets.end(), [&](const Target& target) {
      const auto* name = std::get_if<NameExpr>(&target.expr->node);
      bool is_outer = false;
      if (name == nullptr) return false;
      const auto field = find_field(*target.expr, *name, scope, is_outer);
      return field && !field.value()->anchor.empty();
    });
    if (by_targets) {
      grouped_query.distinct = false;
      for (const Target& target : targets) grouped_query.group_by.push_back(target.expr);
    }
  }
  if (aggregated || by_targets) {
    Aggregation aggregation;
    DISCREET_TRY_VOID(start_aggregation(grouped_query, targets, input, scope, aggregation));
    Scope grouped;
    grouped.outer = outer;
    grouped.fields = scope.fields;
    grouped.aggregation = &aggregation;
    return finish_select(grouped_query, targets, std::move(input), grouped);
  }
  if (query.privacy_clause && input.privacy == Privacy::Private)
    return source_.refuse(query.targets.front().position,
                          "SELECT WITH DIFFERENTIAL_PRIVACY needs an aggregate or GROUP BY",
                          "Add count(*), sum(x), ...");
  return finish_select(query, targets, std::move(input), scope);
}

Result<Relation> Binder::finish_select(const Query& query, const std::vector<Target>& targets,
                                       Relation input, Scope& scope) {
  struct Output {
    std::string name;
    ScalarPtr value;
    std::string text;
  };
  std::vector<Output> outputs;
  for (const Target& target : targets) {
    DISCREET_TRY(auto value, bind_expr(*target.expr, scope));
    DISCREET_TRY(value,
                 coerce(value, value->type.kind == TypeKind::Null ? text_type() : value->type));
    auto text = emit_scalar(*value);
    outputs.push_back({output_name(target), std::move(value), std::move(text)});
  }
  const std::size_t visible = outputs.size();
  ScalarPtr having;
  if (query.having) {
    DISCREET_TRY(having, bind_condition(query.having, scope, "HAVING"));
  }

  std::vector<std::pair<std::size_t, const SortItem*>> order;
  for (const SortItem& item : query.order_by) {
    std::optional<std::size_t> chosen;
    if (const auto* literal = std::get_if<LiteralExpr>(&item.expr->node)) {
      const auto* number = std::get_if<LiteralExpr::Number>(&literal->value);
      const long ordinal = number == nullptr ? 0 : std::strtol(number->text.c_str(), nullptr, 10);
      if (ordinal < 1 || static_cast<std::size_t>(ordinal) > visible)
        return source_.invalid(item.expr->position, "ORDER BY a constant: no such output column");
      chosen = static_cast<std::size_t>(ordinal) - 1;
    }
    if (const auto* name = std::get_if<NameExpr>(&item.expr->node);
        name != nullptr && name->parts.size() == 1)
      for (std::size_t i = 0; i < visible && !chosen; ++i)
        if (outputs[i].name == name->parts[0]) chosen = i;
    if (!chosen) {
      DISCREET_TRY(auto value, bind_expr(*item.expr, scope));
      const auto text = emit_scalar(*value);
      for (std::size_t i = 0; i < outputs.size() && !chosen; ++i)
        if (outputs[i].text == text) chosen = i;
      if (!chosen) {
        if (query.distinct)
          return source_.invalid(item.expr->position,
                                 "ORDER BY of a SELECT DISTINCT must name an output column");
        chosen = outputs.size();
        outputs.push_back({"", std::move(value), text});
      }
    }
    order.emplace_back(*chosen, &item);
  }

  Relation below = std::move(input);
  if (scope.aggregation != nullptr) {
    DISCREET_TRY(below, finish_aggregation(query, std::move(below), *scope.aggregation));
  }
  const bool reads_released = scope.uses_released || (scope.aggregation != nullptr &&
                                                      scope.aggregation->below->uses_released);
  if (reads_released && below.privacy == Privacy::Public) below.privacy = Privacy::Released;
  if (having) below.plan = make_plan(Filter{below.plan, having});

  Relation made = below;
  made.fields.clear();
  Project project{below.plan, {}};
  bool unit_is_out = false;
  const auto add = [&](const std::string& name, const ScalarPtr& value) {
    Field field;
    field.name = name;
    field.type = value->type;
    field.id = new_column(name, value->type);
    if (const auto* id = as_column(*value)) {
      if (const Field* from = field_with(below.fields, *id)) {
        field.anchor = from->anchor;
        field.per_unit = from->per_unit;
        field.is_key = from->is_key;
      }
      if (below.unit == *id) {
        made.unit = field.id;
        unit_is_out = true;
      }
    }
    std::vector<std::string> from;
    for_each_column(*value, [&](ColumnId id) {
      if (const auto known = computed_from_.find(id); known != computed_from_.end())
        for (const auto& one : known->second)
          if (std::find(from.begin(), from.end(), one) == from.end()) from.push_back(one);
    });
    if (!from.empty()) {
      if (as_column(*value) != nullptr) plain_.insert(field.id);
      computed_from_[field.id] = std::move(from);
    }
    facts_.set(field.id, facts_.of(*value));
    project.outputs.emplace_back(field.id, value);
    made.fields.push_back(std::move(field));
  };
  for (std::size_t i = 0; i < visible; ++i) add(outputs[i].name, outputs[i].value);
  std::vector<ColumnId> shown;
  for (const Field& field : made.fields) shown.push_back(field.id);
  if (below.privacy == Privacy::Private && !below.within_outer_unit) {
    // Whose row it is travels along, unseen.
    if (below.unit && !unit_is_out) {
      const Field* unit = field_with(below.fields, *below.unit);
      add("", use_column(*below.unit, unit == nullptr ? integer_type() : unit->type));
      made.fields.back().anchor = unit == nullptr ? "" : unit->anchor;
    } else if (!below.unit && anchored(made) == nullptr) {
      const Field* by = anchored(below);
      DISCREET_CHECK(by != nullptr, "a private relation that nothing ties to a unit");
      add("", use_column(by->id, by->type));
    }
  }
  for (std::size_t i = visible; i < outputs.size(); ++i) add("", outputs[i].value);
  std::vector<SortKey> keys;
  if (made.privacy != Privacy::Private)
    for (const auto& [index, item] : order)
      keys.push_back({project.outputs[index].first, item->descending, item->nulls_first});
  made.plan = make_plan(std::move(project));
  if (query.distinct) {
    std::vector<ColumnId> columns;
    for (const Field& field : made.fields) columns.push_back(field.id);
    made.plan = make_plan(Distinct{made.plan, made.privacy == Privacy::Private ? columns : shown});
    made.one_row_per_unit = made.one_row_per_unit && made.privacy == Privacy::Private;
  }
  return limit(query, std::move(made), std::move(keys));
}

Result<Relation> Binder::bind_set_operation(const Query& query, Scope* outer) {
  DISCREET_TRY(auto left, bind_query(*query.left, outer));
  DISCREET_TRY(auto right, bind_query(*query.right, outer));
  const bool union_all = *query.set_operator == SetOperator::Union && query.set_all;
  const bool any_private = left.privacy == Privacy::Private || right.privacy == Privacy::Private;
  if (any_private) {
    if (!union_all)
      return source_.refuse(query.position,
                            "UNION, INTERSECT and EXCEPT compare rows of different people",
                            "Use UNION ALL, or count(DISTINCT x)");
    if (left.privacy != right.privacy)
      return source_.refuse(query.position,
                            "UNION ALL of private rows with rows that belong to nobody",
                            "Aggregate the private part first");
    if (left.people != right.people)
      return source_.refuse(query.position, "the two sides of UNION ALL protect different people",
                            "Ask about one of them at a time");
    if (left.within_outer_unit != right.within_outer_unit)
      return source_.refuse(query.position,
                            "only one side of UNION ALL is tied to the row around it",
                            "Tie both to the privacy unit");
    if (left.unit_is_row)
      return source_.refuse(query.position,
                            "UNION ALL of tables whose rows are the privacy unit is not supported",
                            "Ask two questions, or add a unit column to the policy");
    if (!left.within_outer_unit) {
      DISCREET_TRY_VOID(attach_unit(left, query.position));
      DISCREET_TRY_VOID(attach_unit(right, query.position));
    }
  }
  const auto visible = [](const Relation& relation) {
    std::vector<Field> fields;
    for (const Field& field : relation.fields)
      if (!field.name.empty()) fields.push_back(field);
    return fields;
  };
  const auto mine = visible(left), theirs = visible(right);
  if (mine.size() != theirs.size())
    return source_.invalid(query.position, "both sides of a set operation need as many columns");
  Relation made;
  made.privacy = any_private ? Privacy::Private
                 : left.privacy == Privacy::Released || right.privacy == Privacy::Released
                     ? Privacy::Released
                     : Privacy::Public;
  made.people = left.people;
  made.within_outer_unit = left.within_outer_unit;
  if (left.rows_max && right.rows_max) made.rows_max = *left.rows_max + *right.rows_max;
  Combine combine;
  if (!union_all) combine.set = *query.set_operator;
  combine.all = query.set_all;
  std::vector<ColumnId> from_left, from_right;
  const auto add = [&](const std::string& name, Type type, ColumnId a, ColumnId b,
                       const std::string& anchor) {
    Field field;
    field.name = name;
    field.type = type;
    field.anchor = anchor;
    field.id = new_column(name, type);
    facts_.set(field.id, hull(facts_.of(*use_column(a, type)), facts_.of(*use_column(b, type))));
    for (const ColumnId side : {a, b})
      if (const auto known = computed_from_.find(side); known != computed_from_.end())
        computed_from_[field.id] = std::vector(known->second);
    from_left.push_back(a);
    from_right.push_back(b);
    combine.outputs.push_back(field.id);
    made.fields.push_back(std::move(field));
  };
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto type = common_type(mine[i].type, theirs[i].type);
    if (!type)
      return source_.invalid(query.position,
                             fmt::format("column '{}' is {} on one side and {} on the other",
                                         mine[i].name, name(mine[i].type), name(theirs[i].type)));
    add(mine[i].name, *type, mine[i].id, theirs[i].id,
        mine[i].anchor == theirs[i].anchor ? mine[i].anchor : "");
  }
  if (any_private && !made.within_outer_unit) {
    add("", integer_type(), *left.unit, *right.unit, made.people);
    const auto type_of_unit = [&](const Relation& side) {
      const Field* field = field_with(side.fields, *side.unit);
      return field == nullptr ? integer_type() : field->type;
    };
    made.fields.back().type = type_of_unit(left);
    made.unit = made.fields.back().id;
  }
  combine.inputs = {{left.plan, from_left}, {right.plan, from_right}};
  made.plan = make_plan(std::move(combine));

  std::vector<SortKey> keys;
  for (const SortItem& item : query.order_by) {
    const Field* chosen = nullptr;
    if (const auto* name = std::get_if<NameExpr>(&item.expr->node);
        name != nullptr && name->parts.size() == 1)
      for (const Field& field : made.fields)
        if (field.name == name->parts[0]) chosen = &field;
    if (const auto* literal = std::get_if<LiteralExpr>(&item.expr->node))
      if (const auto* number = std::get_if<LiteralExpr::Number>(&literal->value)) {
        const long ordinal = std::strtol(number->text.c_str(), nullptr, 10);
        if (ordinal >= 1 && static_cast<std::size_t>(ordinal) <= mine.size())
          chosen = &made.fields[static_cast<std::size_t>(ordinal) - 1];
      }
    if (chosen == nullptr)
      return source_.invalid(item.expr->position,
                             "ORDER BY of a set operation names an output column");
    if (made.privacy != Privacy::Private)
      keys.push_back({chosen->id, item.descending, item.nulls_first});
  }
  return limit(query, std::move(made), std::move(keys));
}

}  // namespace discreet::sql
