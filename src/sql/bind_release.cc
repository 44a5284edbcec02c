// A release: aggregates over many people's rows, taken apart into integers per unit and group.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sql/binder_internal.h"
#include "sql/emit.h"
#include "sql/rewrite.h"

namespace discreet::sql {
std::string Binder::text_of(int position, const CallExpr& call) const {
  // From the name to its closing parenthesis, as written.
  const std::string& text = source_.text();
  if (position < 0 || static_cast<std::size_t>(position) >= text.size()) return call.function;
  int depth = 0;
  for (std::size_t at = static_cast<std::size_t>(position); at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0)
      return text.substr(static_cast<std::size_t>(position),
                         at + 1 - static_cast<std::size_t>(position));
  }
  return call.function;
}

Result<std::optional<AskedBounds>> Binder::asked_bounds(const Expr& expr, const CallExpr& call) {
  std::optional<AskedBounds> asked;
  for (const auto& [name, value] : call.named) {
    if (name != "contribution_bounds_per_group" && name != "contribution_bounds_per_row")
      return source_.invalid(
          value->position, fmt::format("there is no argument '{}'", name),
          "Write contribution_bounds_per_group => (lower, upper), or contribution_bounds_per_row");
    if (asked) return source_.invalid(value->position, "give one kind of contribution bounds");
    const auto* list = std::get_if<ListExpr>(&value->node);
    if (list == nullptr || list->items.size() != 2)
      return source_.invalid(value->position, "contribution bounds are a pair (lower, upper)");
    DISCREET_TRY(const auto ends, bind_numbers(*value, "contribution bounds"));
    if (!(ends[0] <= ends[1]))
      return source_.invalid(value->position,
                             "the lower contribution bound is above the upper one");
    asked = AskedBounds{name == "contribution_bounds_per_row", ends[0], ends[1]};
  }
  (void)expr;
  return asked;
}

Result<std::size_t> Binder::add_value(const ScalarPtr& scalar,
                                      const std::optional<AskedBounds>& asked,
                                      const ScalarPtr& filter, bool for_products,
                                      Aggregation& aggregation, bool only_counted) {
  Release& release = *aggregation.release;
  ScalarPtr raw = scalar;
  if (filter)
    raw = make_scalar(
        scalar->type, scalar->position,
        CaseWhen{{{filter, scalar}}, make_scalar(scalar->type, -1, Constant{std::monostate{}})});
  const std::string key =
      fmt::format("{}/{}/{}", emit_scalar(*raw), for_products,
                  asked && asked->per_row ? fmt::format("{}..{}", asked->lower, asked->upper) : "");
  std::size_t known = 0;
  while (known < aggregation.value_keys.size() && aggregation.value_keys[known] != key) ++known;
  const bool is_new = known == aggregation.value_keys.size();
  GridChoice choice = is_new ? choose_grid(scalar->type, facts_.of(*scalar), asked, for_products)
                             : GridChoice{release.values[known]};
  choice.value.expression = emit_scalar(*raw);
  // An average and a variance of one column are on the same grid where its range is narrow: the
  // same value then, so that they share their sums.
  const auto same_as = [&](const Value& other) {
    return other.expression == choice.value.expression && other.grid == choice.value.grid &&
           other.lower == choice.value.lower && other.upper == choice.value.upper &&
           other.origin == choice.value.origin;
  };
  if (is_new)
    known = static_cast<std::size_t>(
        std::find_if(release.values.begin(), release.values.end(), same_as) -
        release.values.begin());
  // Under bounds per group what a unit adds is clamped to them: no bound per row is needed.
  const bool per_group = (asked && !asked->per_row) || only_counted;
  const bool sought =
      choice.value.origin == BoundsOrigin::Technical && !per_group && scalar->type.is_number();
  if (sought && policy_.bounds() == catalog::BoundsRule::Declared)
    return source_.refuse(scalar->position,
                          "the policy insists on declared bounds, and this value has none",
                          "Ask the data owner for `range = [low, high]` on the column, or write "
                          "contribution_bounds_per_row => (low, high)");
  if (known < release.values.size()) {
    if (sought) aggregation.bound_is_sought[known] = true;
    return known;
  }
  aggregation.bound_is_sought.push_back(sought);
  release.values.push_back(choice.value);
  aggregation.raw.push_back(raw);
  aggregation.value_keys.push_back(key);
  return release.values.size() - 1;
}

