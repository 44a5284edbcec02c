// PostgreSQL 13 and newer. It raises errors where DuckDB gives NULL or infinity, so everything that
// can raise one is guarded: whole numbers that may overflow are computed as numeric and fall out
// of range to NULL; reals are compared with the limits first; casts of text match a pattern first.
#include <cmath>

#include <fmt/format.h>

#include "sql/emit.h"
#include "sql/engine_text_internal.h"
#include "sql/postgres_phrases_internal.h"

namespace discreet::sql {
namespace {

using namespace postgres;

class PostgresDialect final : public RemoteDialect {
 public:
  PostgresDialect(std::map<std::string, PostgresTable> tables, bool streams_rows,
                  bool marks_pages = false)
      : RemoteDialect(
            {{true, {{"DOUBLE", "double precision"}, {"HUGEINT", "numeric"}, {"VARCHAR", "text"}}},
             "row_number() OVER ()",
             "VALUES ",
             type_name,
             literal,
             quote_name,
             quote_text},
            relations_of(tables)),
        tables_(std::move(tables)),
        streams_rows_(streams_rows),
        marks_pages_(marks_pages) {
    if (streams_rows && !marks_pages)
      by_pages_ = std::make_unique<PostgresDialect>(tables_, true, true);
  }

  std::optional<std::string> scalar(const Scalar& one, const ScalarWriter& w) const override {
    // Tables give whole numbers as wide as they keep them; what is computed from them has 64 bits.
    if (const auto* use = std::get_if<ColumnUse>(&one.node);
        use != nullptr && one.type.kind == TypeKind::Integer)
      return fmt::format("CAST({} AS bigint)", column_name(use->id));
    return RemoteDialect::scalar(one, w);
  }

  std::string aggregate(const ExactAggregate& one, const ScalarWriter& w) const override;
  std::string grid(const Value& value, const std::string& v) const override;

  std::string sha256_hex(const std::string& text) const override {
    return fmt::format("encode(sha256(convert_to({}, 'UTF8')), 'hex') COLLATE \"C\"", text);
  }
  bool streams_rows() const override { return streams_rows_; }
  const EngineDialect* by_pages() const override { return by_pages_.get(); }
  bool sums_are_wide() const override { return true; }

 private:
  /// A comment: the statement means the whole table until somebody puts a condition there.
  std::string after_relation(const std::string& relation) const override {
    const bool quotable = relation.find("*/") == std::string::npos;
    return marks_pages_ && quotable ? fmt::format("/*pages of {}*/", relation) : "";
  }

  /// Every value as plans know it: text is ordered by its bytes, times are in UTC, and a numeric is
  /// a number.
  std::string read_column(const std::string& table, const std::string& name) const override {
    const std::string quoted = quote_name(name);
    const auto found = tables_.find(table);
    if (found == tables_.end()) return quoted;
    for (const auto& column : found->second.columns) {
      if (column.name != name) continue;
      if (column.type == "real") return fmt::format("CAST({} AS double precision)", quoted);
      if (column.type.starts_with("numeric")) return fmt::format("nullif({}, 'NaN')", quoted);
      if (column.type.starts_with("timestamp") && column.type.ends_with(" with time zone"))
        return fmt::format("({} AT TIME ZONE 'UTC')", quoted);
      if (column.type == "text" || column.type.starts_with("char") || column.type == "uuid" ||
          column.is_enum)
        return fmt::format("CAST({} AS text) COLLATE \"C\"", quoted);
    }
    return quoted;
  }

  std::string cast(const Scalar& arg, Type to, const ScalarWriter& w) const override {
    return cast_to(w.write(arg), is_leaf(arg), arg.type, to);
  }
  std::optional<std::string> own_apply(const Scalar& one, const Apply& applied,
                                       const ScalarWriter& w) const override;
  std::string arithmetic(const Scalar& one, const Apply& applied, const ScalarWriter& w) const;

