// Statistical tests and fits: aggregates whose result has several parts.
//
// A test is released as one text, a JSON object, so that one draw of noise serves all its parts;
// `(t_test(x, g)).p_value` reads a part off in the final statement. PostgreSQL's regr_* are parts
// of linear_regression(y, x), and all that are asked of one pair of columns share one release.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/suggest.h"
#include "sql/binder_internal.h"
#include "sql/emit.h"

namespace discreet::sql {
namespace {

constexpr std::size_t kGroupsMax = 64, kCellsMax = 400, kRegressorsMax = 12;

constexpr std::string_view kTests[] = {
    "t_test",         "prop_test",         "chi_square", "anova",
    "corr_test",      "linear_regression", "regr_slope", "regr_intercept",
    "regr_r2",        "regr_count",        "regr_avgx",  "regr_avgy",
    "regr_sxx",       "regr_syy",          "regr_sxy",   "quantile_interval",
    "median_interval"};

constexpr std::pair<std::string_view, const char*> kRegrParts[] = {
    {"regr_slope", "b1"},   {"regr_intercept", "b0"}, {"regr_r2", "r2"},
    {"regr_count", "rows"}, {"regr_avgx", "avg_x"},   {"regr_avgy", "avg_y"},
    {"regr_sxx", "sxx"},    {"regr_syy", "syy"},      {"regr_sxy", "sxy"}};

std::string name_of(const catalog::Literal& literal) {
  const auto* text = std::get_if<std::string>(&literal);
  return text != nullptr ? *text : catalog::to_string(literal);
}

ScalarPtr constant_of(const catalog::Literal& literal, Type type) {
  return std::visit(
      [&](const auto& value) { return make_scalar(type, -1, Constant{ConstantValue(value)}); },
      literal);
}

// Names of a result's parts.
std::vector<std::string> parts_of(const CallExpr& call) {
  if (call.function == "quantile_interval" || call.function == "median_interval")
    return {"estimate", "low", "high", "rows"};
  if (call.function == "chi_square") return {"statistic", "df", "p_value", "effect", "rows"};
  if (call.function == "anova") return {"statistic", "df", "p_value", "effect", "rows"};
  if (call.function == "linear_regression") {
    std::vector<std::string> parts = {"r2", "residual_sd", "rows"};
    for (std::size_t i = 0; i < call.args.size(); ++i)
      for (const char* part :
           {"", "_error", "_statistic", "_p_value", "_low", "_high", "_joint_low", "_joint_high"})
        parts.push_back(fmt::format("b{}{}", i, part));
    if (call.args.size() == 2)
      for (const char* part : {"avg_x", "avg_y", "sxx", "syy", "sxy"}) parts.emplace_back(part);
    return parts;
  }
  return {"statistic", "df", "p_value", "estimate", "standard_error", "low", "high", "rows"};
}

}  // namespace

bool Binder::is_test(const std::string& name) {
  return std::find(std::begin(kTests), std::end(kTests), name) != std::end(kTests);
}

ScalarPtr result_part(const ScalarPtr& result, const std::string& part) {
  return apply(double_type(), result->position, Function::ResultPart,
               {result, make_scalar(text_type(), -1, Constant{part})});
}

Result<ScalarPtr> Binder::bind_result_part(const Expr& expr, const CallExpr& call, Scope& scope) {
  const auto* inner = std::get_if<CallExpr>(&call.args[0]->node);
  if (inner == nullptr || inner->is_operator || !is_test(inner->function) ||
      inner->function.starts_with("regr_"))
    return source_.invalid(expr.position, "only results of statistical tests have parts",
                           "Write (t_test(x, g)).p_value");
  const auto& part = std::get<std::string>(std::get<LiteralExpr>(call.args[1]->node).value);
  const auto parts = parts_of(*inner);
  if (std::find(parts.begin(), parts.end(), part) == parts.end())
    return source_.invalid(
        expr.position,
        fmt::format("{} has no part '{}'{}", inner->function, part, did_you_mean(part, parts)),
        fmt::format("It has {}", fmt::join(parts, ", ")));
  DISCREET_TRY(const auto result, bind_expr(*call.args[0], scope));
  return result_part(result, part);
}

Result<ScalarPtr> Binder::bind_test(const Expr& expr, const CallExpr& call,
                                    Aggregation& aggregation) {
  Scope& below = *aggregation.below;
  Release& release = *aggregation.release;
  const std::string& function = call.function;
  if (call.distinct || call.star || call.within_group || !call.order.empty())
    return source_.invalid(expr.position,
                           fmt::format("{} takes values in parentheses, nothing else", function));
  // A sampling distribution needs independent draws, and the release one row per unit: the same.
  if (!aggregation.input.one_row_per_unit && aggregation.input.rows_max != std::uint64_t{1})
    return source_.refuse(
        expr.position,
        fmt::format("{} needs one row per person: rows of one person are not independent draws",
                    function),
        "Aggregate per person in a subquery first, for example SELECT t_test(x) FROM (SELECT "
        "person_id, avg(v) AS x FROM visits GROUP BY person_id) t");
  DISCREET_TRY(const auto asked, asked_bounds(expr, call));
  if (asked && !asked->per_row)
    return source_.invalid(expr.position, "a test takes contribution_bounds_per_row",
                           "With one row per person the two bounds mean the same");
  ScalarPtr filter;
  if (call.filter) {
    DISCREET_TRY(filter, bind_condition(call.filter, below, "FILTER"));
  }
  std::string identity =
      fmt::format("test {}|{}|", function.starts_with("regr_") ? "linear_regression" : function,
                  filter ? emit_scalar(*filter) : "");
  if (asked) identity += fmt::format("{}..{}|", asked->lower, asked->upper);
  std::vector<ScalarPtr> args;
  for (const auto& arg : call.args) {
    if (std::holds_alternative<ListExpr>(arg->node)) break;  // numbers, read where they are used
    DISCREET_TRY(auto bound, bind_node(*arg, below));
    DISCREET_TRY(bound,
                 coerce(bound, bound->type.kind == TypeKind::Null ? text_type() : bound->type));
    if (const auto* anchor = anchor_of(*bound, aggregation.input.fields);
        anchor != nullptr && !anchor->empty())
      return source_.refuse(
          expr.position,
          "the values of the privacy unit, and of columns that link to it, are never released",
          "Test a measured column");
    identity += emit_scalar(*bound) + "|";
    args.push_back(std::move(bound));
  }

  TestRelease test{};
  const auto wrong_form = [&](const char* forms) {
    return source_.invalid(expr.position, fmt::format("{} is written {}", function, forms));
  };
  const auto need_number = [&](const ScalarPtr& arg) -> Result<void> {
    if (arg->type.is_number()) return {};
    return source_.invalid(expr.position,
                           fmt::format("{} needs numbers, not {}", function, name(arg->type)));
  };
  const auto both = [&](const ScalarPtr& a, const ScalarPtr& b) {
    return !a ? b : !b ? a : apply(boolean_type(), -1, Function::And, {a, b});
  };
  // Every listed value of a grouping column, as a condition.
  struct Level {
    std::string name;
    ScalarPtr condition;
  };
  const auto levels_of = [&](const ScalarPtr& by) -> Result<std::vector<Level>> {
    std::vector<Level> levels;
    if (by->type.kind == TypeKind::Boolean) {
      levels.push_back({"true", apply(boolean_type(), -1, Function::IsTrue, {by})});
      levels.push_back({"false", apply(boolean_type(), -1, Function::IsFalse, {by})});
      return levels;
    }
    const Facts facts = facts_.of(*by);
    if (!facts.values)
      return source_.refuse(by->position,
                            "the groups of a test must be public, and these values are not",
                            "Ask the data owner to list the column's values (values = [...]), or "
                            "compare with a condition, for example t_test(x, ward = 'ICU')");
    for (const auto& value : *facts.values)
      levels.push_back({name_of(value), apply(boolean_type(), -1, Function::Equal,
                                              {by, constant_of(value, by->type)})});
    return levels;
  };
  const auto q = [](std::size_t value) { return fmt::format("q{}", value + 1); };
  const auto bounded_value = [&](const ScalarPtr& arg,
                                 const ScalarPtr& condition) -> Result<std::size_t> {
    DISCREET_TRY_VOID(need_number(arg));
    DISCREET_TRY(const auto value, add_value(arg, asked, condition, true, aggregation));
    aggregation.bound_is_sought[value] = false;
    if (release.values[value].origin == BoundsOrigin::Technical)
      return source_.refuse(arg->position,
                            fmt::format("{} needs a value within known bounds", function),
                            "Ask the data owner for `range = [low, high]` on the column, or write "
                            "contribution_bounds_per_row => (low, high)");
    if (release.values[value].lower == release.values[value].upper)
      return source_.invalid(arg->position, "the value's bounds leave it no room: it is constant");
    return value;
  };
  const auto count_of = [&](std::size_t value) {
    return add_feature(Feature::Kind::Count, value, std::nullopt,
                       fmt::format("count({})", q(value)), aggregation);
  };
  const auto sum_of = [&](std::size_t value) {
    return add_feature(Feature::Kind::Sum, value, std::nullopt,
                       fmt::format("coalesce(sum({}), 0)", q(value)), aggregation);
  };
  const auto product_of = [&](std::size_t a, std::size_t b) {
    return add_feature(a == b ? Feature::Kind::SumOfSquares : Feature::Kind::SumOfProducts, a,
                       a == b ? std::nullopt : std::optional(b),
                       fmt::format("coalesce(sum(CAST({} AS HUGEINT) * {}), 0)", q(a), q(b)),
                       aggregation);
  };
  const auto moments_of = [&](const ScalarPtr& arg,
                              const ScalarPtr& condition) -> Result<TestRelease::Moments> {
    DISCREET_TRY(const auto value, bounded_value(arg, condition));
    return TestRelease::Moments{count_of(value), sum_of(value), product_of(value, value)};
  };
  const auto constant_number = [&](std::size_t at) -> std::optional<double> {
    const auto* constant = at < args.size() ? as_constant(*args[at]) : nullptr;
    const double value = constant == nullptr ? std::nan("") : as_number(constant->value);
    return std::isnan(value) || args[at]->type.is_time() ? std::nullopt : std::optional(value);
  };
  // A policy's word for one row per unit is enforced by this count.
  add_rows({}, aggregation);

  if (function == "t_test") {
    if (args.empty() || args.size() > 2)
      return wrong_form("t_test(x), t_test(x, mean) or t_test(x, group)");
    const auto mean = constant_number(1);
    if (args.size() == 1 || mean) {
      test.kind = TestRelease::Kind::OneSample;
      test.null = mean.value_or(0);
      DISCREET_TRY(const auto one, moments_of(args[0], filter));
      test.groups.push_back(one);
    } else {
      test.kind = TestRelease::Kind::TwoSample;
      DISCREET_TRY(const auto levels, levels_of(args[1]));
      if (levels.size() != 2)
        return source_.invalid(
            args[1]->position,
            fmt::format("t_test compares two groups, and there are {}", levels.size()),
            "Use anova(x, group), or a condition: t_test(x, ward = 'ICU')");
      for (const Level& level : levels) {
        DISCREET_TRY(const auto one, moments_of(args[0], both(filter, level.condition)));
        test.groups.push_back(one);
        test.names.push_back(level.name);
      }
    }
  } else if (function == "anova") {
    if (args.size() != 2) return wrong_form("anova(x, group)");
    test.kind = TestRelease::Kind::Anova;
    DISCREET_TRY(const auto levels, levels_of(args[1]));
    if (levels.size() < 2 || levels.size() > kGroupsMax)
      return source_.invalid(args[1]->position,
                             fmt::format("anova compares 2 to {} groups, and there are {}",
                                         kGroupsMax, levels.size()));
    for (const Level& level : levels) {
      DISCREET_TRY(const auto one, moments_of(args[0], both(filter, level.condition)));
      test.groups.push_back(one);
      test.names.push_back(level.name);
    }
  } else if (function == "prop_test") {
    if (args.empty() || args.size() > 2 || args[0]->type.kind != TypeKind::Boolean)
      return wrong_form(
          "prop_test(condition), prop_test(condition, chance) or prop_test(condition, group)");
    const ScalarPtr yes = apply(boolean_type(), -1, Function::IsTrue, {args[0]}),
                    no = apply(boolean_type(), -1, Function::IsFalse, {args[0]});
    const auto chance = constant_number(1);
    std::vector<Level> levels = {{"", nullptr}};
    test.kind = TestRelease::Kind::Proportion;
    test.null = chance.value_or(0.5);
    if (!(test.null > 0 && test.null < 1))
      return source_.invalid(expr.position, "the chance of the null lies strictly between 0 and 1");
    if (args.size() == 2 && !chance) {
      test.kind = TestRelease::Kind::TwoProportions;
      DISCREET_TRY(levels, levels_of(args[1]));
      if (levels.size() != 2)
        return source_.invalid(
            args[1]->position,
            fmt::format("prop_test compares two groups, and there are {}", levels.size()),
            "Use chi_square(condition, group), or a condition in place of the group");
    }
    for (const Level& level : levels) {
      test.cells.push_back(add_rows({filter, level.condition, yes}, aggregation));
      test.cells.push_back(add_rows({filter, level.condition, no}, aggregation));
      if (level.condition) test.names.push_back(level.name);
    }
    test.columns = 2;
  } else if (function == "chi_square") {
    if (args.empty() || call.args.size() > 2)
      return wrong_form("chi_square(a, b), chi_square(a) or chi_square(a, ARRAY[chances])");
    DISCREET_TRY(const auto rows, levels_of(args[0]));
    if (args.size() == 2) {
      test.kind = TestRelease::Kind::Independence;
      DISCREET_TRY(const auto columns, levels_of(args[1]));
      if (rows.size() < 2 || columns.size() < 2 || rows.size() * columns.size() > kCellsMax)
        return source_.invalid(expr.position,
                               fmt::format("chi_square takes 2 or more values a column and at most "
                                           "{} cells, not {} x {}",
                                           kCellsMax, rows.size(), columns.size()));
      for (const Level& row : rows)
        for (const Level& column : columns)
          test.cells.push_back(add_rows({filter, row.condition, column.condition}, aggregation));
      test.columns = columns.size();
    } else {
      test.kind = TestRelease::Kind::Fit;
      if (rows.size() < 2 || rows.size() > kCellsMax)
        return source_.invalid(expr.position, "chi_square takes a column of 2 to 400 values");
      for (const Level& row : rows) {
        test.cells.push_back(add_rows({filter, row.condition}, aggregation));
        test.names.push_back(row.name);
      }
      test.columns = rows.size();
      test.chances.assign(rows.size(), 1.0 / static_cast<double>(rows.size()));
      if (call.args.size() == 2) {
        DISCREET_TRY(test.chances, bind_numbers(*call.args[1], "the chances"));
        double sum = 0;
        for (const double chance : test.chances) sum += chance > 0 ? chance : std::nan("");
        if (test.chances.size() != rows.size() || !(std::fabs(sum - 1) < 1e-9))
          return source_.invalid(
              call.args[1]->position,
              fmt::format("the chances are {} positive numbers that sum to 1, one for each value",
                          rows.size()));
      }
      for (const double chance : test.chances) identity += fmt::format("{},", chance);
    }
  } else if (function == "quantile_interval" || function == "median_interval") {
    const bool median = function == "median_interval";
    const auto fraction = median ? std::optional(0.5) : constant_number(1);
    if (args.size() != (median ? 1 : 2) || !fraction)
      return wrong_form("quantile_interval(x, fraction) or median_interval(x)");
    if (!(*fraction > 0 && *fraction < 1))
      return source_.invalid(expr.position, "a fraction lies strictly between 0 and 1");
    DISCREET_TRY_VOID(need_number(args[0]));
    QuantileIntervalRelease quantile{0, *fraction};
    DISCREET_TRY(quantile.stream, add_stream(args[0], asked, filter, aggregation));
    const std::size_t value = release.streams[quantile.stream].value;
    aggregation.bound_is_sought[value] = false;
    if (release.values[value].origin == BoundsOrigin::Technical)
      return source_.refuse(args[0]->position,
                            fmt::format("{} needs a value within known bounds", function),
                            "Ask the data owner for `range = [low, high]` on the column, or write "
                            "contribution_bounds_per_row => (low, high)");
    return add_result(expr, call, quantile, "quantile" + identity.substr(4), aggregation);
  } else {  // corr_test, linear_regression, regr_*: PostgreSQL's order, y first
    const bool regression = function == "linear_regression";
    if (regression ? args.size() < 2 || args.size() > kRegressorsMax + 1 : args.size() != 2)
      return wrong_form(regression ? "linear_regression(y, x1, ..., x12)" : "f(y, x)");
    test.kind =
        function == "corr_test" ? TestRelease::Kind::Correlation : TestRelease::Kind::Regression;
    // Only rows where all are present count.
    ScalarPtr present = filter;
    for (const auto& arg : args)
      present = both(present, apply(boolean_type(), -1, Function::Not,
                                    {apply(boolean_type(), -1, Function::IsNull, {arg})}));
    std::vector<std::size_t> values;
    for (std::size_t i = 1; i <= args.size(); ++i) {  // regressors first, y last
      const ScalarPtr& arg = args[i % args.size()];
      DISCREET_TRY(const auto value, bounded_value(arg, present));
      values.push_back(value);
      test.sums.push_back(sum_of(value));
    }
    test.count = count_of(values.back());
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t j = i; j < values.size(); ++j)
        test.products.push_back(product_of(values[i], values[j]));
  }
  DISCREET_TRY(const auto result, add_result(expr, call, std::move(test), identity, aggregation));
  for (const auto& [regr, part] : kRegrParts)
    if (function == regr) {
      auto value = result_part(result, part);
      return function == "regr_count" ? make_scalar(integer_type(), expr.position, CastTo{value})
                                      : value;
    }
  return result;
}

Result<ScalarPtr> Binder::add_result(const Expr& expr, const CallExpr& call, AggregateKind kind,
                                     const std::string& identity, Aggregation& aggregation) {
  Release& release = *aggregation.release;
  for (std::size_t i = 0; i < aggregation.release_texts.size(); ++i)
    if (aggregation.release_texts[i] == identity)
      return use_column(aggregation.release_ids[i], text_type(), expr.position);
  AggregateRelease made;
  made.text = text_of(expr.position, call);
  made.kind = std::move(kind);
  made.type = text_type();
  made.column = fmt::format("a{}", release.aggregates.size() + 1);
  const ColumnId id = new_column(call.function, text_type());
  computed_from_[id] = {made.column};
  release.aggregates.push_back(std::move(made));
  aggregation.release_ids.push_back(id);
  aggregation.release_texts.push_back(identity);
  return use_column(id, text_type(), expr.position);
}

}  // namespace discreet::sql
