// Spark 4 (and 3.5), in a session with ANSI mode off. Spark then gives NULL for what does not fit,
// but lets whole numbers of 64 bits wrap around: arithmetic that may is written with try_
// functions. Decimals of more than 38 digits lose digits silently, so that factors are kept short.
#include <cmath>

#include <fmt/format.h>

#include "sql/emit.h"
#include "sql/engine_text_internal.h"
#include "sql/spark_phrases_internal.h"

namespace discreet::sql {
namespace {

using namespace spark;

/// What DuckDB's trim takes off: Unicode's space separators.
constexpr char kSpaces[] =
    "' \\u00A0\\u1680\\u2000\\u2001\\u2002\\u2003\\u2004\\u2005\\u2006\\u2007\\u2008\\u2009\\u200A"
    "\\u202F\\u205F\\u3000'";

constexpr char kLeast[] = "(-9223372036854775807 - 1)";

class SparkDialect final : public RemoteDialect {
 public:
  SparkDialect(std::map<std::string, SparkTable> tables, bool streams_rows, TableFiles files)
      : RemoteDialect(
            {{false, {{"HUGEINT", "DECIMAL(38,0)"}, {"VARCHAR", "STRING"}, {"INTEGER", "INT"}}},
             "(monotonically_increasing_id() + 1)",
             "SELECT * FROM VALUES ",
             type_name,
             literal,
             quoted_name,
             quoted_text},
            relations_of(tables)),
        tables_(std::move(tables)),
        streams_rows_(streams_rows),
        files_(files) {}

  std::string aggregate(const ExactAggregate& one, const ScalarWriter& w) const override;
  std::string grid(const Value& value, const std::string& v) const override;

  std::string sha256_hex(const std::string& text) const override {
    return fmt::format("sha2({}, 256)", text);
  }
  bool sums_are_wide() const override { return false; }  // they are 64 bits, and wrap around
  bool streams_rows() const override { return streams_rows_; }
  TableFiles files() const override { return files_; }
  std::optional<std::string> narrow(const std::string& whole, std::int64_t lower,
                                    std::int64_t upper) const override {
    for (const auto& [bits, type] : {std::pair{7, "TINYINT"}, {15, "SMALLINT"}, {31, "INT"}})
      if (lower >= -(std::int64_t{1} << bits) && upper < std::int64_t{1} << bits)
        return fmt::format("CAST({} AS {})", whole, type);
    return std::nullopt;
  }

 private:
  /// Every value as plans know it: whole numbers are 64 bits, times are in UTC.
  std::string read_column(const std::string& table, const std::string& name) const override {
    const std::string quoted = quoted_name(name);
    const auto found = tables_.find(table);
    if (found == tables_.end()) return quoted;
    for (const auto& column : found->second.columns) {
      if (column.name != name) continue;
      if (column.type == "byte" || column.type == "short" || column.type == "integer")
        return fmt::format("CAST({} AS BIGINT)", quoted);
      if (column.type == "float") return fmt::format("CAST({} AS DOUBLE)", quoted);
      if (column.type == "timestamp_ntz") return fmt::format("CAST({} AS TIMESTAMP)", quoted);
      if (column.type == "char" || column.type == "var_char")
        return fmt::format("CAST({} AS STRING)", quoted);
    }
    return quoted;
  }

  std::string cast(const Scalar& arg, Type to, const ScalarWriter& w) const override {
    return cast_to(w.write(arg), arg.type, to);
  }
  std::optional<std::string> own_apply(const Scalar& one, const Apply& applied,
                                       const ScalarWriter& w) const override;
  std::string arithmetic(const Scalar& one, const Apply& applied, const ScalarWriter& w) const;