std::size_t Binder::add_feature(Feature::Kind kind, std::optional<std::size_t> value,
                                std::optional<std::size_t> second, const std::string& sql,
                                Aggregation& aggregation) {
  Release& release = *aggregation.release;
  for (std::size_t i = 0; i < aggregation.feature_sql.size(); ++i)
    if (aggregation.feature_sql[i] == sql) return i;
  aggregation.feature_sql.push_back(sql);
  release.features.push_back(
      {kind, fmt::format("f{}", release.features.size() + 1), value, second, std::nullopt});
  return release.features.size() - 1;
}

std::size_t Binder::add_rows(const std::vector<ScalarPtr>& conditions, Aggregation& aggregation) {
  std::vector<ScalarPtr> given;
  for (const auto& condition : conditions)
    if (condition) given.push_back(condition);
  const auto condition = join_conjuncts(given);
  if (!condition)
    return add_feature(Feature::Kind::Rows, std::nullopt, std::nullopt, "count(*)", aggregation);
  const auto text = emit_scalar(*condition);
  std::size_t index = 0;
  while (index < aggregation.conditions.size() &&
         emit_scalar(*aggregation.conditions[index]) != text)
    ++index;
  if (index == aggregation.conditions.size()) aggregation.conditions.push_back(condition);
  const auto feature =
      add_feature(Feature::Kind::Rows, std::nullopt, std::nullopt,
                  fmt::format("count(*) FILTER (WHERE p{})", index + 1), aggregation);
  aggregation.release->features[feature].condition = index;
  return feature;
}

Result<std::size_t> Binder::add_stream(const ScalarPtr& scalar,
                                       const std::optional<AskedBounds>& asked,
                                       const ScalarPtr& filter, Aggregation& aggregation) {
  Release& release = *aggregation.release;
  DISCREET_TRY(const auto value, add_value(scalar, asked, filter, false, aggregation));
  for (std::size_t i = 0; i < release.streams.size(); ++i)
    if (release.streams[i].value == value) return i;
  ValueStream stream;
  stream.value = value;
  stream.is_text = scalar->type.kind == TypeKind::Text;
  if (const Facts facts = facts_.of(*scalar); facts.values) stream.domain = *facts.values;
  release.streams.push_back(std::move(stream));
  return release.streams.size() - 1;
}

