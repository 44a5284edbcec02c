// Operators and functions: the allow-list, with types checked strictly.
//
// Strict because an engine that converts implicitly fails on some rows and not on others
// (zip = 10001 where zip is text), and such an error would tell about the rows.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "base/suggest.h"
#include "sql/binder_internal.h"
#include "sql/emit.h"
#include "sql/functions_internal.h"

namespace discreet::sql {
namespace {

const std::map<std::string_view, Function> kComparisons = {
    {"=", Function::Equal},         {"<>", Function::NotEqual},
    {"!=", Function::NotEqual},     {"<", Function::Less},
    {"<=", Function::LessEqual},    {">", Function::Greater},
    {">=", Function::GreaterEqual}, {"is distinct from", Function::IsDistinctFrom}};

const std::string_view kDateFields[] = {"year",   "quarter", "month", "week",   "day",    "dow",
                                        "isodow", "doy",     "hour",  "minute", "second", "epoch"};
const std::string_view kTruncFields[] = {"year", "quarter", "month",  "week",
                                         "day",  "hour",    "minute", "second"};

/// A constant date or time moved by a constant interval, as a constant; nothing if either is not
/// one. Months first, to the end of a shorter month, as PostgreSQL does.
ScalarPtr shifted(const Scalar& when, const Scalar& span, bool backwards) {
  const auto* start = as_constant(when);
  const auto* by = as_constant(span);
  const auto* interval = by == nullptr ? nullptr : std::get_if<IntervalConstant>(&by->value);
  if (start == nullptr || interval == nullptr) return nullptr;
  constexpr std::int64_t kDay = 86'400'000'000;
  std::int64_t micros = 0;
  if (const auto* date = std::get_if<catalog::Date>(&start->value))
    micros = date->days * kDay;
  else if (const auto* time = std::get_if<catalog::Timestamp>(&start->value))
    micros = time->micros;
  else
    return nullptr;
  const int sign = backwards ? -1 : 1;
  const auto days = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_time<std::chrono::microseconds>(std::chrono::microseconds(micros)));
  const std::int64_t of_day = micros - days.time_since_epoch().count() * kDay;
  std::chrono::year_month_day date(days);
  date += std::chrono::months(static_cast<int>(sign * interval->months));
  if (!date.ok()) date = date.year() / date.month() / std::chrono::last;
  if (static_cast<int>(date.year()) < 1 || static_cast<int>(date.year()) > 9999) return nullptr;
  const std::int64_t moved =
      (std::chrono::sys_days(date).time_since_epoch().count() + sign * interval->days) * kDay +
      of_day + sign * interval->micros;
  return make_scalar(Type{TypeKind::Timestamp, 0}, when.position,
                     Constant{catalog::Timestamp{moved}});
}

/// Beside a date, a constant midnight is that date: the engine then compares dates, not timestamps.
void compare_as_dates(std::vector<ScalarPtr>& args) {
  constexpr std::int64_t kDay = 86'400'000'000;
  const bool any_date = std::any_of(args.begin(), args.end(), [](const auto& arg) {
    return arg->type.kind == TypeKind::Date && as_constant(*arg) == nullptr;
  });
  const bool all = std::all_of(args.begin(), args.end(), [](const auto& arg) {
    return arg->type.kind == TypeKind::Date ||
           (arg->type.kind == TypeKind::Timestamp && as_constant(*arg) != nullptr);
  });
  if (!any_date || !all) return;
  for (auto& arg : args) {
    const auto* constant = as_constant(*arg);
    const auto* time =
        constant == nullptr ? nullptr : std::get_if<catalog::Timestamp>(&constant->value);
    if (time != nullptr && time->micros % kDay == 0)
      arg = make_scalar(Type{TypeKind::Date, 0}, arg->position,
                        Constant{catalog::Date{static_cast<std::int32_t>(time->micros / kDay)}});
  }
}

}  // namespace