  std::map<std::string, SparkTable> tables_;
  bool streams_rows_;
  TableFiles files_;
};

std::string SparkDialect::arithmetic(const Scalar& one, const Apply& applied,
                                     const ScalarWriter& w) const {
  const Function f = applied.function;
  const bool unary = applied.args.size() == 1;
  const auto x = w.write(*applied.args[0]);
  const auto y = unary ? "" : w.write(*applied.args[1]);
  if (one.type.kind == TypeKind::Integer) {
    const bool plain = w.fits(one);
    switch (f) {
      case Function::Modulo:
        return fmt::format("({} % nullif({}, 0))", x, y);
      case Function::Negate:
        return plain ? fmt::format("(- {})", x)
                     : fmt::format("try_subtract(CAST(0 AS BIGINT), {})", x);
      case Function::Abs:
        return plain ? fmt::format("abs({})", x) : fmt::format("nullif(abs({}), {})", x, kLeast);
      case Function::Divide:
        // Only the least number divided by -1 does not fit.
        if (plain) return fmt::format("({} div nullif({}, 0))", x, y);
        return fmt::format(
            "try_multiply({0} div nullif(CASE WHEN {1} = -1 THEN 1 ELSE {1} END, 0), CASE WHEN {1} "
            "= -1 THEN CAST(-1 AS BIGINT) ELSE CAST(1 AS BIGINT) END)",
            x, y);
      case Function::Add:
        return fmt::format(fmt::runtime(plain ? "({} + {})" : "try_add({}, {})"), x, y);
      case Function::Subtract:
        return fmt::format(fmt::runtime(plain ? "({} - {})" : "try_subtract({}, {})"), x, y);
      default:
        return fmt::format(fmt::runtime(plain ? "({} * {})" : "try_multiply({}, {})"), x, y);
    }
  }
  if (one.type.kind == TypeKind::Decimal) {
    const auto scale = [&](std::size_t i) {
      const Type type = applied.args[i]->type;
      return type.kind == TypeKind::Decimal ? type.scale : 0;
    };
    const int result = one.type.scale;
    if (f == Function::Negate) return fmt::format("(- {})", x);
    if (f == Function::Abs) return fmt::format("abs({})", x);
    if (f == Function::Multiply) {
      // 19 + 18 + 1 digits: nothing is rounded. The longer half is for whole numbers.
      const bool first = applied.args[1]->type.kind != TypeKind::Integer;
      return fmt::format("({} * {})", as_decimal(x, first ? 19 : 18, scale(0)),
                         as_decimal(y, first ? 18 : 19, scale(1)));
    }
    return fmt::format("({} {} {})", as_decimal(x, 37, result), f == Function::Add ? "+" : "-",
                       as_decimal(y, 37, result));
  }
  const auto a = as_real(*applied.args[0], w);
  if (f == Function::Negate) return fmt::format("(- {})", a);
  if (f == Function::Abs) return fmt::format("abs({})", a);
  const auto b = as_real(*applied.args[1], w);
  if (f == Function::Divide) return fmt::format("({} / nullif({}, 0D))", a, b);
  if (f == Function::Modulo) return fmt::format("({} % nullif({}, 0D))", a, b);
  return fmt::format("({} {} {})", a,
                     f == Function::Add        ? "+"
                     : f == Function::Subtract ? "-"
                                               : "*",
                     b);
}

std::optional<std::string> SparkDialect::own_apply(const Scalar& one, const Apply& applied,
                                                   const ScalarWriter& w) const {
  const auto arg = [&](std::size_t i) { return w.write(*applied.args.at(i)); };
  const auto type = [&](std::size_t i) { return applied.args.at(i)->type; };
  const auto at_least_two = [&](const char* name) {  // Spark's least and greatest want two
    return applied.args.size() == 1 ? typed_list(one, applied, w)
                                    : fmt::format("{}({})", name, typed_list(one, applied, w));
  };
  const auto count = [&](std::size_t i) {  // of characters
    return fmt::format("CAST(least(greatest({}, -2147483647), 2147483647) AS INT)", arg(i));
  };
  const auto real = [&](std::size_t i) { return as_real(*applied.args.at(i), w); };
  const auto constant_text = [&](std::size_t i) -> const std::string* {
    const auto* constant = as_constant(*applied.args.at(i));
    return constant == nullptr ? nullptr : std::get_if<std::string>(&constant->value);
  };
  const auto pattern = [&]() -> std::string {  // a backslash is a character, as in DuckDB
    if (const std::string* fixed = constant_text(1)) {
      std::string doubled;
      for (const char c : *fixed) doubled += c == '\\' ? "\\\\" : std::string(1, c);
      return quoted_text(doubled);
    }
    return fmt::format(R"(replace({}, '\\', '\\\\'))", arg(1));
  };
  switch (applied.function) {
    case Function::Like:
      return fmt::format("({} LIKE {})", arg(0), pattern());
    case Function::ILike:
      return fmt::format("({} ILIKE {})", arg(0), pattern());
    case Function::Add:
    case Function::Subtract:
    case Function::Multiply:
    case Function::Divide:
    case Function::Modulo:
    case Function::Negate:
    case Function::Abs:
      return arithmetic(one, applied, w);
    case Function::Ceil:
    case Function::Floor: {
      const char* name = applied.function == Function::Ceil ? "ceil({})" : "floor({})";
      if (type(0).kind == TypeKind::Decimal) return fmt::format(fmt::runtime(name), arg(0));
      return kept_real(name, real(0));
    }
    case Function::Trunc:
      if (type(0).kind == TypeKind::Decimal)
        return fmt::format("CASE WHEN {0} >= 0 THEN floor({0}) ELSE ceil({0}) END", arg(0));
      return kept_real("CAST({} AS BIGINT)", real(0));
    case Function::Round: {
      const auto* digits = applied.args.size() == 1 ? nullptr : as_constant(*applied.args[1]);
      const auto* fixed = digits == nullptr ? nullptr : std::get_if<std::int64_t>(&digits->value);
      const auto places = fixed == nullptr ? 0 : *fixed;
      if (type(0).kind == TypeKind::Decimal) return fmt::format("round({}, {})", arg(0), places);
      const auto x = real(0);
      if (places == 0) return rounded(x);
      const auto power = real_literal(std::pow(10.0, std::fabs(static_cast<double>(places))));
      if (places > 0)
        return fmt::format("CASE WHEN abs({0}) >= 1E290D THEN {0} ELSE {1} / {2} END", x,
                           rounded(fmt::format("({} * {})", x, power)), power);
      return fmt::format(
          "CASE WHEN abs({0}) = CAST('Infinity' AS DOUBLE) THEN 0D ELSE {1} * {2} END", x,
          rounded(fmt::format("({} / {})", x, power)), power);
    }
    case Function::Sign:
      return fmt::format("CAST(sign({}) AS BIGINT)", arg(0));
    case Function::Sqrt:
      return fmt::format("CASE WHEN {0} >= 0D THEN sqrt({0}) END", real(0));
    case Function::Ln:
      return fmt::format("ln({})", real(0));
    case Function::Log10:
      return fmt::format("log10({})", real(0));
    case Function::Exp:
      return fmt::format("exp({})", real(0));
    case Function::Power:  // Java's differs from C's where the base is 1 or -1
      return fmt::format(
          "CASE WHEN {0} = 1D AND {1} IS NOT NULL THEN 1D WHEN {0} = -1D AND abs({1}) = "
          "CAST('Infinity' AS DOUBLE) THEN 1D ELSE power({0}, {1}) END",
          real(0), real(1));
    case Function::Greatest:
      return at_least_two("greatest");
    case Function::Least:
      return at_least_two("least");
    case Function::Lower:
      return fmt::format("lower({})", arg(0));
    case Function::Upper:
      return fmt::format("upper({})", arg(0));
    case Function::Trim:
      return fmt::format("btrim({}, {})", arg(0), kSpaces);
    case Function::TrimLeft:
      return fmt::format("trim(LEADING {} FROM {})", kSpaces, arg(0));
    case Function::TrimRight:
      return fmt::format("trim(TRAILING {} FROM {})", kSpaces, arg(0));
    case Function::Substring: {
      // Characters from..from + length - 1, of which those before the first are not there.
      const bool bounded = applied.args.size() > 2;
      const auto length = bounded ? fmt::format("greatest({}, 0)", arg(2)) : "";
      const auto from_left =
          bounded
              ? fmt::format(
                    "substring({0}, greatest({1}, 1), CAST(least(greatest({2} + least({3} - 1, 0), "
                    "0), 2147483647) AS INT))",
                    arg(0), count(1), length, arg(1))
              : fmt::format("substring({}, greatest({}, 1))", arg(0), count(1));
      const auto tail = fmt::format("right({}, - {})", arg(0), count(1));
      return fmt::format(
          "CASE WHEN {} < 0 THEN {} ELSE {} END", arg(1),
          bounded ? fmt::format("left({}, CAST(least({}, 2147483647) AS INT))", tail, length)
                  : tail,
          from_left);
    }
    case Function::Left:  // a negative number leaves that many out at the other end
      return fmt::format(
          "CASE WHEN {1} >= 0 THEN left({0}, {1}) ELSE left({0}, greatest(char_length({0}) + {1}, "
          "0)) END",
          arg(0), count(1));
    case Function::Right:
      return fmt::format(
          "CASE WHEN {1} >= 0 THEN right({0}, {1}) ELSE right({0}, greatest(char_length({0}) + "
          "{1}, 0)) END",
          arg(0), count(1));
    case Function::Replace:
      return fmt::format("replace({})", list(applied, ", ", w));
    case Function::Position:
      return fmt::format("CAST(instr({}) AS BIGINT)", list(applied, ", ", w));
    case Function::StartsWith:
      return fmt::format("startswith({})", list(applied, ", ", w));
    case Function::SplitPart:
      return fmt::format("split_part({}, {}, nullif({}, 0))", arg(0), arg(1), count(2));
    case Function::DatePart: {
      const std::string* field = constant_text(0);
      if (field == nullptr) return "CAST(NULL AS BIGINT)";
      return over_time(arg(1), type(1), [&](const std::string& x) { return date_part(*field, x); });
    }
    case Function::DateTrunc:
      return over_time(arg(1), type(1), [&](const std::string& x) {
        return fmt::format("date_trunc({}, {})", arg(0), x);
      });
    case Function::AddDays:
    case Function::SubtractDays:
      return fmt::format(
          "CASE WHEN {1} BETWEEN -4000000000 AND 4000000000 AND CAST(unix_date({0}) AS BIGINT) {2} "
          "{1} BETWEEN -2147483646 AND 2147483646 THEN date_from_unix_date(CAST(unix_date({0}) {2} "
          "{1} AS INT)) END",
          arg(0), arg(1), applied.function == Function::AddDays ? "+" : "-");
    case Function::DaysBetween:
      return fmt::format("(CAST(unix_date({}) AS BIGINT) - CAST(unix_date({}) AS BIGINT))", arg(0),
                         arg(1));
    case Function::AddInterval:
    case Function::SubtractInterval:
      return over_time(arg(0), type(0), [&](const std::string& x) {
        return fmt::format("({} {} {})", x, applied.function == Function::AddInterval ? "+" : "-",
                           arg(1));
      });
    default:  // of released values, which never travel in this form
      return std::nullopt;
  }
}

std::string SparkDialect::aggregate(const ExactAggregate& one, const ScalarWriter& w) const {
  const auto arg = [&](std::size_t i) { return w.write(*one.args.at(i)); };
  const Type type = one.args.empty() ? Type{} : one.args[0]->type;
  const std::string filter =
      one.filter ? fmt::format(" FILTER (WHERE {})", w.write(*one.filter)) : "";
  const auto call = [&](const std::string& text) { return text + filter; };
  const auto named = [&](const char* name) { return call(fmt::format("{}({})", name, arg(0))); };
  const auto moment = [&](const char* name) {
    std::string args;
    for (std::size_t i = 0; i < one.args.size(); ++i)
      args += (i == 0 ? "" : ", ") + squarable(as_real(*one.args[i], w));
    return call(fmt::format("{}({})", name, args));
  };
  const auto exact_sum = [&] {
    return call(fmt::format("sum({})", as_decimal(arg(0), 28, type.scale)));
  };
  const auto sorted = [&](const std::string& x) {
    return fmt::format("sort_array({})", call(fmt::format("collect_list({})", x)));
  };
  switch (one.function) {
    case ExactFunction::CountRows:
      return call("count(*)");
    case ExactFunction::Count:
      return named("count");
    case ExactFunction::CountDistinct:
      return call(fmt::format("count(DISTINCT {})", arg(0)));
    case ExactFunction::Sum:
      if (type.kind == TypeKind::Integer) return fmt::format("try_cast({} AS BIGINT)", exact_sum());
      if (type.kind == TypeKind::Decimal)
        return fmt::format("try_cast({} AS DECIMAL(28,{}))", exact_sum(), type.scale);
      return named("sum");
    case ExactFunction::Avg:
      if (type.kind == TypeKind::Double)
        return fmt::format("({} / nullif({}, 0))", named("sum"), named("count"));
      // As whole numbers, so that the quotient is rounded to a real once.
      return fmt::format(
          "(CAST(CAST({} * {} AS DECIMAL(38,0)) AS DOUBLE) / nullif(CAST({} AS DOUBLE) * {}, 0D))",
          exact_sum(), "1" + std::string(static_cast<std::size_t>(type.scale), '0'), named("count"),
          real_literal(std::pow(10.0, type.scale)));
    case ExactFunction::Min:
      return named("min");
    case ExactFunction::Max:
      return named("max");
    case ExactFunction::Median:
    case ExactFunction::QuantileCont: {
      const auto all = sorted(as_real(*one.args[0], w));
      const auto place = fmt::format(
          "({} * greatest({} - 1, 0))",
          real_literal(one.function == ExactFunction::Median ? 0.5 : one.fraction), named("count"));
      const auto at = [&](int more) {
        return fmt::format("element_at({}, CAST(floor({}) AS INT) + {})", all, place, more);
      };
      return fmt::format(
          "CASE WHEN {0} = floor({0}) THEN {1} ELSE {1} + ({2} - {1}) * ({0} - floor({0})) END",
          place, at(1), at(2));
    }
    case ExactFunction::QuantileDisc:
      return fmt::format("element_at({}, CAST(greatest(ceil({} * {}), 1) AS INT))", sorted(arg(0)),
                         real_literal(one.fraction), named("count"));
    case ExactFunction::VarPop:
    case ExactFunction::VarSamp:
    case ExactFunction::StddevPop:
    case ExactFunction::StddevSamp:
    case ExactFunction::CovarPop:
    case ExactFunction::CovarSamp:
    case ExactFunction::Corr:
      return moment(moment_name(one.function));
    case ExactFunction::BoolAnd:
      return named("bool_and");
    case ExactFunction::BoolOr:
      return named("bool_or");
    case ExactFunction::Mode:
      return named("mode");
  }
  return {};
}

std::string SparkDialect::grid(const Value& value, const std::string& v) const {
  const auto clamped = [&](const std::string& number, const std::string& lower,
                           const std::string& upper) {
    return fmt::format("CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END", number,
                       lower, upper);
  };
  const auto between = [&](const std::string& number) {
    return clamped(number, whole_literal(value.lower), whole_literal(value.upper));
  };
  switch (value.type.kind) {
    case TypeKind::Text:
    case TypeKind::Null:
    case TypeKind::Interval:
    case TypeKind::List:
      return v;
    case TypeKind::Boolean:
      return fmt::format("CAST({} AS BIGINT)", v);
    case TypeKind::Integer:
      if (value.grid.digits == 0) return between(v);
      break;
    case TypeKind::Date:
      return between(fmt::format("CAST(unix_date({}) AS BIGINT)", v));
    case TypeKind::Timestamp:
      return between(fmt::format("unix_micros({})", v));
    case TypeKind::Decimal:
      if (value.grid.base == Grid::Base::Ten && value.grid.digits == value.type.scale) {
        const int scale = value.type.scale;
        const auto bound = [&](std::int64_t q) {
          return fmt::format("CAST({} AS DECIMAL(19,{}))", decimal_digits(q, scale), scale);
        };
        return fmt::format(
            "CAST({} * {} AS BIGINT)",
            as_decimal(clamped(v, bound(value.lower), bound(value.upper)), 19, scale),
            "1" + std::string(static_cast<std::size_t>(scale), '0'));
      }
      break;
    case TypeKind::Double:
      break;
  }
  const std::string x =
      value.type.kind == TypeKind::Double ? v : fmt::format("CAST({} AS DOUBLE)", v);
  const double unit = value.grid.unit();
  const double scale = value.grid.base == Grid::Base::Two ? std::ldexp(1.0, value.grid.digits)
                                                          : std::pow(10.0, value.grid.digits);
  return fmt::format(
      "CASE WHEN isnan({0}) THEN NULL WHEN {0} <= {1} THEN {2} WHEN {0} >= {3} THEN {4} ELSE "
      "CAST({5} AS BIGINT) END",
      x, real_literal(static_cast<double>(value.lower) * unit), whole_literal(value.lower),
      real_literal(static_cast<double>(value.upper) * unit), whole_literal(value.upper),
      rounded(fmt::format("({} * {})", x, real_literal(scale))));
}

}  // namespace

std::vector<SchemaColumn> SparkTable::schema() const {
  static const std::map<std::string, std::string> kNames = {{"byte", "TINYINT"},
                                                            {"short", "SMALLINT"},
                                                            {"integer", "INTEGER"},
                                                            {"long", "BIGINT"},
                                                            {"float", "FLOAT"},
                                                            {"double", "DOUBLE"},
                                                            {"boolean", "BOOLEAN"},
                                                            {"string", "VARCHAR"},
                                                            {"char", "VARCHAR"},
                                                            {"var_char", "VARCHAR"},
                                                            {"date", "DATE"},
                                                            {"timestamp", "TIMESTAMP"},
                                                            {"timestamp_ntz", "TIMESTAMP"}};
  std::vector<SchemaColumn> found;
  for (const Column& column : columns) {
    const auto known = kNames.find(column.type);
    found.push_back({column.name, known != kNames.end() ? known->second
                                  : column.type.starts_with("decimal(")
                                      ? "DECIMAL" + column.type.substr(7)
                                      : "SPARK " + column.type});  // no statement can name it
  }
  return found;
}

std::unique_ptr<EngineDialect> make_spark_dialect(std::map<std::string, SparkTable> tables,
                                                  bool streams_rows, TableFiles files) {
  return std::make_unique<SparkDialect>(std::move(tables), streams_rows, files);
}

}  // namespace discreet::sql
