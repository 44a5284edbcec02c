#include "sql/postgres_phrases_internal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sql/emit.h"

namespace discreet::sql::postgres {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();
constexpr char kInfinity[] = "CAST('Infinity' AS double precision)";

/// A number as people write it, few enough digits to compute with.
constexpr char kNumberPattern[] =
    R"('^[[:space:]]*[+-]?([0-9]{1,40}[.]?[0-9]{0,40}|[.][0-9]{1,40})([eE][+-]?[0-9]{1,3})?[[:space:]]*$')";
constexpr char kDatePattern[] = R"('^[[:space:]]*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[[:space:]]*$')";
constexpr char kTimePattern[] =
    R"('^[[:space:]]*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ T]([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?[[:space:]]*$')";

/// The first ten characters or so are a day that exists.
std::string is_day(const std::string& x) {
  const auto part = [&](int which) {
    return fmt::format("CAST(split_part(substring(btrim({}), '^[0-9-]+'), '-', {}) AS integer)", x,
                       which);
  };
  return fmt::format(
      "CASE WHEN {0} BETWEEN 1 AND 9999 AND {1} BETWEEN 1 AND 12 AND {2} BETWEEN 1 AND 31 THEN "
      "{2} <= date_part('day', make_date({0}, {1}, 1) + INTERVAL '1 month' - INTERVAL '1 day') "
      "ELSE false END",
      part(1), part(2), part(3));
}

std::string from_text(const std::string& x, Type to) {
  const auto number = fmt::format("CAST({} AS numeric)", x);
  switch (to.kind) {
    case TypeKind::Integer:
      return fmt::format("CASE WHEN {} ~ {} THEN {} END", x, kNumberPattern,
                         within_bigint(fmt::format("round({})", number)));
    case TypeKind::Decimal:
      return fmt::format(
          "CASE WHEN {} ~ {} THEN {} END", x, kNumberPattern,
          within_digits(fmt::format("round({}, {})", number, to.scale), 18 - to.scale));
    case TypeKind::Double:
      return fmt::format(
          "CASE WHEN lower(btrim({0})) IN ('inf', 'infinity', '+inf', '+infinity', '-inf', "
          "'-infinity', 'nan') THEN CAST({0} AS double precision) WHEN {0} ~ {1} THEN CASE WHEN "
          "abs({2}) > 1.79e308 THEN NULL WHEN abs({2}) < 1e-300 THEN 0 ELSE CAST({0} AS double "
          "precision) END END",
          x, kNumberPattern, number);
    case TypeKind::Boolean:
      return fmt::format(
          "CASE WHEN lower(btrim({0})) IN ('true', 't', '1', 'yes', 'y') THEN true WHEN "
          "lower(btrim({0})) IN ('false', 'f', '0', 'no', 'n') THEN false END",
          x);
    case TypeKind::Date:
      return fmt::format("CASE WHEN {0} ~ {1} THEN CASE WHEN {2} THEN CAST({0} AS date) END END", x,
                         kDatePattern, is_day(x));
    case TypeKind::Timestamp:
      return fmt::format(
          "CASE WHEN {0} ~ {1} THEN CASE WHEN {2} THEN CAST({0} AS timestamp) END END", x,
          kTimePattern, is_day(x));
    default:
      return x;
  }
}

/// Reals that look whole are written with a point, as DuckDB does.
std::string real_text(const std::string& x) {
  return fmt::format(
      "CASE WHEN {0} ~ '^-?[0-9]+$' THEN {0} || '.0' ELSE lower(replace({0}, 'Infinity', 'inf')) "
      "END",
      fmt::format("CAST({} AS text)", x));
}

}  // namespace

// A space, and those beyond ASCII.
const char* const kSpaces =
    "E' \\u00A0\\u1680\\u2000\\u2001\\u2002\\u2003\\u2004\\u2005\\u2006\\u2007\\u2008\\u2009\\u200A"
    "\\u202F\\u205F\\u3000'";

// PostgreSQL's own names, which are those people read; what has no type yet is text.
std::string type_name(Type type) {
  return type.kind == TypeKind::Null ? "text" : name(type);
}