Result<ScalarPtr> Binder::coerce(ScalarPtr scalar, Type type) {
  if (scalar->type == type || type.kind == TypeKind::Null) return scalar;
  const auto* constant = as_constant(*scalar);
  if (constant != nullptr && std::holds_alternative<std::monostate>(constant->value))
    return make_scalar(type, scalar->position, *constant);
  const auto* text = constant == nullptr ? nullptr : std::get_if<std::string>(&constant->value);
  if (text == nullptr || scalar->type.kind != TypeKind::Null) return scalar;
  // A quoted constant takes the type that is asked of it, here and not in the engine.
  const auto made = [&](Type of, ConstantValue value) {
    return make_scalar(of, scalar->position, Constant{std::move(value)});
  };
  switch (type.kind) {
    case TypeKind::Text:
      return made(type, *text);
    case TypeKind::Date:
      if (const auto date = parse_date(*text)) return made(type, *date);
      if (const auto time = parse_timestamp(*text))
        return made(Type{TypeKind::Timestamp, 0}, *time);
      return source_.invalid(scalar->position, fmt::format("'{}' is not a date", *text),
                             "Write dates as '2026-01-31'");
    case TypeKind::Timestamp:
      if (const auto time = parse_timestamp(*text)) return made(type, *time);
      return source_.invalid(scalar->position, fmt::format("'{}' is not a timestamp", *text),
                             "Write '2026-01-31 10:00:00'");
    case TypeKind::Boolean: {
      const auto word = lower_case(*text);
      if (word == "true" || word == "t") return made(type, true);
      if (word == "false" || word == "f") return made(type, false);
      return source_.invalid(scalar->position, fmt::format("'{}' is not true or false", *text));
    }
    case TypeKind::Integer:
    case TypeKind::Decimal:
    case TypeKind::Double: {
      Expr number{scalar->position, LiteralExpr{LiteralExpr::Number{*text}}};
      return bind_literal(number, std::get<LiteralExpr>(number.node));
    }
    case TypeKind::Interval:
      if (const auto span = parse_interval(*text, 0)) return made(type, *span);
      return source_.invalid(scalar->position, fmt::format("'{}' is not an interval", *text),
                             "Write '3 months' or '90 days'");
    case TypeKind::Null:
    case TypeKind::List:
      return scalar;
  }
  return scalar;
}

Result<Type> Binder::unify(std::vector<ScalarPtr>& args, std::size_t from, const char* what) {
  Type type{};
  for (std::size_t i = from; i < args.size(); ++i) {
    const auto common = common_type(type, args[i]->type);
    if (!common)
      return source_.invalid(args[i]->position,
                             fmt::format("{} mixes {} and {}", what, name(type), spoken(*args[i])),
                             "Cast one of them, for example CAST(x AS integer)");
    type = *common;
  }
  if (type.kind == TypeKind::Null) type = text_type();
  Type refined = type;
  for (std::size_t i = from; i < args.size(); ++i) {
    DISCREET_TRY(args[i], coerce(args[i], type));
    refined = common_type(refined, args[i]->type).value_or(type);
  }
  return refined;
}

Result<ScalarPtr> Binder::make_arithmetic(int position, const std::string& op,
                                          std::vector<ScalarPtr> args) {
  const Type date{TypeKind::Date, 0}, time{TypeKind::Timestamp, 0}, span{TypeKind::Interval, 0};
  // Dates and intervals first; a quoted constant beside a date is not a number.
  if (op == "+" || op == "-") {
    if (args[1]->type.is_time() && args[0]->type.kind == TypeKind::Interval && op == "+")
      std::swap(args[0], args[1]);
    if (args[0]->type.is_time()) {
      if (args[1]->type == span) {
        if (auto folded = shifted(*args[0], *args[1], op == "-")) return folded;
        return apply(time, position, op == "+" ? Function::AddInterval : Function::SubtractInterval,
                     std::move(args));
      }
      if (args[1]->type.kind == TypeKind::Integer && args[0]->type == date)
        return apply(date, position, op == "+" ? Function::AddDays : Function::SubtractDays,
                     std::move(args));
      if (op == "-") {
        DISCREET_TRY(args[1], coerce(args[1], args[0]->type));
        if (args[1]->type == date && args[0]->type == date)
          return apply(integer_type(), position, Function::DaysBetween, std::move(args));
      }
      return source_.refuse(position, "this arithmetic on dates and times is not supported",
                            "Subtract dates from dates, or add whole days or an INTERVAL");
    }
  }
  for (auto& arg : args) {
    DISCREET_TRY(arg, coerce(arg, double_type()));
    if (arg->type.kind == TypeKind::Null)
      arg = make_scalar(double_type(), arg->position, Constant{std::monostate{}});
    if (!arg->type.is_number())
      return source_.invalid(arg->position,
                             fmt::format("{} needs numbers, not {}", op, spoken(*arg)),
                             "Cast it, for example CAST(x AS integer)");
    // The engine has no guard around subqueries, so what is computed with them is done in doubles.
    if (has_subquery(*arg) && arg->type.kind != TypeKind::Double)
      arg = make_scalar(double_type(), arg->position, CastTo{arg});
  }
  const auto scale = [](const ScalarPtr& arg) {
    return arg->type.kind == TypeKind::Decimal ? arg->type.scale : 0;
  };
  const bool all_whole = std::all_of(args.begin(), args.end(), [](const auto& arg) {
    return arg->type.kind == TypeKind::Integer;
  });
  const bool any_double = std::any_of(
      args.begin(), args.end(), [](const auto& arg) { return arg->type.kind == TypeKind::Double; });
  Type type = all_whole ? integer_type() : double_type();
  Function function = Function::Add;
  if (op == "+" || op == "-") {
    function = op == "+" ? Function::Add : Function::Subtract;
    if (!all_whole && !any_double) type = decimal_type(std::max(scale(args[0]), scale(args[1])));
  } else if (op == "*") {
    function = Function::Multiply;
    const int both = scale(args[0]) + scale(args[1]);
    if (!all_whole && !any_double && both <= kDecimalScaleMax) type = decimal_type(both);
  } else if (op == "/") {
    function = Function::Divide;
  } else if (op == "%" || op == "mod") {
    function = Function::Modulo;
  } else if (op == "negate") {
    // -5 written as - 5 is a constant like any other.
    if (const auto* constant = as_constant(*args[0])) {
      if (const auto* whole = std::get_if<std::int64_t>(&constant->value))
        return make_scalar(integer_type(), position, Constant{-*whole});
      if (const auto* decimal = std::get_if<DecimalConstant>(&constant->value);
          decimal != nullptr && decimal->value > 0)
        return make_scalar(args[0]->type, position,
                           Constant{DecimalConstant{"-" + decimal->digits, -decimal->value}});
    }
    function = Function::Negate;
    type = args[0]->type;
  }
  return apply(type, position, function, std::move(args));
}

