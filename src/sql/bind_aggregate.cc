// GROUP BY and aggregates: which are computed exactly, and where a release begins.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sql/binder_internal.h"
#include "sql/emit.h"

namespace discreet::sql {
namespace {

/// Aggregates that are known, besides tests (bind_inference.cc); the second list would show
/// people's values.
const std::set<std::string_view> kAggregates = {"count",
                                                "sum",
                                                "avg",
                                                "min",
                                                "max",
                                                "var_pop",
                                                "var_samp",
                                                "variance",
                                                "stddev_pop",
                                                "stddev_samp",
                                                "stddev",
                                                "median",
                                                "mode",
                                                "top_k",
                                                "histogram",
                                                "percentile_cont",
                                                "percentile_disc",
                                                "covar_pop",
                                                "covar_samp",
                                                "corr",
                                                "bool_and",
                                                "bool_or",
                                                "every",
                                                "approx_quantiles",
                                                "approx_cdf",
                                                "cdf",
                                                "countif",
                                                "count_if",
                                                "approx_count_distinct"};
const std::set<std::string_view> kShowingAggregates = {
    "array_agg",        "string_agg", "json_agg",  "jsonb_agg",    "json_object_agg",
    "jsonb_object_agg", "xmlagg",     "list",      "first",        "last",
    "any_value",        "arg_min",    "arg_max",   "group_concat", "bit_and",
    "bit_or",           "bit_xor",    "range_agg", "first_value",  "last_value"};

}  // namespace

bool Binder::is_aggregate(const std::string& name) {
  return kAggregates.contains(name) || kShowingAggregates.contains(name) || is_test(name);
}

bool Binder::contains_subquery(const Expr& expr) {
  struct Look {
    bool any(const std::vector<ExprPtr>& all) const {
      return std::any_of(all.begin(), all.end(),
                         [](const ExprPtr& one) { return one && contains_subquery(*one); });
    }
    bool operator()(const LiteralExpr&) const { return false; }
    bool operator()(const NameExpr&) const { return false; }
    bool operator()(const CallExpr& call) const { return any(call.args); }
    bool operator()(const CaseExpr& when) const {
      for (const auto& [condition, result] : when.branches)
        if (contains_subquery(*condition) || contains_subquery(*result)) return true;
      return when.otherwise && contains_subquery(*when.otherwise);
    }
    bool operator()(const CastExpr& cast) const { return contains_subquery(*cast.arg); }
    bool operator()(const SubqueryExpr&) const { return true; }
    bool operator()(const ListExpr& list) const { return any(list.items); }
  };
  return std::visit(Look{}, expr.node);
}

bool Binder::contains_aggregate(const Expr& expr) {
  struct Look {
    bool any(const std::vector<ExprPtr>& all) const {
      return std::any_of(all.begin(), all.end(),
                         [](const ExprPtr& one) { return one && contains_aggregate(*one); });
    }
    bool operator()(const LiteralExpr&) const { return false; }
    bool operator()(const NameExpr&) const { return false; }
    bool operator()(const CallExpr& call) const {
      return (!call.is_operator && is_aggregate(call.function)) || any(call.args);
    }
    bool operator()(const CaseExpr& when) const {
      for (const auto& [condition, result] : when.branches)
        if (contains_aggregate(*condition) || contains_aggregate(*result)) return true;
      return when.otherwise && contains_aggregate(*when.otherwise);
    }
    bool operator()(const CastExpr& cast) const { return contains_aggregate(*cast.arg); }
    bool operator()(const SubqueryExpr& subquery) const {
      return subquery.test && contains_aggregate(*subquery.test);
    }
    bool operator()(const ListExpr& list) const { return any(list.items); }
  };
  return std::visit(Look{}, expr.node);
}

Result<ExprPtr> Binder::resolve_group_item(const ExprPtr& item, const std::vector<Target>& targets,
                                           Scope& scope) {
  if (const auto* literal = std::get_if<LiteralExpr>(&item->node)) {
    const auto* number = std::get_if<LiteralExpr::Number>(&literal->value);
    const long ordinal = number == nullptr ? 0 : std::strtol(number->text.c_str(), nullptr, 10);
    if (ordinal < 1 || static_cast<std::size_t>(ordinal) > targets.size())
      return source_.invalid(item->position, "GROUP BY a constant: no such output column");
    return targets[static_cast<std::size_t>(ordinal) - 1].expr;
  }
  const auto* name = std::get_if<NameExpr>(&item->node);
  if (name == nullptr || name->parts.size() != 1) return item;
  // PostgreSQL's order: a column of FROM first, then an output name.
  Scope here;
  here.fields = scope.fields;
  bool is_outer = false;
  if (find_field(*item, *name, here, is_outer)) return item;
  for (const Target& target : targets)
    if (target.alias == name->parts[0]) return target.expr;
  return item;
}

Result<void> Binder::start_aggregation(const Query& query, const std::vector<Target>& targets,
                                       const Relation& input, Scope& scope,
                                       Aggregation& aggregation) {
  aggregation.below = &scope;
  aggregation.input = input;
  bool tells_whose = false;
  std::vector<std::size_t> key_of;  // by item; columns named in several grouping sets are one key
  for (const ExprPtr& item : query.group_by) {
    DISCREET_TRY(const auto expr, resolve_group_item(item, targets, scope));
    if (contains_aggregate(*expr))
      return source_.invalid(expr->position, "GROUP BY an aggregate", "Group in a subquery");
    DISCREET_TRY(auto key, bind_node(*expr, scope));
    DISCREET_TRY(key, coerce(key, key->type.kind == TypeKind::Null ? text_type() : key->type));
    if (key->type.kind == TypeKind::Interval)
      return source_.refuse(expr->position, "intervals cannot be keys",
                            "Group by a number or a date");
    const auto* anchor = anchor_of(*key, input.fields);
    tells_whose |= anchor != nullptr && !anchor->empty();
    auto text = emit_scalar(*key);
    const auto known = std::find_if(aggregation.keys.begin(), aggregation.keys.end(),
                                    [&](const auto& one) { return one.text == text; });
    key_of.push_back(static_cast<std::size_t>(known - aggregation.keys.begin()));
    if (query.grouping_sets && known != aggregation.keys.end()) continue;
    const ColumnId id = new_column("", key->type);
    aggregation.keys.push_back({key, std::move(text), id, expr->position});
    Facts facts = facts_.of(*key);
    if (query.grouping_sets) facts.may_be_null = true;  // where it is rolled up
    facts_.set(id, std::move(facts));
  }
  if (query.grouping_sets) {
    auto& sets = aggregation.grouping_sets.emplace();
    for (const auto& items : *query.grouping_sets) {
      auto& set = sets.emplace_back();
      for (const std::size_t item : items) set.push_back(key_of[item]);
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
    }
    for (std::size_t i = 0; i < aggregation.keys.size(); ++i)
      aggregation.rolled_up.push_back(new_column("", integer_type()));
    if (input.privacy != Privacy::Private || input.within_outer_unit || tells_whose)
      return source_.refuse(
          query.group_by.empty() ? query.position : query.group_by.front()->position,
          "CUBE, ROLLUP and GROUPING SETS are for many people's private rows; these are public, "
          "released, or one person's",
          "Ask for one GROUP BY at a time, and join the answers with UNION ALL");
  }
  if (input.privacy != Privacy::Private) {
    if (query.privacy_clause)
      notice(
          "the differentially private SELECT reads public rows only: answered exactly, without a "
          "charge");
    return {};
  }
  if (input.within_outer_unit || tells_whose) {
    if (query.privacy_clause)
      return source_.refuse(
          query.group_by.empty() ? query.position : query.group_by.front()->position,
          "the groups of SELECT WITH DIFFERENTIAL_PRIVACY would each be one person",
          "Leave the privacy unit out of its GROUP BY");
    return {};
  }
  if (!scope.outer_uses.empty())
    return source_.refuse(query.position,
                          "this aggregate reads many people's rows anew for every row around it, "
                          "so one person would change others' rows",
                          "Aggregate it once, without the outer column, so that it is released "
                          "first; or tie it to the privacy unit");
  aggregation.exact = false;
  aggregation.release.emplace();
  return {};
}

// PostgreSQL's grouping(a, b, ...): a bit for each argument, the last one lowest, set where it is
// rolled up.
Result<ScalarPtr> Binder::bind_grouping(const Expr& expr, const CallExpr& call,
                                        Aggregation& aggregation) {
  if (call.args.size() > 31)
    return source_.invalid(expr.position, "grouping() takes fewer than 32 arguments");
  std::string text;
  const auto number = [&](std::int64_t value) {
    return make_scalar(integer_type(), expr.position, Constant{value});
  };
  ScalarPtr sum = number(0);
  for (const ExprPtr& arg : call.args) {
    DISCREET_TRY(const auto bound, bind_node(*arg, *aggregation.below));
    text = emit_scalar(*bound);
    const auto key = std::find_if(aggregation.keys.begin(), aggregation.keys.end(),
                                  [&](const auto& one) { return one.text == text; });
    if (key == aggregation.keys.end())
      return source_.invalid(arg->position, "arguments of grouping() must stand in GROUP BY");
    const auto at = static_cast<std::size_t>(key - aggregation.keys.begin());
    const ScalarPtr bit = aggregation.grouping_sets
                              ? use_column(aggregation.rolled_up[at], integer_type(), expr.position)
                              : number(0);
    sum = apply(integer_type(), expr.position, Function::Add,
                {apply(integer_type(), expr.position, Function::Multiply, {number(2), sum}), bit});
  }
  return sum;
}

Result<ScalarPtr> Binder::bind_grouped(const Expr& expr, Scope& scope) {
  Aggregation& aggregation = *scope.aggregation;
  if (const auto* call = std::get_if<CallExpr>(&expr.node);
      call != nullptr && call->function == "grouping" && !call->is_operator)
    return bind_grouping(expr, *call, aggregation);
  if (!contains_aggregate(expr)) {
    const auto* literal = std::get_if<LiteralExpr>(&expr.node);
    if (literal != nullptr) return bind_literal(expr, *literal);
    // Is it one of the keys? Binding a subquery twice would release it twice, so keys with
    // subqueries inside are not recognised.
    if (!contains_subquery(expr) && !std::holds_alternative<ListExpr>(expr.node)) {
      auto plain = bind_node(expr, *aggregation.below);
      if (plain) {
        const auto text = emit_scalar(**plain);
        for (const auto& key : aggregation.keys)
          if (key.text == text) return use_column(key.id, key.scalar->type, expr.position);
      } else if (std::holds_alternative<NameExpr>(expr.node)) {
        return plain;  // no such column: say that, not that it is not grouped
      }
    }
    if (const auto* name = std::get_if<NameExpr>(&expr.node)) {
      // A column of the query around is a constant here.
      bool is_outer = false;
      DISCREET_TRY(const Field* field, find_field(expr, *name, *aggregation.below, is_outer));
      if (is_outer) return use_column(field->id, field->type, expr.position);
      return source_.invalid(
          expr.position,
          fmt::format("column '{}' must stand in GROUP BY or inside an aggregate",
                      name->parts.back()),
          "Add it to GROUP BY, or ask for its min, max or average");
    }
  }
  return bind_node(expr, scope);
}

Result<std::vector<double>> Binder::bind_numbers(const Expr& expr, const char* what) {
  std::vector<double> numbers;
  std::vector<const Expr*> items{&expr};
  if (const auto* list = std::get_if<ListExpr>(&expr.node)) {
    items.clear();
    for (const auto& item : list->items) items.push_back(item.get());
  }
  Scope nothing;
  for (const Expr* item : items) {
    const auto found = bind_node(*item, nothing);
    const auto* constant = found ? as_constant(**found) : nullptr;
    const double value = constant == nullptr ? std::nan("") : as_number(constant->value);
    if (std::isnan(value))
      return source_.invalid(item->position, fmt::format("{} must be constant numbers", what));
    numbers.push_back(value);
  }
  if (numbers.empty())
    return source_.invalid(expr.position, fmt::format("{} must not be empty", what));
  return numbers;
}

Result<ScalarPtr> Binder::bind_aggregate(const Expr& expr, const CallExpr& call, Scope& scope) {
  Aggregation& aggregation = *scope.aggregation;
  for (const auto& arg : call.args)
    if (contains_aggregate(*arg))
      return source_.invalid(expr.position, "an aggregate inside an aggregate",
                             "Aggregate in a subquery first");
  if (kShowingAggregates.contains(call.function) && !aggregation.exact)
    return source_.refuse(expr.position,
                          fmt::format("{} would show people's values", call.function),
                          "Ask for counts, sums, averages, quantiles, mode or top_k");
  if (is_test(call.function)) {
    if (!aggregation.exact) return bind_test(expr, call, aggregation);
    return source_.refuse(
        expr.position,
        fmt::format("{} is not computed over public rows or rows of one person", call.function),
        "Ask for the rows and test them where you are: they are public");
  }
  if (kShowingAggregates.contains(call.function))
    return source_.refuse(expr.position, fmt::format("{} is not supported", call.function),
                          "docs/sql.md lists the aggregates");
  if (!aggregation.exact) return bind_release_aggregate(expr, call, aggregation);
  return bind_exact_aggregate(expr, call, aggregation);
}

Result<ScalarPtr> Binder::bind_exact_aggregate(const Expr& expr, const CallExpr& call,
                                               Aggregation& aggregation) {
  static const std::map<std::string_view, ExactFunction> kPlain = {
      {"count", ExactFunction::Count},
      {"sum", ExactFunction::Sum},
      {"avg", ExactFunction::Avg},
      {"min", ExactFunction::Min},
      {"max", ExactFunction::Max},
      {"median", ExactFunction::Median},
      {"var_pop", ExactFunction::VarPop},
      {"var_samp", ExactFunction::VarSamp},
      {"variance", ExactFunction::VarSamp},
      {"stddev_pop", ExactFunction::StddevPop},
      {"stddev_samp", ExactFunction::StddevSamp},
      {"stddev", ExactFunction::StddevSamp},
      {"covar_pop", ExactFunction::CovarPop},
      {"covar_samp", ExactFunction::CovarSamp},
      {"corr", ExactFunction::Corr},
      {"bool_and", ExactFunction::BoolAnd},
      {"every", ExactFunction::BoolAnd},
      {"bool_or", ExactFunction::BoolOr},
      {"mode", ExactFunction::Mode},
      {"percentile_cont", ExactFunction::QuantileCont},
      {"percentile_disc", ExactFunction::QuantileDisc}};
  const auto known = kPlain.find(call.function);
  if (known == kPlain.end())
    return source_.refuse(
        expr.position,
        fmt::format("{} is not supported over rows of one person or public rows", call.function),
        "Use count, sum, avg, min, max, median, ...");
  if (!call.named.empty())
    return source_.invalid(
        expr.position, "contribution bounds belong to a private aggregate, and this one is exact");
  Scope& below = *aggregation.below;
  ExactAggregate made{known->second, {}, nullptr, 0};
  for (const auto& arg : call.args) {
    if (call.within_group) continue;
    DISCREET_TRY(auto bound, bind_node(*arg, below));
    DISCREET_TRY(bound,
                 coerce(bound, bound->type.kind == TypeKind::Null ? text_type() : bound->type));
    made.args.push_back(std::move(bound));
  }
  if (call.within_group) {
    if (call.order.size() != 1)
      return source_.invalid(expr.position, "WITHIN GROUP needs one ORDER BY expression");
    DISCREET_TRY(auto bound, bind_node(*call.order[0].expr, below));
    made.args.push_back(std::move(bound));
    if (made.function != ExactFunction::Mode) {
      if (call.args.size() != 1)
        return source_.invalid(expr.position, "a percentile needs one fraction");
      DISCREET_TRY(const auto fractions, bind_numbers(*call.args[0], "fractions"));
      if (fractions.size() != 1 || fractions[0] < 0 || fractions[0] > 1)
        return source_.invalid(expr.position,
                               "an exact percentile takes one fraction between 0 and 1");
      made.fraction = call.order[0].descending ? 1 - fractions[0] : fractions[0];
    }
  } else if (made.function == ExactFunction::QuantileCont ||
             made.function == ExactFunction::QuantileDisc) {
    return source_.invalid(
        expr.position, "a percentile is written percentile_cont(0.5) WITHIN GROUP (ORDER BY x)");
  }
  if (call.filter) {
    DISCREET_TRY(made.filter, bind_condition(call.filter, below, "FILTER"));
  }
  if (made.function == ExactFunction::Count && (call.star || made.args.empty()))
    made.function = ExactFunction::CountRows;
  if (made.function == ExactFunction::Count && call.distinct)
    made.function = ExactFunction::CountDistinct;
  else if (call.distinct && made.function != ExactFunction::Min &&
           made.function != ExactFunction::Max)
    return source_.refuse(expr.position,
                          fmt::format("{}(DISTINCT ...) is not supported", call.function),
                          "Use SELECT DISTINCT in a subquery");
  const bool two = made.function == ExactFunction::CovarPop ||
                   made.function == ExactFunction::CovarSamp ||
                   made.function == ExactFunction::Corr;
  const std::size_t wanted = made.function == ExactFunction::CountRows ? 0 : two ? 2 : 1;
  if (made.args.size() != wanted)
    return source_.invalid(expr.position, fmt::format("{} takes {} argument{}", call.function,
                                                      wanted, wanted == 1 ? "" : "s"));

  Type type = double_type();
  const bool numeric_only =
      made.function == ExactFunction::Sum || made.function == ExactFunction::Avg ||
      made.function == ExactFunction::Median || made.function == ExactFunction::QuantileCont ||
      made.function == ExactFunction::VarPop || made.function == ExactFunction::VarSamp ||
      made.function == ExactFunction::StddevPop || made.function == ExactFunction::StddevSamp ||
      two;
  for (auto& arg : made.args) {
    if (numeric_only && !arg->type.is_number())
      return source_.invalid(
          expr.position, fmt::format("{} needs numbers, not {}", call.function, name(arg->type)));
    // A decimal may be as wide as the engine's widest sum; its sum would then not fit.
    if (made.function == ExactFunction::Avg || made.function == ExactFunction::Median ||
        made.function == ExactFunction::QuantileCont)
      if (arg->type.kind != TypeKind::Double)
        arg = make_scalar(double_type(), arg->position, CastTo{arg});
    if (made.function == ExactFunction::Sum && arg->type.kind == TypeKind::Decimal)
      arg = make_scalar(arg->type, arg->position, CastTo{arg});
  }
  switch (made.function) {
    case ExactFunction::CountRows:
    case ExactFunction::Count:
    case ExactFunction::CountDistinct:
      type = integer_type();
      break;
    case ExactFunction::BoolAnd:
    case ExactFunction::BoolOr:
      if (made.args[0]->type.kind != TypeKind::Boolean)
        return source_.invalid(expr.position, fmt::format("{} needs a condition", call.function));
      type = boolean_type();
      break;
    case ExactFunction::Sum:
    case ExactFunction::Min:
    case ExactFunction::Max:
    case ExactFunction::Mode:
    case ExactFunction::QuantileDisc:
      type = made.args[0]->type;
      break;
    default:
      break;
  }
  std::string text =
      std::to_string(static_cast<int>(made.function)) + fmt::format("/{}", made.fraction);
  for (const auto& arg : made.args) text += "|" + emit_scalar(*arg);
  if (made.filter) text += "?" + emit_scalar(*made.filter);
  for (std::size_t i = 0; i < aggregation.exact_texts.size(); ++i)
    if (aggregation.exact_texts[i] == text)
      return use_column(aggregation.exact_aggregates[i].first, type, expr.position);
  const ColumnId id = new_column(call.function, type);
  facts_.set(id, facts_of_exact(made, aggregation.input));
  std::vector<std::string> from;
  for (const auto& arg : made.args)
    for_each_column(*arg, [&](ColumnId used) {
      if (const auto one = computed_from_.find(used); one != computed_from_.end())
        from.insert(from.end(), one->second.begin(), one->second.end());
    });
  if (!from.empty()) computed_from_[id] = from;
  aggregation.exact_texts.push_back(std::move(text));
  aggregation.exact_aggregates.emplace_back(id, std::move(made));
  return use_column(id, type, expr.position);
}

Facts Binder::facts_of_exact(const ExactAggregate& aggregate, const Relation& input) const {
  Facts facts;
  const double rows = input.rows_max && input.privacy == Privacy::Private
                          ? static_cast<double>(*input.rows_max)
                          : Facts::kInfinity;
  switch (aggregate.function) {
    case ExactFunction::CountRows:
    case ExactFunction::Count:
    case ExactFunction::CountDistinct:
      facts.lower = 0;
      facts.upper = rows;
      facts.may_be_null = false;
      facts.declared = input.rows_max.has_value();
      return facts;
    case ExactFunction::Sum: {
      const Facts arg = facts_.of(*aggregate.args[0]);
      facts.lower = arg.lower >= 0 ? 0 : arg.lower * rows;
      facts.upper = arg.upper <= 0 ? 0 : arg.upper * rows;
      facts.declared = arg.declared;
      facts.from_type_only = arg.from_type_only;
      return facts;
    }
    case ExactFunction::Avg:
    case ExactFunction::Min:
    case ExactFunction::Max:
    case ExactFunction::Median:
    case ExactFunction::QuantileCont:
    case ExactFunction::QuantileDisc:
    case ExactFunction::Mode: {
      facts = facts_.of(*aggregate.args[0]);
      facts.may_be_null = true;
      facts.grid.reset();
      if (aggregate.function == ExactFunction::Avg || aggregate.function == ExactFunction::Median ||
          aggregate.function == ExactFunction::QuantileCont)
        facts.values.reset();
      return facts;
    }
    case ExactFunction::VarPop:
    case ExactFunction::VarSamp:
    case ExactFunction::StddevPop:
    case ExactFunction::StddevSamp: {
      const Facts arg = facts_.of(*aggregate.args[0]);
      const bool root = aggregate.function == ExactFunction::StddevPop ||
                        aggregate.function == ExactFunction::StddevSamp;
      const double reach =
          arg.upper - arg.lower;  // the sample forms exceed half of it by sqrt(2) at most
      facts.lower = 0;
      facts.upper = root ? reach : reach * reach;
      facts.declared = arg.declared;
      facts.from_type_only = arg.from_type_only;
      return facts;
    }
    case ExactFunction::Corr:
      facts.lower = -1;
      facts.upper = 1;
      return facts;
    case ExactFunction::BoolAnd:
    case ExactFunction::BoolOr:
      facts.values = std::vector<catalog::Literal>{false, true};
      return facts;
    case ExactFunction::CovarPop:
    case ExactFunction::CovarSamp:
      return facts;
  }
  return facts;
}

Result<Relation> Binder::finish_aggregation(const Query& query, Relation input,
                                            Aggregation& aggregation) {
  if (!aggregation.exact) return finish_release(query, std::move(input), aggregation);
  Relation made = input;
  made.fields.clear();
  made.unit.reset();
  made.single_row = aggregation.keys.empty();
  made.one_row_per_unit = false;
  Aggregate node{input.plan, {}, aggregation.exact_aggregates};
  bool only_unit = !aggregation.keys.empty();
  for (const auto& key : aggregation.keys) {
    node.keys.emplace_back(key.id, key.scalar);
    Field field;
    field.id = key.id;
    field.type = key.scalar->type;
    if (const auto* id = as_column(*key.scalar))
      for (const Field& from : input.fields)
        if (from.id == *id) {
          field.anchor = from.anchor;
          field.per_unit = from.per_unit;
        }
    const auto* id = as_column(*key.scalar);
    const bool is_unit = id != nullptr && (input.unit == *id ||
                                           (!field.anchor.empty() && field.anchor == input.people));
    only_unit = only_unit && is_unit;
    if (is_unit) made.unit = key.id;
    made.fields.push_back(std::move(field));
  }
  if (input.privacy == Privacy::Private && !input.within_outer_unit) {
    if (only_unit) {
      made.one_row_per_unit = true;
      made.rows_max = 1;
    }
    // An order number decides its customer, so the unit may stand beside it as a key.
    if (!made.unit && input.unit) {
      Type type = integer_type();
      for (const Field& from : input.fields)
        if (from.id == *input.unit) type = from.type;
      Field field;
      field.id = new_column("", type);
      field.type = type;
      field.anchor = input.unit_is_row ? "" : input.people;
      node.keys.emplace_back(field.id, use_column(*input.unit, type));
      made.unit = field.id;
      made.fields.push_back(std::move(field));
    }
    for (Field& field : made.fields) field.per_unit |= only_unit;
  }
  for (const auto& [id, one] : aggregation.exact_aggregates) {
    Field field;
    field.id = id;
    field.per_unit = only_unit;
    field.type = double_type();
    made.fields.push_back(std::move(field));
  }
  made.plan = make_plan(std::move(node));
  return made;
}

}  // namespace discreet::sql