std::string real_literal(double value) {
  return fmt::format("CAST('{}' AS double precision)", value);
}

std::string power_of_ten(int digits) {
  return "1" + std::string(static_cast<std::size_t>(std::max(0, digits)), '0');
}

std::string literal(const ConstantValue& value, Type type) {
  struct Write {
    Type type;
    std::string operator()(std::monostate) const {
      return type.kind == TypeKind::Null ? "NULL"
                                         : fmt::format("CAST(NULL AS {})", type_name(type));
    }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const {
      return fmt::format("CAST({} AS bigint)", whole);
    }
    std::string operator()(const DecimalConstant& decimal) const {
      return decimal.value < 0 ? "(" + decimal.digits + ")" : decimal.digits;
    }
    std::string operator()(double real) const { return real_literal(real); }
    std::string operator()(const std::string& text) const {
      return fmt::format("CAST({} AS text)", quote_text(text));
    }
    std::string operator()(catalog::Date date) const {
      return fmt::format("(DATE '1970-01-01' + {})", date.days);
    }
    std::string operator()(catalog::Timestamp time) const {
      return fmt::format("(TIMESTAMP '1970-01-01 00:00:00' + INTERVAL '{} microseconds')",
                         time.micros);
    }
    std::string operator()(const IntervalConstant& span) const {
      return fmt::format("INTERVAL '{} months {} days {} microseconds'", span.months, span.days,
                         span.micros);
    }
  };
  return std::visit(Write{type}, value);
}

bool is_leaf(const Scalar& one) {
  return std::holds_alternative<ColumnUse>(one.node) || std::holds_alternative<Constant>(one.node);
}

double reach(const Scalar& one) {
  if (const auto* constant = as_constant(one)) {
    const double value = std::fabs(as_number(constant->value));
    if (std::isnan(value))
      return std::holds_alternative<std::monostate>(constant->value) ? 0 : kUnknown;
    return value == 0 ? 0 : std::isinf(value) ? kUnknown : std::fabs(std::log10(value)) + 1;
  }
  if (one.type.kind == TypeKind::Integer) return 19;
  if (one.type.kind == TypeKind::Decimal) return 60;
  if (const auto* cast = std::get_if<CastTo>(&one.node))
    return cast->arg->type.is_number() ? reach(*cast->arg) : kUnknown;
  if (const auto* when = std::get_if<CaseWhen>(&one.node)) {
    double most = reach(*when->otherwise);
    for (const auto& [condition, result] : when->branches) most = std::max(most, reach(*result));
    return most;
  }
  const auto* applied = std::get_if<Apply>(&one.node);
  if (applied == nullptr) return kUnknown;
  const auto of = [&](std::size_t i) { return reach(*applied->args.at(i)); };
  switch (applied->function) {
    case Function::Add:
    case Function::Subtract:
      return std::max(of(0), of(1)) + 17;  // what is left after cancelling
    case Function::Multiply:
    case Function::Divide:
      return of(0) + of(1);
    case Function::Negate:
    case Function::Abs:
    case Function::Ceil:
    case Function::Floor:
    case Function::Trunc:
    case Function::Round:
    case Function::Sqrt:
      return of(0) + 1;
    case Function::Coalesce:
    case Function::Greatest:
    case Function::Least: {
      double most = 0;
      for (std::size_t i = 0; i < applied->args.size(); ++i) most = std::max(most, of(i));
      return most;
    }
    default:
      return kUnknown;
  }
}

std::string as_real(const Scalar& one, const ScalarWriter& writer) {
  if (const auto* constant = as_constant(one))
    if (const double value = as_number(constant->value); !std::isnan(value) && one.type.is_number())
      return real_literal(value);
  const auto text = writer.write(one);
  return one.type.kind == TypeKind::Double ? text
                                           : fmt::format("CAST({} AS double precision)", text);
}

std::string once(const std::string& x, bool leaf,
                 const std::function<std::string(const std::string&)>& phrase) {
  if (leaf) return phrase(x);
  return fmt::format("(SELECT {} FROM (SELECT {} AS x) AS o)", phrase("x"), x);
}

