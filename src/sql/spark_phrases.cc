#include "sql/spark_phrases_internal.h"

#include <cmath>

#include <fmt/format.h>

namespace discreet::sql::spark {
namespace {

/// A number as people write it, few enough digits to compute with. Java's own reader takes more:
/// "1d", "0x1p3".
constexpr char kNumberPattern[] =
    R"('^\\s*[+-]?([0-9]{1,40}[.]?[0-9]{0,40}|[.][0-9]{1,40})([eE][+-]?[0-9]{1,3})?\\s*$')";
constexpr char kDatePattern[] = R"('^\\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\\s*$')";
constexpr char kTimePattern[] =
    R"('^\\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ T]([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?\\s*$')";
constexpr char kSpaceSet[] = R"(' \t\n\r\u000B\f')";

std::string from_text(const std::string& x, Type to) {
  const auto trimmed = fmt::format("btrim({}, {})", x, kSpaceSet);
  switch (to.kind) {
    case TypeKind::Integer:
      return fmt::format(
          "CASE WHEN {} RLIKE {} THEN try_cast(round(CAST({} AS DECIMAL(38,18)), 0) AS BIGINT) END",
          x, kNumberPattern, trimmed);
    case TypeKind::Decimal:
      return fmt::format("CASE WHEN {} RLIKE {} THEN CAST({} AS DECIMAL(18,{})) END", x,
                         kNumberPattern, trimmed, to.scale);
    case TypeKind::Double:
      return fmt::format(
          "CASE WHEN lower({0}) IN ('inf', 'infinity', '+inf', '+infinity', '-inf', '-infinity', "
          "'nan') THEN CAST({0} AS DOUBLE) WHEN {1} RLIKE {2} THEN CASE WHEN abs(CAST({0} AS "
          "DOUBLE)) > 1.79E308D THEN NULL WHEN abs(CAST({0} AS DOUBLE)) < 1E-300D THEN 0D ELSE "
          "CAST({0} AS DOUBLE) END END",
          trimmed, x, kNumberPattern);
    case TypeKind::Boolean:
      return fmt::format(
          "CASE WHEN lower({0}) IN ('true', 't', '1', 'yes', 'y') THEN true WHEN lower({0}) IN "
          "('false', 'f', '0', 'no', 'n') THEN false END",
          trimmed);
    case TypeKind::Date:
      return fmt::format("CASE WHEN {} RLIKE {} THEN CAST({} AS DATE) END", x, kDatePattern,
                         trimmed);
    case TypeKind::Timestamp:
      return fmt::format("CASE WHEN {} RLIKE {} THEN CAST({} AS TIMESTAMP) END", x, kTimePattern,
                         trimmed);
    default:
      return x;
  }
}

}  // namespace

std::string type_name(Type type) {
  switch (type.kind) {
    case TypeKind::Boolean:
      return "BOOLEAN";
    case TypeKind::Integer:
      return "BIGINT";
    case TypeKind::Decimal:
      return fmt::format("DECIMAL(38,{})", type.scale);
    case TypeKind::Double:
      return "DOUBLE";
    case TypeKind::Date:
      return "DATE";
    case TypeKind::Timestamp:
      return "TIMESTAMP";
    default:
      return "STRING";
  }
}

std::string quoted_text(const std::string& text) {
  // No quote stands inside the quotes, so that what only knows doubled ones reads it right.
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "\\u0027";
    else if (c == '\\')
      quoted += "\\\\";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string quoted_name(const std::string& name) {
  std::string quoted = "`";
  for (const char c : name) {
    quoted += c;
    if (c == '`') quoted += c;
  }
  return quoted + "`";
}

std::string real_literal(double value) {
  return fmt::format("CAST('{}' AS DOUBLE)", value);
}

std::string whole_literal(std::int64_t value) {
  return fmt::format("CAST({} AS BIGINT)", value);
}

std::string decimal_digits(std::int64_t q, int scale) {
  auto digits = std::to_string(q);
  const bool negative = digits.starts_with('-');
  if (negative) digits.erase(0, 1);
  const auto after = static_cast<std::size_t>(scale);
  if (digits.size() <= after) digits.insert(0, after + 1 - digits.size(), '0');
  if (after > 0) digits.insert(digits.size() - after, ".");
  return (negative ? "-" : "") + digits;
}

std::string literal(const ConstantValue& value, Type type) {
  struct Write {
    Type type;
    std::string operator()(std::monostate) const {
      return type.kind == TypeKind::Null ? "NULL"
                                         : fmt::format("CAST(NULL AS {})", type_name(type));
    }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return whole_literal(whole); }
    std::string operator()(const DecimalConstant& decimal) const {
      return decimal.value < 0 ? "(" + decimal.digits + ")" : decimal.digits;
    }
    std::string operator()(double real) const { return real_literal(real); }
    std::string operator()(const std::string& text) const { return quoted_text(text); }
    std::string operator()(catalog::Date date) const {
      return fmt::format("date_from_unix_date({})", date.days);
    }
    std::string operator()(catalog::Timestamp time) const {
      return fmt::format("timestamp_micros({})", whole_literal(time.micros));
    }
    std::string operator()(const IntervalConstant& span) const {
      return fmt::format("make_interval(0, {}, 0, {}, 0, 0, CAST({} AS DECIMAL(18,6)) / 1000000)",
                         span.months, span.days, span.micros);
    }
  };
  return std::visit(Write{type}, value);
}

std::string as_real(const Scalar& one, const ScalarWriter& writer) {
  if (const auto* constant = as_constant(one))
    if (const double value = as_number(constant->value); !std::isnan(value) && one.type.is_number())
      return real_literal(value);
  const auto text = writer.write(one);
  return one.type.kind == TypeKind::Double ? text : fmt::format("CAST({} AS DOUBLE)", text);
}

std::string as_decimal(const std::string& text, int digits, int scale) {
  return fmt::format("CAST({} AS DECIMAL({},{}))", text, digits, scale);
}

std::string cast_to(const std::string& text, Type from, Type to) {
  if (from == to) return text;
  const auto plain = [&] { return fmt::format("CAST({} AS {})", text, type_name(to)); };
  if (from.kind == TypeKind::Null) return plain();
  if (from.kind == TypeKind::Text) return from_text(text, to);
  if (to.kind == TypeKind::Text) {
    // Beyond six digits after the point Spark would write small numbers with an exponent.
    if (from.kind == TypeKind::Decimal && from.scale > 6)
      return fmt::format(
          "concat(CASE WHEN {0} < 0 THEN '-' ELSE '' END, CAST(CAST(floor(abs({0})) AS "
          "DECIMAL(38,0)) AS STRING), '.', lpad(CAST(CAST((abs({0}) - floor(abs({0}))) * {1} AS "
          "DECIMAL(38,0)) AS STRING), {2}, '0'))",
          text, "1" + std::string(static_cast<std::size_t>(from.scale), '0'), from.scale);
    return plain();
  }
  if (from.kind == TypeKind::Double && to.kind == TypeKind::Integer)
    return fmt::format(
        "CASE WHEN {0} >= -9223372036854775808D AND {0} < 9223372036854775808D THEN CAST(rint({0}) "
        "AS BIGINT) END",
        text);
  if (from.kind == TypeKind::Double && to.kind == TypeKind::Decimal) {
    const double most = std::pow(10.0, 18 - to.scale);
    return fmt::format(
        "CASE WHEN abs({0}) < {1} THEN CAST(CAST(CAST(rint({0} * {2}) AS BIGINT) AS DECIMAL(19,0)) "
        "* CAST({3} AS DECIMAL(18,{4})) AS DECIMAL(18,{4})) END",
        text, real_literal(most), real_literal(std::pow(10.0, to.scale)),
        to.scale == 0 ? std::string("1")
                      : "0." + std::string(static_cast<std::size_t>(to.scale - 1), '0') + "1",
        to.scale);
  }
  if (from.kind == TypeKind::Decimal && to.kind == TypeKind::Integer)
    return fmt::format("try_cast(round({}, 0) AS BIGINT)", text);
  if (to.kind == TypeKind::Decimal) return as_decimal(text, 18, to.scale);
  if (from.kind == TypeKind::Integer && to.kind == TypeKind::Boolean)
    return fmt::format("({} <> 0)", text);
  if (from.kind == TypeKind::Date && to.kind == TypeKind::Timestamp)
    return over_time(text, from, [](const std::string& x) { return x; });
  return plain();
}

std::string rounded(const std::string& x) {
  return fmt::format("round({}, 0)", x);
}

std::string kept_real(const char* function, const std::string& x) {
  // Beyond this all reals are whole.
  return fmt::format("CASE WHEN abs({0}) < 4503599627370496D THEN CAST({1} AS DOUBLE) ELSE {0} END",
                     x, fmt::format(fmt::runtime(function), x));
}

std::string squarable(const std::string& x) {
  return fmt::format(
      "CASE WHEN isnan({0}) THEN NULL WHEN {0} IS NULL THEN NULL ELSE least(greatest({0}, "
      "-1E140D), 1E140D) END",
      x);
}

std::string over_time(const std::string& x, Type type,
                      const std::function<std::string(const std::string&)>& phrase) {
  if (type.kind == TypeKind::Date)
    return fmt::format("CASE WHEN unix_date({0}) BETWEEN -100000000 AND 100000000 THEN {1} END", x,
                       phrase(fmt::format("CAST({} AS TIMESTAMP)", x)));
  return fmt::format(
      "CASE WHEN unix_micros({0}) BETWEEN -9000000000000000000 AND 9000000000000000000 THEN {1} "
      "END",
      x, phrase(x));
}

std::string date_part(const std::string& field, const std::string& t) {
  const auto whole = [](const std::string& text) {
    return fmt::format("CAST({} AS BIGINT)", text);
  };
  if (field == "dow") return whole(fmt::format("(dayofweek({}) - 1)", t));
  if (field == "isodow") return whole(fmt::format("(weekday({}) + 1)", t));
  if (field == "doy") return whole(fmt::format("dayofyear({})", t));
  if (field == "week") return whole(fmt::format("weekofyear({})", t));
  if (field == "epoch") return fmt::format("(CAST(unix_micros({}) AS DOUBLE) / 1000000D)", t);
  return whole(fmt::format("{}({})", field, t));
}

}  // namespace discreet::sql::spark