Result<ScalarPtr> Binder::make_call(int position, const std::string& function,
                                    std::vector<ScalarPtr> args) {
  const auto need = [&](std::size_t count) { return args.size() == count; };
  if (function == "and" || function == "or" || function == "not") {
    for (auto& arg : args) {
      DISCREET_TRY(arg, coerce(arg, boolean_type()));
      if (arg->type.kind != TypeKind::Boolean)
        return source_.invalid(arg->position,
                               fmt::format("{} needs conditions, not {}", function, spoken(*arg)));
    }
    return apply(boolean_type(), position,
                 function == "and"  ? Function::And
                 : function == "or" ? Function::Or
                                    : Function::Not,
                 std::move(args));
  }
  if (function == "is null" && need(1))
    return apply(boolean_type(), position, Function::IsNull, std::move(args));
  if ((function == "is true" || function == "is false") && need(1)) {
    DISCREET_TRY(args[0], coerce(args[0], boolean_type()));
    if (args[0]->type.kind != TypeKind::Boolean)
      return source_.invalid(position, "IS TRUE needs a condition");
    return apply(boolean_type(), position,
                 function == "is true" ? Function::IsTrue : Function::IsFalse, std::move(args));
  }
  if (const auto comparison = kComparisons.find(function);
      comparison != kComparisons.end() && need(2)) {
    DISCREET_TRY_VOID(unify(args, 0, "a comparison"));
    compare_as_dates(args);
    return apply(boolean_type(), position, comparison->second, std::move(args));
  }
  if (function == "in") {
    DISCREET_TRY_VOID(unify(args, 0, "IN"));
    return apply(boolean_type(), position, Function::In, std::move(args));
  }
  if ((function == "like" || function == "ilike") && need(2)) {
    for (auto& arg : args) {
      DISCREET_TRY(arg, coerce(arg, text_type()));
      if (arg->type.kind != TypeKind::Text)
        return source_.invalid(arg->position, fmt::format("LIKE needs text, not {}", spoken(*arg)));
    }
    return apply(boolean_type(), position, function == "like" ? Function::Like : Function::ILike,
                 std::move(args));
  }
  if ((function == "+" || function == "-" || function == "*" || function == "/" ||
       function == "%" || function == "mod") &&
      need(2))
    return make_arithmetic(position, function, std::move(args));
  if (function == "negate" && need(1)) return make_arithmetic(position, "negate", std::move(args));
  if (function == "plus" && need(1)) return args[0];
  if (function == "^" && need(2)) return make_call(position, "power", std::move(args));
  if (function == "||" || function == "concat") {
    for (auto& arg : args) {
      DISCREET_TRY(arg, coerce(arg, text_type()));
      if (arg->type.kind != TypeKind::Text)
        return source_.invalid(arg->position, fmt::format("|| needs text, not {}", spoken(*arg)),
                               "Cast it to text");
      if (function == "concat")  // NULL is skipped there, where || would give NULL
        arg = apply(text_type(), arg->position, Function::Coalesce,
                    {arg, make_scalar(text_type(), arg->position, Constant{std::string{}})});
    }
    return apply(text_type(), position, Function::Concat, std::move(args));
  }
  if (function == "coalesce" || function == "greatest" || function == "least" ||
      (function == "nullif" && need(2))) {
    if (args.empty()) return source_.invalid(position, function + " needs arguments");
    DISCREET_TRY(const Type type, unify(args, 0, function.c_str()));
    const Function made = function == "coalesce"   ? Function::Coalesce
                          : function == "greatest" ? Function::Greatest
                          : function == "least"    ? Function::Least
                                                   : Function::NullIf;
    const Type result = made == Function::NullIf ? args[0]->type : type;
    return apply(result, position, made, std::move(args));
  }
  if (is_volatile_function(function))
    return source_.refuse(
        position, fmt::format("{}() is not decided by the row alone", function),
        "Write the value as a constant, so that the same question has the same answer");
  const FunctionRule* rule = find_function(function);
  if (rule == nullptr)
    return source_.refuse(
        position,
        fmt::format("the function or operator '{}' is not on the list of total functions",
                    function),
        "docs/sql.md lists the functions that may be used");
  // round(x, digits) and trunc(x, digits), with constant digits.
  if ((rule->function == Function::Round || rule->function == Function::Trunc) && need(2)) {
    DISCREET_TRY(args[0], coerce(args[0], double_type()));
    const auto* digits = as_constant(*args[1]);
    const auto* count = digits == nullptr ? nullptr : std::get_if<std::int64_t>(&digits->value);
    if (!args[0]->type.is_number() || count == nullptr || std::abs(*count) > 12)
      return source_.refuse(position, function + " needs a number and a constant number of digits",
                            "Write round(x, 2)");
    if (rule->function == Function::Trunc)
      return source_.refuse(position, "trunc with digits is not supported", "Use round or floor");
    if (args[0]->type.kind == TypeKind::Integer)
      args[0] = make_scalar(double_type(), position, CastTo{args[0]});
    const Type type = args[0]->type.kind == TypeKind::Decimal
                          ? decimal_type(static_cast<int>(std::max<std::int64_t>(
                                0, std::min<std::int64_t>(*count, args[0]->type.scale))))
                          : double_type();
    return apply(type, position, Function::Round, std::move(args));
  }
  const auto optional_from = rule->args.find('?');
  const std::size_t most = rule->args.size() - (optional_from == std::string_view::npos ? 0 : 1);
  const std::size_t least = optional_from == std::string_view::npos ? most : optional_from;
  if (args.size() < least || args.size() > most)
    return source_.invalid(
        position, fmt::format("{} takes {} arguments, not {}", function, most, args.size()));
  std::size_t at = 0;
  for (const char kind : rule->args) {
    if (kind == '?') continue;
    if (at >= args.size()) break;
    auto& arg = args[at++];
    const Type wanted = kind == 'n'   ? double_type()
                        : kind == 'i' ? integer_type()
                        : kind == 'd' ? Type{TypeKind::Timestamp, 0}
                                      : text_type();
    DISCREET_TRY(arg, coerce(arg, wanted));
    const bool fits = kind == 'n'   ? arg->type.is_number()
                      : kind == 'i' ? arg->type.kind == TypeKind::Integer
                      : kind == 'd' ? arg->type.is_time()
                                    : arg->type.kind == TypeKind::Text;
    if (!fits)
      return source_.invalid(arg->position < 0 ? position : arg->position,
                             fmt::format("{} cannot take {} there", function, spoken(*arg)));
    if (kind == 'c') {
      const auto* constant = as_constant(*arg);
      const auto* field =
          constant == nullptr ? nullptr : std::get_if<std::string>(&constant->value);
      const bool known =
          field != nullptr && (rule->function == Function::DatePart
                                   ? std::find(std::begin(kDateFields), std::end(kDateFields),
                                               lower_case(*field)) != std::end(kDateFields)
                                   : std::find(std::begin(kTruncFields), std::end(kTruncFields),
                                               lower_case(*field)) != std::end(kTruncFields));
      if (!known)
        return source_.refuse(
            position, "this part of a date is not supported",
            "Use year, quarter, month, week, day, dow, doy, hour, minute, second or epoch");
      arg = make_scalar(text_type(), arg->position, Constant{lower_case(*field)});
    }
  }
  Type type{};
  switch (rule->result) {
    case FunctionRule::Result::Integer:
      type = integer_type();
      break;
    case FunctionRule::Result::Double:
      type = double_type();
      break;
    case FunctionRule::Result::Text:
      type = text_type();
      break;
    case FunctionRule::Result::Boolean:
      type = boolean_type();
      break;
    case FunctionRule::Result::Timestamp:
      type = Type{TypeKind::Timestamp, 0};
      break;
    case FunctionRule::Result::SameAsFirst:
      type = args[0]->type;
      break;
    case FunctionRule::Result::WholeOfFirst:
      type = args[0]->type.kind == TypeKind::Decimal ? decimal_type(0) : args[0]->type;
      break;
  }
  if (rule->function == Function::DatePart &&
      std::get<std::string>(as_constant(*args[0])->value) == "epoch")
    type = double_type();
  return apply(type, position, rule->function, std::move(args));
}

}  // namespace discreet::sql