std::string once(const std::string& x, const std::string& y, bool leaves,
                 const std::function<std::string(const std::string&, const std::string&)>& phrase) {
  if (leaves) return phrase(x, y);
  return fmt::format("(SELECT {} FROM (SELECT {} AS x, {} AS y) AS o)", phrase("x", "y"), x, y);
}

std::string within_bigint(const std::string& number) {
  // Said once: what is out of range becomes the first number beyond it, and that becomes NULL.
  return fmt::format(
      "CAST(nullif(nullif(least(greatest({}, -9223372036854775809), 9223372036854775808), "
      "-9223372036854775809), 9223372036854775808) AS bigint)",
      number);
}

std::string within_digits(const std::string& number, int digits) {
  const auto limit = power_of_ten(digits);
  return fmt::format("nullif(nullif(least(greatest({0}, -{1}), {1}), -{1}), {1})", number, limit);
}

std::string cast_to(const std::string& text, bool leaf, Type from, Type to) {
  if (from == to) return text;
  const auto plain = [&] { return fmt::format("CAST({} AS {})", text, type_name(to)); };
  if (from.kind == TypeKind::Null) return plain();
  if (from.kind == TypeKind::Text)
    return once(text, leaf, [&](const std::string& x) { return from_text(x, to); });
  if (to.kind == TypeKind::Text) {
    if (from.kind == TypeKind::Double) return once(text, leaf, real_text);
    return plain();
  }
  if (from.kind == TypeKind::Double && to.kind == TypeKind::Integer)
    return once(text, leaf, [](const std::string& x) {
      return fmt::format(
          "CASE WHEN {0} >= -9223372036854775808 AND {0} < 9223372036854775808 THEN CAST({0} AS "
          "bigint) END",
          x);
    });
  if (from.kind == TypeKind::Double && to.kind == TypeKind::Decimal)
    return once(text, leaf, [&](const std::string& x) {
      const auto most = power_of_ten(18 - to.scale);
      return fmt::format(
          "CASE WHEN {0} > -{1} AND {0} < {1} THEN CASE WHEN abs({0}) < 1e-20 THEN 0 ELSE "
          "CAST(CAST({0} * {2} AS bigint) AS numeric) / {3} END END",
          x, most, real_literal(std::pow(10.0, to.scale)),
          power_of_ten(to.scale) +
              (to.scale > 0 ? "." + std::string(static_cast<std::size_t>(to.scale), '0') : ""));
    });
  if (from.kind == TypeKind::Decimal && to.kind == TypeKind::Integer)
    return within_bigint(fmt::format("round({})", text));
  if (to.kind == TypeKind::Decimal)
    return within_digits(fmt::format("round(CAST({} AS numeric), {})", text, to.scale),
                         18 - to.scale);
  if (from.kind == TypeKind::Boolean && to.kind == TypeKind::Integer)
    return fmt::format("CAST(CAST({} AS integer) AS bigint)", text);
  if (from.kind == TypeKind::Integer && to.kind == TypeKind::Boolean)
    return fmt::format("({} <> 0)", text);
  if (from.kind == TypeKind::Date && to.kind == TypeKind::Timestamp)
    return over_time(text, leaf, from, true, [](const std::string& x) { return x; });
  return plain();
}

namespace {

// `product` where it is a number, infinity where it is too large for one and zero where it is too
// small: PostgreSQL raises an error there. `size` is its logarithm; near both ends that is not
// exact enough, and the number itself is compared, 2^600 times smaller or larger.
std::string within_reals(const std::string& size, const std::string& product,
                         const std::string& smaller, const std::string& larger,
                         const std::string& infinite) {
  return fmt::format(
      "WHEN {0} > 709.79 THEN {4} WHEN {0} > 709.78 THEN CASE WHEN {2} >= 4.332296397063773e127 "
      "THEN {4} ELSE {1} END WHEN {0} < -745.2 THEN 0 WHEN {0} < -744.4 THEN CASE WHEN {3} <= "
      "1.0250665447337477e-143 THEN 0 ELSE {1} END ELSE {1} END",
      size, product, smaller, larger, infinite);
}
constexpr const char* kScale = "4.149515568880993e180";       // 2^600
constexpr const char* kScaleDown = "2.409919865102884e-181";  // 2^-600

}  // namespace