  std::map<std::string, PostgresTable> tables_;
  bool streams_rows_, marks_pages_;
  std::unique_ptr<PostgresDialect> by_pages_;
};

std::string PostgresDialect::arithmetic(const Scalar& one, const Apply& applied,
                                        const ScalarWriter& w) const {
  const Function f = applied.function;
  const bool unary = applied.args.size() == 1;
  const char* op = f == Function::Add        ? "+"
                   : f == Function::Subtract ? "-"
                   : f == Function::Multiply ? "*"
                   : f == Function::Divide   ? "/"
                                             : "%";
  if (one.type.kind == TypeKind::Integer) {
    const auto x = w.write(*applied.args[0]);
    const auto y = unary ? "" : w.write(*applied.args[1]);
    if (f == Function::Modulo) return fmt::format("({} % nullif({}, 0))", x, y);
    const bool plain = w.fits(one);
    const auto wide = [&](const std::string& text) {
      return plain ? text : fmt::format("CAST({} AS numeric)", text);
    };
    const auto back = [&](const std::string& text) { return plain ? text : within_bigint(text); };
    if (f == Function::Negate) return back(fmt::format("(- {})", wide(x)));
    if (f == Function::Abs) return back(fmt::format("abs({})", wide(x)));
    if (f == Function::Divide)
      return plain ? fmt::format("({} / nullif({}, 0))", x, y)
                   : back(fmt::format("div({}, nullif({}, 0))", wide(x), wide(y)));
    return back(fmt::format("({} {} {})", wide(x), op, wide(y)));
  }
  if (one.type.kind == TypeKind::Decimal) {
    const auto x = w.write(*applied.args[0]);
    if (f == Function::Negate) return fmt::format("(- {})", x);
    if (f == Function::Abs) return fmt::format("abs({})", x);
    return fmt::format("({} {} {})", x, op, w.write(*applied.args[1]));
  }
  // Reals, also where whole numbers or decimals are divided.
  const auto x = as_real(*applied.args[0], w);
  if (f == Function::Negate) return fmt::format("(- {})", x);
  if (f == Function::Abs) return fmt::format("abs({})", x);
  const auto y = as_real(*applied.args[1], w);
  if (f == Function::Divide && reach(one) < kSafeReach)
    return fmt::format("({} / nullif({}, 0))", x, y);
  if (f != Function::Modulo && reach(one) < kSafeReach) return fmt::format("({} {} {})", x, op, y);
  return once(x, y, is_leaf(*applied.args[0]) && is_leaf(*applied.args[1]),
              [&](const std::string& a, const std::string& b) { return real(f, a, b); });
}

std::optional<std::string> PostgresDialect::own_apply(const Scalar& one, const Apply& applied,
                                                      const ScalarWriter& w) const {
  const auto arg = [&](std::size_t i) { return w.write(*applied.args.at(i)); };
  const auto leaf = [&](std::size_t i) { return is_leaf(*applied.args.at(i)); };
  const auto type = [&](std::size_t i) { return applied.args.at(i)->type; };
  const auto count = [&](std::size_t i) {  // of characters
    return fmt::format("CAST(least(greatest({}, -2147483647), 2147483647) AS integer)", arg(i));
  };
  const auto over = [&](std::size_t i, const std::function<std::string(const std::string&)>& f) {
    return once(arg(i), leaf(i), f);
  };
  const auto over_real = [&](const std::function<std::string(const std::string&)>& f) {
    return once(as_real(*applied.args[0], w), leaf(0), f);
  };
  switch (applied.function) {
    case Function::Like:  // a backslash is a character, as in DuckDB
      return fmt::format("({} LIKE {} ESCAPE '')", arg(0), arg(1));
    case Function::ILike:
      return fmt::format("({} COLLATE \"default\" ILIKE {} ESCAPE '')", arg(0), arg(1));
    case Function::Add:
    case Function::Subtract:
    case Function::Multiply:
    case Function::Divide:
    case Function::Modulo:
    case Function::Negate:
    case Function::Abs:
      return arithmetic(one, applied, w);
    case Function::Ceil:
    case Function::Floor:
    case Function::Trunc: {
      const char* name = applied.function == Function::Ceil    ? "ceil"
                         : applied.function == Function::Floor ? "floor"
                                                               : "trunc";
      return fmt::format("{}({})", name, arg(0));
    }
    case Function::Round: {
      const auto* digits = applied.args.size() == 1 ? nullptr : as_constant(*applied.args[1]);
      const auto* places = digits == nullptr ? nullptr : std::get_if<std::int64_t>(&digits->value);
      if (type(0).kind == TypeKind::Decimal)
        return fmt::format("round({}, {})", arg(0), places == nullptr ? 0 : *places);
      return over_real([&](const std::string& x) {
        return places == nullptr ? rounded(x) : rounded_to(x, static_cast<int>(*places));
      });
    }
    case Function::Sign:
      return over(0, [&](const std::string& x) {
        const char* is_nan = type(0).kind == TypeKind::Double ? " AND {0} <> 'NaN'" : "";
        return fmt::format(
            "CASE WHEN {0} > 0{1} THEN CAST(1 AS bigint) WHEN {0} < 0 THEN -1 "
            "WHEN {0} IS NOT NULL THEN 0 END",
            x, fmt::format(fmt::runtime(is_nan), x));
      });
    case Function::Sqrt:
      return over_real([](const std::string& x) {
        return fmt::format("CASE WHEN {0} >= 0 THEN sqrt({0}) END", x);
      });
    case Function::Ln:
      return over_real([](const std::string& x) {
        return fmt::format("CASE WHEN {0} > 0 THEN ln({0}) END", x);
      });
    case Function::Log10:
      return over_real([](const std::string& x) {
        return fmt::format("CASE WHEN {0} > 0 THEN log({0}) END", x);
      });
    case Function::Exp:
      return over_real([](const std::string& x) { return exponential(x); });
    case Function::Power:
      return once(as_real(*applied.args[0], w), as_real(*applied.args[1], w), leaf(0) && leaf(1),
                  [](const std::string& a, const std::string& b) { return power(a, b); });
    case Function::Greatest:
      return fmt::format("greatest({})", typed_list(one, applied, w));
    case Function::Least:
      return fmt::format("least({})", typed_list(one, applied, w));
    case Function::Lower:  // by the database's own rules; the result is ordered by its bytes again
      return fmt::format("(lower({} COLLATE \"default\") COLLATE \"C\")", arg(0));
    case Function::Upper:
      return fmt::format("(upper({} COLLATE \"default\") COLLATE \"C\")", arg(0));
    case Function::Trim:
      return fmt::format("btrim({}, {})", arg(0), kSpaces);
    case Function::TrimLeft:
      return fmt::format("ltrim({}, {})", arg(0), kSpaces);
    case Function::TrimRight:
      return fmt::format("rtrim({}, {})", arg(0), kSpaces);
    case Function::Substring: {
      const auto length =
          applied.args.size() > 2 ? fmt::format("greatest({}, 0)", count(2)) : std::string();
      const auto from_left = length.empty()
                                 ? fmt::format("substring({}, {})", arg(0), count(1))
                                 : fmt::format("substring({}, {}, {})", arg(0), count(1), length);
      const auto* start = as_constant(*applied.args[1]);
      const auto* fixed = start == nullptr ? nullptr : std::get_if<std::int64_t>(&start->value);
      if (fixed != nullptr && *fixed >= 0) return from_left;
      const auto tail = fmt::format("right({}, - {})", arg(0), count(1));
      return fmt::format("CASE WHEN {} < 0 THEN {} ELSE {} END", arg(1),
                         length.empty() ? tail : fmt::format("left({}, {})", tail, length),
                         from_left);
    }
    case Function::Left:
      return fmt::format("left({}, {})", arg(0), count(1));
    case Function::Right:
      return fmt::format("right({}, {})", arg(0), count(1));
    case Function::Replace:
      return fmt::format("replace({})", list(applied, ", ", w));
    case Function::Position:
      return fmt::format("CAST(strpos({}) AS bigint)", list(applied, ", ", w));
    case Function::StartsWith:
      return fmt::format("starts_with({})", list(applied, ", ", w));
    case Function::SplitPart:
      return fmt::format("split_part({}, {}, nullif({}, 0))", arg(0), arg(1), count(2));
    case Function::DatePart: {
      const bool real = one.type.kind == TypeKind::Double;
      return over_time(arg(1), leaf(1), type(1), false, [&](const std::string& x) {
        const auto part = fmt::format("date_part({}, {})", arg(0), x);
        return real ? part : fmt::format("CAST(floor({}) AS bigint)", part);
      });
    }
    case Function::DateTrunc:
      return over_time(arg(1), leaf(1), type(1), true, [&](const std::string& x) {
        return fmt::format("date_trunc({}, {})", arg(0), x);
      });
    case Function::AddDays:
    case Function::SubtractDays:
      return once(arg(0), arg(1), leaf(0) && leaf(1),
                  [&](const std::string& day, const std::string& days) {
                    return moved(day, days, applied.function == Function::AddDays ? "+" : "-");
                  });
    case Function::DaysBetween:
      return once(
          arg(0), arg(1), leaf(0) && leaf(1), [](const std::string& a, const std::string& b) {
            return fmt::format(
                "CASE WHEN isfinite({0}) AND isfinite({1}) THEN CAST({0} - {1} AS bigint) END", a,
                b);
          });
    case Function::AddInterval:
    case Function::SubtractInterval: {
      const auto* span = as_constant(*applied.args[1]);
      const auto* interval =
          span == nullptr ? nullptr : std::get_if<IntervalConstant>(&span->value);
      if (interval == nullptr || too_long(*interval)) return "CAST(NULL AS timestamp)";
      return over_time(arg(0), leaf(0), type(0), true, [&](const std::string& x) {
        return fmt::format("({} {} {})", x, applied.function == Function::AddInterval ? "+" : "-",
                           arg(1));
      });
    }
    default:  // of released values, which never travel in this form
      return std::nullopt;
  }
}

std::string PostgresDialect::aggregate(const ExactAggregate& one, const ScalarWriter& w) const {
  const auto arg = [&](std::size_t i) { return w.write(*one.args.at(i)); };
  const Type type = one.args.empty() ? Type{} : one.args[0]->type;
  const std::string filter =
      one.filter ? fmt::format(" FILTER (WHERE {})", w.write(*one.filter)) : "";
  const auto call = [&](const std::string& text) { return text + filter; };
  const auto over_real = [&](std::size_t i, const char* most) {
    return once(as_real(*one.args[i], w), is_leaf(*one.args[i]),
                [&](const std::string& x) { return kept_below(x, most); });
  };
  const auto moment = [&](const char* name) {
    std::string args;
    for (std::size_t i = 0; i < one.args.size(); ++i)
      args += (i == 0 ? "" : ", ") + once(as_real(*one.args[i], w), is_leaf(*one.args[i]),
                                          [](const std::string& x) { return squarable(x); });
    return call(fmt::format("{}({})", name, args));
  };
  const auto ordered = [&](const std::string& name, const std::string& by) {
    return call(fmt::format("{} WITHIN GROUP (ORDER BY {})", name, by));
  };
  switch (one.function) {
    case ExactFunction::CountRows:
      return call("count(*)");
    case ExactFunction::Count:
      return call(fmt::format("count({})", arg(0)));
    case ExactFunction::CountDistinct:
      return call(fmt::format("count(DISTINCT {})", arg(0)));
    case ExactFunction::Sum:
      if (type.kind == TypeKind::Integer)
        return within_bigint(call(fmt::format("sum({})", arg(0))));
      if (type.kind == TypeKind::Decimal)
        return within_digits(call(fmt::format("sum({})", arg(0))), 28 - type.scale);
      return call(fmt::format("sum({})", over_real(0, "1e290")));
    case ExactFunction::Avg:
      if (type.kind == TypeKind::Double)
        return fmt::format("({} / nullif({}, 0))",
                           call(fmt::format("sum({})", over_real(0, "1e290"))),
                           call(fmt::format("count({})", arg(0))));
      // Twenty-five digits after the point, so that the quotient is rounded to a real once.
      return fmt::format(
          "CAST({} * 1.0000000000000000000000000 / nullif({}, 0) AS double precision)",
          call(fmt::format("sum({})", arg(0))), call(fmt::format("count({})", arg(0))));
    case ExactFunction::Min:
      return call(
          fmt::format("{}({})", type.kind == TypeKind::Boolean ? "bool_and" : "min", arg(0)));
    case ExactFunction::Max:
      return call(
          fmt::format("{}({})", type.kind == TypeKind::Boolean ? "bool_or" : "max", arg(0)));
    case ExactFunction::Median:
    case ExactFunction::QuantileCont: {
      const auto fraction = one.function == ExactFunction::Median ? std::string("0.5")
                                                                  : fmt::format("{}", one.fraction);
      return ordered(fmt::format("percentile_cont({})", fraction), as_real(*one.args[0], w));
    }
    case ExactFunction::QuantileDisc:
      return ordered(fmt::format("percentile_disc({})", one.fraction), arg(0));
    case ExactFunction::VarPop:
    case ExactFunction::VarSamp:
    case ExactFunction::StddevPop:
    case ExactFunction::StddevSamp:
    case ExactFunction::CovarPop:
    case ExactFunction::CovarSamp:
    case ExactFunction::Corr:
      return moment(moment_name(one.function));
    case ExactFunction::BoolAnd:
      return call(fmt::format("bool_and({})", arg(0)));
    case ExactFunction::BoolOr:
      return call(fmt::format("bool_or({})", arg(0)));
    case ExactFunction::Mode:
      return ordered("mode()", arg(0));
  }
  return {};
}

std::string PostgresDialect::grid(const Value& value, const std::string& v) const {
  const auto clamped = [&](const std::string& number, const std::string& lower,
                           const std::string& upper) {
    return fmt::format("CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END", number,
                       lower, upper);
  };
  // Bounds take the type of what they bound: narrow numbers are added up without being widened.
  const auto bound = [](std::int64_t q) {
    const bool narrow = q >= INT32_MIN && q <= INT32_MAX;
    return narrow ? std::to_string(q) : fmt::format("CAST({} AS bigint)", q);
  };
  const auto whole = [](std::int64_t q) { return fmt::format("CAST({} AS bigint)", q); };
  switch (value.type.kind) {
    case TypeKind::Text:
    case TypeKind::Null:
    case TypeKind::Interval:
    case TypeKind::List:
      return v;
    case TypeKind::Boolean:
      return fmt::format("CAST({} AS integer)", v);
    case TypeKind::Integer:
      if (value.grid.digits == 0) return clamped(v, bound(value.lower), bound(value.upper));
      break;
    case TypeKind::Date:
      return fmt::format("CASE WHEN isfinite({}) THEN {} END", v,
                         clamped(fmt::format("CAST({} - DATE '1970-01-01' AS bigint)", v),
                                 whole(value.lower), whole(value.upper)));
    case TypeKind::Timestamp:
      return fmt::format("CASE WHEN isfinite({}) THEN {} END", v,
                         clamped(microseconds(v), whole(value.lower), whole(value.upper)));
    case TypeKind::Decimal:
      if (value.grid.base == Grid::Base::Ten && value.grid.digits == value.type.scale)
        return fmt::format("CAST({} AS bigint)",
                           clamped(fmt::format("{} * {}", v, power_of_ten(value.type.scale)),
                                   std::to_string(value.lower), std::to_string(value.upper)));
      break;
    case TypeKind::Double:
      break;
  }
  const std::string x =
      value.type.kind == TypeKind::Double ? v : fmt::format("CAST({} AS double precision)", v);
  const double unit = value.grid.unit();
  const double scale = value.grid.base == Grid::Base::Two ? std::ldexp(1.0, value.grid.digits)
                                                          : std::pow(10.0, value.grid.digits);
  // Next to nothing is nothing: PostgreSQL fails where a product vanishes.
  return fmt::format(
      "CASE WHEN {0} = 'NaN' THEN NULL WHEN {0} <= {1} THEN {2} WHEN {0} >= {3} THEN {4} WHEN "
      "abs({0}) < {5} THEN {6} ELSE CAST({7} AS bigint) END",
      x, real_literal(static_cast<double>(value.lower) * unit), whole(value.lower),
      real_literal(static_cast<double>(value.upper) * unit), whole(value.upper),
      real_literal(unit / 4), whole(0), rounded(fmt::format("({} * {})", x, real_literal(scale))));
}

}  // namespace

std::vector<SchemaColumn> PostgresTable::schema() const {
  std::vector<SchemaColumn> found;
  for (const Column& column : columns) {
    std::string type = "POSTGRES " + column.type;  // no statement can name it
    if (column.type == "smallint") type = "SMALLINT";
    if (column.type == "integer") type = "INTEGER";
    if (column.type == "bigint") type = "BIGINT";
    if (column.type == "real") type = "FLOAT";
    if (column.type == "double precision") type = "DOUBLE";
    if (column.type == "boolean") type = "BOOLEAN";
    if (column.type == "date") type = "DATE";
    if (column.type.starts_with("timestamp")) type = "TIMESTAMP";
    if (column.type.starts_with("numeric(")) type = "DECIMAL" + column.type.substr(7);
    if (column.type == "text" || column.type.starts_with("char") || column.type == "uuid" ||
        column.is_enum)
      type = "VARCHAR";
    found.push_back({column.name, std::move(type)});
  }
  return found;
}

std::unique_ptr<EngineDialect> make_postgres_dialect(std::map<std::string, PostgresTable> tables,
                                                     bool streams_rows) {
  return std::make_unique<PostgresDialect>(std::move(tables), streams_rows);
}

}  // namespace discreet::sql