Result<ScalarPtr> Binder::bind_release_aggregate(const Expr& expr, const CallExpr& call,
                                                 Aggregation& aggregation) {
  Scope& below = *aggregation.below;
  Release& release = *aggregation.release;
  const std::string& function = call.function;
  DISCREET_TRY(const auto asked, asked_bounds(expr, call));
  ScalarPtr filter;
  if (call.filter) {
    DISCREET_TRY(filter, bind_condition(call.filter, below, "FILTER"));
  }

  std::vector<ScalarPtr> args;
  const bool has_parameter =
      function == "top_k" || function == "histogram" || function == "approx_cdf" ||
      function == "cdf" || function == "approx_quantiles" ||
      ((function == "percentile_cont" || function == "percentile_disc") && !call.within_group);
  const std::size_t values = call.within_group ? 0
                             : has_parameter   ? std::min<std::size_t>(1, call.args.size())
                                               : call.args.size();
  for (std::size_t i = 0; i < values; ++i) {
    DISCREET_TRY(auto bound, bind_node(*call.args[i], below));
    DISCREET_TRY(bound,
                 coerce(bound, bound->type.kind == TypeKind::Null ? text_type() : bound->type));
    args.push_back(std::move(bound));
  }
  bool descending = false;
  if (call.within_group) {
    if (call.order.size() != 1)
      return source_.invalid(expr.position, "WITHIN GROUP needs one ORDER BY expression");
    DISCREET_TRY(auto bound, bind_node(*call.order[0].expr, below));
    descending = call.order[0].descending;
    args.push_back(std::move(bound));
  } else if (!call.order.empty()) {
    return source_.refuse(expr.position, "ORDER BY inside this aggregate has no meaning",
                          "Drop it");
  }
  const auto need = [&](std::size_t count) -> Result<void> {
    if (args.size() != count)
      return source_.invalid(expr.position, fmt::format("{} takes {} value{}", function, count,
                                                        count == 1 ? "" : "s"));
    return {};
  };
  const auto need_numbers = [&]() -> Result<void> {
    for (const auto& arg : args)
      if (!arg->type.is_number())
        return source_.invalid(expr.position,
                               fmt::format("{} needs numbers, not {}", function, name(arg->type)));
    return {};
  };
  const auto* anchor = args.empty() ? nullptr : anchor_of(*args[0], aggregation.input.fields);
  const bool is_unit = anchor != nullptr && !anchor->empty() && *anchor == aggregation.input.people;
  if (anchor != nullptr && !anchor->empty() && function != "count")
    return source_.refuse(
        expr.position,
        "the values of the privacy unit, and of columns that link to it, are never released",
        "Count them: count(DISTINCT x)");
  if (call.distinct && function != "count")
    return source_.refuse(expr.position,
                          fmt::format("{}(DISTINCT ...) mixes different people's values", function),
                          fmt::format("Use {} without DISTINCT, or count(DISTINCT x)", function));

  AggregateRelease made;
  made.text = text_of(expr.position, call);
  made.asked = asked;
  made.type = double_type();
  if (filter) made.filter_rows = add_rows({filter}, aggregation);
  const auto not_null = [&](const ScalarPtr& arg) {
    return apply(boolean_type(), -1, Function::Not,
                 {apply(boolean_type(), -1, Function::IsNull, {arg})});
  };
  const auto q = [](std::size_t value) { return fmt::format("q{}", value + 1); };
  const auto count_of = [&](std::size_t value) {
    return add_feature(Feature::Kind::Count, value, std::nullopt,
                       fmt::format("count({})", q(value)), aggregation);
  };
  const auto sum_of = [&](std::size_t value) {
    return add_feature(Feature::Kind::Sum, value, std::nullopt,
                       fmt::format("coalesce(sum({}), 0)", q(value)), aggregation);
  };
  const auto product_of = [&](std::size_t a, std::size_t b) {
    const bool wide = std::max(-release.values[a].lower, release.values[a].upper) > (1LL << 31) ||
                      std::max(-release.values[b].lower, release.values[b].upper) > (1LL << 31);
    const auto sql = wide ? fmt::format("coalesce(sum(CAST({} AS HUGEINT) * {}), 0)", q(a), q(b))
                          : fmt::format("coalesce(sum({} * {}), 0)", q(a), q(b));
    return add_feature(a == b ? Feature::Kind::SumOfSquares : Feature::Kind::SumOfProducts, a,
                       a == b ? std::nullopt : std::optional(b), sql, aggregation);
  };

  if (function == "count" || function == "countif" || function == "count_if") {
    made.type = integer_type();
    const bool constant = args.size() == 1 && as_constant(*args[0]) != nullptr &&
                          !std::holds_alternative<std::monostate>(as_constant(*args[0])->value);
    if (function != "count") {
      DISCREET_TRY_VOID(need(1));
      if (args[0]->type.kind != TypeKind::Boolean)
        return source_.invalid(expr.position, "countif needs a condition");
      made.kind = CountRelease{add_rows({filter, args[0]}, aggregation)};
    } else if (call.star || (constant && !call.distinct)) {
      made.kind = CountRelease{add_rows({filter}, aggregation)};
    } else if (!call.distinct) {
      DISCREET_TRY_VOID(need(1));
      // A whole number is on its grid whenever it is there: the count that sums and averages of
      // the column need too. Reals can be there without a place (NaN).
      if (args[0]->type.kind == TypeKind::Integer) {
        DISCREET_TRY(const auto value,
                     add_value(args[0], std::nullopt, filter, false, aggregation, true));
        made.kind = CountRelease{count_of(value)};
      } else {
        made.kind = CountRelease{add_rows({filter, not_null(args[0])}, aggregation)};
      }
    } else {
      DISCREET_TRY_VOID(need(1));
      if (is_unit) {
        made.kind = CountUnitsRelease{};
        // On the far side of a LEFT JOIN the unit's column is NULL where nothing matched.
        if (const auto* id = as_column(*args[0]); id == nullptr || aggregation.input.unit != *id)
          made.filter_rows = add_rows({filter, not_null(args[0])}, aggregation);
      } else if (anchor != nullptr && !anchor->empty()) {
        // Every value belongs to one unit, so counts of different values simply add up.
        if (filter)
          return source_.refuse(expr.position, "count(DISTINCT key) with FILTER is not supported",
                                "Put the condition into WHERE");
        DISCREET_TRY(const auto value,
                     add_value(args[0], std::nullopt, nullptr, false, aggregation));
        made.kind =
            CountRelease{add_feature(Feature::Kind::Distinct, value, std::nullopt,
                                     fmt::format("count(DISTINCT {})", q(value)), aggregation)};
      } else {
        DISCREET_TRY(const auto stream, add_stream(args[0], std::nullopt, filter, aggregation));
        made.kind = CountDistinctRelease{stream};
      }
    }
  } else if (function == "approx_count_distinct") {
    DISCREET_TRY_VOID(need(1));
    made.type = integer_type();
    DISCREET_TRY(const auto stream, add_stream(args[0], std::nullopt, filter, aggregation));
    made.kind = CountDistinctRelease{stream};
  } else if (function == "sum" || function == "avg") {
    DISCREET_TRY_VOID(need(1));
    DISCREET_TRY_VOID(need_numbers());
    DISCREET_TRY(const auto value, add_value(args[0], asked, filter, false, aggregation));
    const auto count = count_of(value), sum = sum_of(value);
    if (function == "sum") {
      made.kind = SumRelease{count, sum};
      made.type = released_type(args[0]->type);
    } else {
      made.kind = AvgRelease{count, sum};
    }
  } else if (function.starts_with("var") || function.starts_with("stddev")) {
    DISCREET_TRY_VOID(need(1));
    DISCREET_TRY_VOID(need_numbers());
    DISCREET_TRY(const auto value, add_value(args[0], asked, filter, true, aggregation));
    const auto count = count_of(value), sum = sum_of(value);
    made.kind = VarianceRelease{count, sum, product_of(value, value), !function.ends_with("_pop"),
                                function.starts_with("stddev")};
  } else if (function == "covar_pop" || function == "covar_samp" || function == "corr") {
    DISCREET_TRY_VOID(need(2));
    DISCREET_TRY_VOID(need_numbers());
    // Only rows where both are present count, for all six sums.
    auto both = apply(boolean_type(), -1, Function::And, {not_null(args[0]), not_null(args[1])});
    if (filter) both = apply(boolean_type(), -1, Function::And, {filter, both});
    // PostgreSQL's order is (y, x); the measures are symmetric.
    DISCREET_TRY(const auto y, add_value(args[0], asked, both, true, aggregation));
    DISCREET_TRY(const auto x, add_value(args[1], asked, both, true, aggregation));
    const auto kind = function == "corr"        ? CovarianceRelease::Kind::Correlation
                      : function == "covar_pop" ? CovarianceRelease::Kind::Population
                                                : CovarianceRelease::Kind::Sample;
    const auto count = count_of(x), sum_x = sum_of(x), sum_y = sum_of(y);
    CovarianceRelease covariance{
        kind,        count, sum_x, sum_y, product_of(x, x), product_of(y, y), product_of(x, y),
        std::nullopt};
    // Where every unit has one row the correlation is released in nine cells, which need the mixed
    // products; in ranges so narrow that they are whole numbers that fit.
    const auto narrow = [&](std::size_t value) {
      const Value& v = release.values[value];
      return v.origin != BoundsOrigin::Technical && v.lower >= -(1 << 16) && v.upper <= (1 << 16);
    };
    const bool single_row =
        aggregation.input.one_row_per_unit || aggregation.input.rows_max == std::uint64_t{1};
    if (function == "corr" && single_row && narrow(x) && narrow(y)) {
      const auto mixed = [&](int power, int second_power, const std::string& product) {
        const std::size_t feature =
            add_feature(Feature::Kind::SumOfProducts, x, y,
                        fmt::format("coalesce(sum(CAST({} AS HUGEINT)), 0)", product), aggregation);
        release.features[feature].power = power;
        release.features[feature].second_power = second_power;
        return feature;
      };
      // Each factor is below 2^17, so a product of three fits 64 bits; the fourth is taken wide.
      covariance.mixed = {
          mixed(2, 1, fmt::format("{0} * {0} * {1}", q(x), q(y))),
          mixed(1, 2, fmt::format("{0} * {1} * {1}", q(x), q(y))),
          mixed(2, 2, fmt::format("CAST({0} * {0} AS HUGEINT) * ({1} * {1})", q(x), q(y)))};
    }
    made.kind = covariance;
  } else if (function == "min" || function == "max") {
    DISCREET_TRY_VOID(need(1));
    if (!args[0]->type.is_ordered_number())
      return source_.refuse(
          expr.position,
          fmt::format("{} of {} would show a person's value", function, name(args[0]->type)),
          "Ask min and max of numbers, dates and timestamps");
    DISCREET_TRY(const auto stream, add_stream(args[0], asked, filter, aggregation));
    made.kind = ExtremeRelease{stream, function == "max"};
    made.type = released_type(args[0]->type);
  } else if (function == "median" || function == "percentile_cont" ||
             function == "percentile_disc" || function == "approx_quantiles") {
    DISCREET_TRY_VOID(need(1));
    if (!args[0]->type.is_ordered_number())
      return source_.invalid(expr.position, fmt::format("{} needs numbers or dates, not {}",
                                                        function, name(args[0]->type)));
    QuantilesRelease quantiles{0, {0.5}, function != "percentile_disc", false};
    if (function == "approx_quantiles") {
      if (call.args.size() != 2)
        return source_.invalid(expr.position,
                               "approx_quantiles takes a value and a number of parts");
      DISCREET_TRY(const auto parts, bind_numbers(*call.args[1], "the number of parts"));
      if (parts.size() != 1 || parts[0] < 1 || parts[0] > 1000 || parts[0] != std::floor(parts[0]))
        return source_.invalid(expr.position,
                               "the number of parts is a whole number from 1 to 1000");
      quantiles.fractions.clear();
      for (int i = 0; i <= static_cast<int>(parts[0]); ++i)
        quantiles.fractions.push_back(i / parts[0]);
      quantiles.as_list = true;
      quantiles.continuous = false;
    } else if (function != "median") {
      const std::size_t at = call.within_group ? 0 : 1;
      if (call.args.size() != at + 1)
        return source_.invalid(
            expr.position,
            "a percentile is written percentile_cont(0.5) WITHIN GROUP (ORDER BY x)");
      DISCREET_TRY(quantiles.fractions, bind_numbers(*call.args[at], "fractions"));
      quantiles.as_list = std::holds_alternative<ListExpr>(call.args[at]->node);
    }
    for (double& fraction : quantiles.fractions) {
      if (!(fraction >= 0 && fraction <= 1))
        return source_.invalid(expr.position, "a fraction lies between 0 and 1");
      if (descending) fraction = 1 - fraction;
    }
    DISCREET_TRY(quantiles.stream, add_stream(args[0], asked, filter, aggregation));
    made.type = quantiles.as_list         ? Type{TypeKind::List, 0}
                : args[0]->type.is_time() ? args[0]->type
                : quantiles.continuous    ? double_type()
                                          : released_type(args[0]->type);
    made.kind = std::move(quantiles);
  } else if (function == "mode") {
    DISCREET_TRY_VOID(need(1));
    DISCREET_TRY(const auto stream, add_stream(args[0], std::nullopt, filter, aggregation));
    made.kind = ModeRelease{stream};
    made.type = released_type(args[0]->type);
  } else if (function == "top_k") {
    if (call.args.size() != 2)
      return source_.invalid(expr.position, "top_k takes a value and how many",
                             "Write top_k(diagnosis, 5)");
    DISCREET_TRY(const auto k, bind_numbers(*call.args[1], "k"));
    if (k.size() != 1 || k[0] < 1 || k[0] > 10000 || k[0] != std::floor(k[0]))
      return source_.invalid(expr.position, "k is a whole number from 1 to 10000");
    DISCREET_TRY(const auto stream, add_stream(args[0], std::nullopt, filter, aggregation));
    made.kind = TopKRelease{stream, static_cast<std::uint64_t>(k[0])};
    made.type = Type{TypeKind::List, 0};
  } else if (function == "histogram" || function == "approx_cdf" || function == "cdf") {
    if (call.args.size() != 2)
      return source_.invalid(expr.position,
                             fmt::format("{} takes a value and an array of edges", function),
                             "Write histogram(age, ARRAY[0, 18, 65, 120])");
    if (!args[0]->type.is_number())
      return source_.invalid(
          expr.position, fmt::format("{} needs numbers, not {}", function, name(args[0]->type)));
    HistogramRelease histogram{{}, {}, function != "histogram"};
    DISCREET_TRY(histogram.edges, bind_numbers(*call.args[1], "edges"));
    if (!std::is_sorted(histogram.edges.begin(), histogram.edges.end(), std::less_equal<>()) ||
        histogram.edges.size() > 10001)
      return source_.invalid(expr.position,
                             "edges rise from one to the next, and there are at most 10001");
    if (!histogram.cumulative && histogram.edges.size() < 2)
      return source_.invalid(expr.position, "a histogram needs two edges or more");
    const auto edge = [&](double at) { return make_scalar(double_type(), -1, Constant{at}); };
    const auto compare = [&](Function how, double at) {
      return apply(boolean_type(), -1, how, {args[0], edge(at)});
    };
    if (histogram.cumulative) {
      for (std::size_t i = 0; i < histogram.edges.size(); ++i)
        histogram.bins.push_back(
            add_rows({filter, i == 0 ? nullptr : compare(Function::Greater, histogram.edges[i - 1]),
                      compare(Function::LessEqual, histogram.edges[i])},
                     aggregation));
      histogram.bins.push_back(
          add_rows({filter, compare(Function::Greater, histogram.edges.back())}, aggregation));
    } else {
      for (std::size_t i = 0; i + 1 < histogram.edges.size(); ++i) {
        const bool last = i + 2 == histogram.edges.size();
        histogram.bins.push_back(
            add_rows({filter, compare(Function::GreaterEqual, histogram.edges[i]),
                      compare(last ? Function::LessEqual : Function::Less, histogram.edges[i + 1])},
                     aggregation));
      }
    }
    made.kind = std::move(histogram);
    made.type = Type{TypeKind::List, 0};
  } else {
    return source_.refuse(expr.position,
                          fmt::format("{} shows whether single rows exist", function),
                          "Use count(*) FILTER (WHERE ...)");
  }

  std::string identity = fmt::format("{}|{}|{}|{}|{}", function, call.distinct, call.star,
                                     descending, filter ? emit_scalar(*filter) : "");
  for (const auto& arg : args) identity += "|" + emit_scalar(*arg);
  if (has_parameter || call.within_group)
    for (std::size_t i = call.within_group ? 0 : 1; i < call.args.size(); ++i) {
      DISCREET_TRY(const auto numbers, bind_numbers(*call.args[i], "parameters"));
      for (const double number : numbers) identity += fmt::format(",{}", number);
    }
  if (asked) identity += fmt::format("|{}|{}|{}", asked->per_row, asked->lower, asked->upper);
  for (std::size_t i = 0; i < aggregation.release_texts.size(); ++i)
    if (aggregation.release_texts[i] == identity)
      return use_column(aggregation.release_ids[i], release.aggregates[i].type, expr.position);
  made.column = fmt::format("a{}", release.aggregates.size() + 1);
  const Type type = made.type;
  const ColumnId id = new_column(function, type);
  computed_from_[id] = {made.column};
  release.aggregates.push_back(std::move(made));
  aggregation.release_ids.push_back(id);
  aggregation.release_texts.push_back(std::move(identity));
  return use_column(id, type, expr.position);
}

}  // namespace discreet::sql