std::string real(Function function, const std::string& x, const std::string& y) {
  const auto either = fmt::format("(abs({}) >= {} OR abs({}) >= {})", x, kInfinity, y, kInfinity);
  const auto infinite = fmt::format("sign({}) * sign({}) * {}", x, y, kInfinity);
  switch (function) {
    case Function::Add:
    case Function::Subtract: {
      const char* op = function == Function::Add ? "+" : "-";
      return fmt::format(
          "CASE WHEN (abs({0}) < 8e307 AND abs({1}) < 8e307) OR {2} THEN {0} {3} {1} WHEN abs({0}) "
          "< 1e290 THEN 0 {3} {1} WHEN abs({1}) < 1e290 THEN {0} WHEN abs({0} * 0.5 {3} {1} * 0.5) "
          ">= 8.98846567431158e307 THEN sign({0}) * {4} ELSE {0} {3} {1} END",
          x, y, either, op, kInfinity);
    }
    case Function::Multiply:
      return fmt::format(
          "CASE WHEN abs({0}) < 1e150 AND abs({1}) < 1e150 AND ({0} = 0 OR {1} = 0 OR (abs({0}) > "
          "1e-150 AND abs({1}) > 1e-150)) THEN {0} * {1} WHEN {2} OR {0} = 0 OR {1} = 0 THEN {0} * "
          "{1} {3}",
          x, y, either,
          within_reals(fmt::format("ln(abs({})) + ln(abs({}))", x, y), fmt::format("{} * {}", x, y),
                       fmt::format("greatest(abs({0}), abs({1})) * {2} * least(abs({0}), abs({1}))",
                                   x, y, kScaleDown),
                       fmt::format("least(abs({0}), abs({1})) * {2} * greatest(abs({0}), abs({1}))",
                                   x, y, kScale),
                       infinite));
    case Function::Divide:
      return fmt::format(
          "CASE WHEN {1} = 0 THEN NULL WHEN abs({0}) < 1e150 AND abs({1}) < 1e150 AND abs({1}) > "
          "1e-150 AND ({0} = 0 OR abs({0}) > 1e-150) THEN {0} / {1} WHEN {2} OR {0} = 0 THEN {0} / "
          "{1} {3}",
          x, y, either,
          within_reals(fmt::format("ln(abs({})) - ln(abs({}))", x, y), fmt::format("{} / {}", x, y),
                       fmt::format("abs({}) * {} / abs({})", x, kScaleDown, y),
                       fmt::format("abs({}) * {} / abs({})", x, kScale, y), infinite));
    default:  // the remainder, of numbers that numeric can hold
      return fmt::format(
          "CASE WHEN {1} = 0 OR abs({0}) > 1e100 OR abs({1}) > 1e100 OR abs({1}) < 1e-100 THEN "
          "NULL "
          "ELSE CAST(mod(CAST({0} AS numeric), CAST({1} AS numeric)) AS double precision) END",
          x, y);
  }
}

std::string exponential(const std::string& x) {
  return fmt::format(
      "CASE WHEN {0} = 'NaN' THEN {0} WHEN {0} > 709.782712893384 THEN {1} WHEN {0} < "
      "-745.1332191019411 THEN 0 ELSE "
      "exp({0}) END",
      x, kInfinity);
}

std::string power(const std::string& x, const std::string& y) {
  const auto size = fmt::format("{} * ln(abs({}))", y, x);
  return fmt::format(
      "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN {1} = 0 OR {0} = 1 THEN 1 WHEN {0} = "
      "'NaN' OR {1} = 'NaN' THEN CAST('NaN' AS double precision) WHEN {0} = 0 THEN CASE WHEN {1} > "
      "0 THEN 0 ELSE {3} END WHEN abs({0}) >= {3} OR abs({1}) >= {3} THEN CASE WHEN {0} < 0 AND "
      "{1} <> trunc({1}) AND abs({1}) < {3} THEN CASE WHEN {1} > 0 THEN {3} ELSE 0 END ELSE "
      "power({0}, {1}) END WHEN {0} < 0 AND {1} <> trunc({1}) THEN CAST('NaN' AS double precision) "
      "WHEN abs({1}) > 1e6 OR {2} > 709.78271289 OR {2} < -745.133219 THEN CASE WHEN ({1} > 0) = "
      "(abs({0}) > 1) "
      "THEN CASE WHEN {0} < 0 AND trunc({1} / 2) * 2 <> {1} THEN - {3} ELSE {3} END ELSE 0 END "
      "ELSE "
      "power({0}, {1}) END",
      x, y, size, kInfinity);
}

std::string rounded(const std::string& x) {
  return fmt::format(
      "CASE WHEN abs({0}) >= 4503599627370496 THEN {0} WHEN abs({0} - trunc({0})) >= 0.5 THEN "
      "trunc({0}) + sign({0}) ELSE trunc({0}) END",
      x);
}

std::string rounded_to(const std::string& x, int digits) {
  const auto modifier = real_literal(std::pow(10.0, std::abs(digits)));
  if (digits >= 0)
    return fmt::format(
        "CASE WHEN abs({0}) >= 1e290 THEN {0} WHEN abs({0}) < 1e-100 THEN 0 ELSE {1} / {2} END", x,
        rounded(fmt::format("({} * {})", x, modifier)), modifier);
  return fmt::format(
      "CASE WHEN abs({0}) >= {3} THEN 0 WHEN abs({0}) < 0.25 THEN 0 ELSE {1} * {2} END", x,
      rounded(fmt::format("({} / {})", x, modifier)), modifier, kInfinity);
}

std::string kept_below(const std::string& x, const char* most) {
  return fmt::format(
      "CASE WHEN abs({0}) <= {1} OR abs({0}) >= {2} THEN {0} ELSE sign({0}) * {1} END", x, most,
      kInfinity);
}

std::string squarable(const std::string& x) {
  return fmt::format(
      "CASE WHEN {0} = 'NaN' THEN NULL WHEN abs({0}) < 1e-140 THEN 0 ELSE least(greatest({0}, "
      "-1e140), 1e140) END",
      x);
}

std::string over_time(const std::string& text, bool leaf, Type type, bool keep_infinite,
                      const std::function<std::string(const std::string&)>& phrase) {
  return once(text, leaf, [&](const std::string& x) {
    const char* kind = type.kind == TypeKind::Date ? "DATE" : "TIMESTAMP";
    const auto time = type.kind == TypeKind::Date ? fmt::format("CAST({} AS timestamp)", x) : x;
    const auto infinite =
        keep_infinite ? fmt::format("WHEN NOT isfinite({}) THEN {} ", x, time) : std::string();
    return fmt::format(
        "CASE {0}WHEN {1} > {2} '4700-01-01 BC' AND {1} < {2} '290000-01-01' THEN {3} END",
        infinite, x, kind, phrase(time));
  });
}

std::string moved(const std::string& day, const std::string& days, const char* sign) {
  // Days from PostgreSQL's first to its last, counted from 1970.
  return fmt::format(
      "CASE WHEN NOT isfinite({0}) THEN {0} WHEN {1} BETWEEN -4000000000 AND 4000000000 THEN CASE "
      "WHEN ({0} - DATE '1970-01-01') {2} {1} BETWEEN -2440588 AND 2145042904 THEN {0} {2} "
      "CAST({1} "
      "AS integer) END END",
      day, days, sign);
}

std::string microseconds(const std::string& t) {
  // By parts: as seconds in a double the last digits would be lost.
  const auto part = [&](const char* field) {
    return fmt::format("CAST(date_part('{}', {}) AS bigint)", field, t);
  };
  return fmt::format(
      "(CAST(CAST({} AS date) - DATE '1970-01-01' AS bigint) * 86400000000 + {} * 3600000000 + {} "
      "* "
      "60000000 + {})",
      t, part("hour"), part("minute"), part("microseconds"));
}

bool too_long(const IntervalConstant& span) {
  return std::fabs(static_cast<double>(span.months)) / 12 +
             std::fabs(static_cast<double>(span.days)) / 365 +
             std::fabs(static_cast<double>(span.micros)) / 3.15e13 >
         2000;
}

}  // namespace discreet::sql::postgres
