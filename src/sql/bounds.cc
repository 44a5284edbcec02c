#include "sql/bounds.h"

#include <algorithm>
#include <cmath>

#include "sql/emit.h"

namespace discreet::sql {
namespace {

constexpr double kInfinity = Facts::kInfinity;
constexpr double kMicrosPerDay = 86400e6;

Facts exactly(double lower, double upper) {
  Facts facts;
  facts.lower = lower;
  facts.upper = upper;
  return facts;
}

/// 0 * infinity is 0 here: an end that is not reached times an exact zero.
double times(double a, double b) {
  return a == 0 || b == 0 ? 0 : a * b;
}

double down(double x) {
  return std::isfinite(x) ? std::nextafter(x, -kInfinity) : x;
}
double up(double x) {
  return std::isfinite(x) ? std::nextafter(x, kInfinity) : x;
}

bool is_small_whole(double x) {
  return x == std::floor(x) && std::fabs(x) < 9007199254740992.0;
}

/// Ends that are whole numbers in reach of exact doubles stay as they are; others move outwards.
Facts outward(double lower, double upper) {
  return exactly(is_small_whole(lower) ? lower : down(lower),
                 is_small_whole(upper) ? upper : up(upper));
}

Facts product(const Facts& a, const Facts& b) {
  const double ends[] = {times(a.lower, b.lower), times(a.lower, b.upper), times(a.upper, b.lower),
                         times(a.upper, b.upper)};
  return outward(*std::min_element(std::begin(ends), std::end(ends)),
                 *std::max_element(std::begin(ends), std::end(ends)));
}

Facts quotient(const Facts& a, const Facts& b, bool whole) {
  if (b.lower <= 0 && b.upper >= 0) {
    // Division by zero gives NULL, and no whole number is closer to zero than one.
    if (!whole) return {};
    const double reach = std::max(std::fabs(a.lower), std::fabs(a.upper));
    return exactly(-reach, reach);
  }
  Facts inverse = exactly(1 / b.upper, 1 / b.lower);
  Facts made = product(a, inverse);
  if (!whole) return made;
  // 1/b is rounded, so an end that should be whole may miss it by a little.
  const auto toward_zero = [](double x) {
    return std::isfinite(x)
               ? std::trunc(std::fabs(x - std::round(x)) < 1e-9 * std::fabs(x) ? std::round(x) : x)
               : x;
  };
  return exactly(toward_zero(made.lower), toward_zero(made.upper));
}

Facts monotone(const Facts& a, double (*f)(double)) {
  return exactly(std::isfinite(a.lower) ? f(a.lower) : a.lower,
                 std::isfinite(a.upper) ? f(a.upper) : a.upper);
}

Facts part_of_date(const std::string& field, const Facts& when, bool is_date) {
  const auto range = [](double lower, double upper) { return exactly(lower, upper); };
  if (field == "month") return range(1, 12);
  if (field == "quarter") return range(1, 4);
  if (field == "day") return range(1, 31);
  if (field == "week") return range(1, 53);
  if (field == "dow") return range(0, 6);
  if (field == "isodow") return range(1, 7);
  if (field == "doy") return range(1, 366);
  if (field == "hour") return range(0, 23);
  if (field == "minute" || field == "second") return range(0, 59);
  if (field == "year" && when.is_bounded()) {
    const auto year = [&](double at) {
      const double days = is_date ? at : std::floor(at / kMicrosPerDay);
      return catalog::to_string(catalog::Literal{catalog::Date{static_cast<std::int32_t>(days)}});
    };
    const auto number = [](const std::string& date) { return std::strtod(date.c_str(), nullptr); };
    return range(number(year(when.lower)), number(year(when.upper)));
  }
  return {};
}

bool same(const catalog::Literal& a, const catalog::Literal& b) {
  if (a == b) return true;
  const double x = catalog::as_number(a), y = catalog::as_number(b);
  return x == y;  // 1 and 1.0; NaN for text is never equal
}

}  // namespace

std::optional<catalog::Literal> as_literal(const ConstantValue& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* decimal = std::get_if<DecimalConstant>(&value)) return decimal->value;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* date = std::get_if<catalog::Date>(&value)) return *date;
  if (const auto* time = std::get_if<catalog::Timestamp>(&value)) return *time;
  return std::nullopt;
}

Facts intersect(const Facts& a, const Facts& b) {
  Facts made = a;
  made.lower = std::max(a.lower, b.lower);
  made.upper = std::min(a.upper, b.upper);
  made.declared = a.declared || b.declared;
  made.may_be_null = a.may_be_null && b.may_be_null;
  made.from_type_only =
      (a.from_type_only && !b.is_bounded()) || (b.from_type_only && !a.is_bounded());
  if (!a.values) {
    made.values = b.values;
  } else if (b.values) {
    std::erase_if(*made.values, [&](const catalog::Literal& one) {
      return std::none_of(b.values->begin(), b.values->end(),
                          [&](const auto& other) { return same(one, other); });
    });
  }
  if (made.values) {
    std::erase_if(*made.values, [&](const catalog::Literal& one) {
      const double at = catalog::as_number(one);
      return at < made.lower || at > made.upper;  // false for text
    });
  }
  if (made.lower > made.upper) made.lower = made.upper;  // no row can be here; any bound will do
  return made;
}

Facts hull(const Facts& a, const Facts& b) {
  Facts made;
  made.lower = std::min(a.lower, b.lower);
  made.upper = std::max(a.upper, b.upper);
  made.declared = a.declared || b.declared;
  made.may_be_null = a.may_be_null || b.may_be_null;
  made.from_type_only = a.from_type_only || b.from_type_only;
  if (a.values && b.values) {
    made.values = a.values;
    for (const auto& one : *b.values)
      if (std::none_of(a.values->begin(), a.values->end(),
                       [&](const auto& other) { return same(one, other); }))
        made.values->push_back(one);
  }
  return made;
}

Facts FactsTable::of(const Scalar& scalar) const {
  Facts facts = before_conditions(scalar);
  if (conditions_.empty() || as_constant(scalar) != nullptr) return facts;
  const auto found = conditions_.find(emit_scalar(scalar));
  return found == conditions_.end() ? facts : intersect(facts, found->second);
}

Facts FactsTable::before_conditions(const Scalar& scalar) const {
  if (const auto* constant = as_constant(scalar)) {
    Facts facts;
    facts.may_be_null = std::holds_alternative<std::monostate>(constant->value);
    const double at = as_number(constant->value);
    if (!std::isnan(at)) facts.lower = facts.upper = at;
    if (facts.may_be_null) {  // NULL: no value at all
      facts.lower = kInfinity;
      facts.upper = -kInfinity;
      facts.values.emplace();
    } else if (const auto literal = as_literal(constant->value)) {
      facts.values = std::vector{*literal};
    }
    return facts;
  }
  if (const auto* id = as_column(scalar)) {
    const auto found = columns_.find(*id);
    return found == columns_.end() ? Facts{} : found->second;
  }
  if (const auto* applied = std::get_if<Apply>(&scalar.node)) return of_apply(scalar, *applied);
  if (const auto* when = std::get_if<CaseWhen>(&scalar.node)) {
    Facts made = of(*when->otherwise);
    for (const auto& [condition, result] : when->branches) made = hull(made, of(*result));
    return made;
  }
  if (const auto* cast = std::get_if<CastTo>(&scalar.node)) {
    const Type from = cast->arg->type;
    const Facts arg = of(*cast->arg);
    Facts made;
    if (from.is_number() && scalar.type.is_number()) {
      made = arg;
      made.grid.reset();
      made.values.reset();
      if (scalar.type.kind == TypeKind::Integer) {
        made.lower = std::floor(arg.lower);
        made.upper = std::ceil(arg.upper);
      }
    } else if (from.kind == TypeKind::Boolean && scalar.type.is_number()) {
      made = exactly(0, 1);
    } else if (from.kind == TypeKind::Date && scalar.type.kind == TypeKind::Timestamp) {
      made = exactly(arg.lower * kMicrosPerDay, arg.upper * kMicrosPerDay);
    } else if (from.kind == TypeKind::Timestamp && scalar.type.kind == TypeKind::Date) {
      made = exactly(std::floor(arg.lower / kMicrosPerDay), std::floor(arg.upper / kMicrosPerDay));
    }
    made.declared = arg.declared;
    return made;
  }
  return {};
}

Facts FactsTable::of_apply(const Scalar& scalar, const Apply& applied) const {
  // Each argument once: asked for again at every use, nested expressions would take a time that
  // grows with a power of their depth.
  std::vector<Facts> args;
  for (const auto& one : applied.args) args.push_back(of(*one));
  const auto arg = [&](std::size_t i) -> const Facts& { return args.at(i); };
  const auto mark = [&](Facts facts) {
    for (const Facts& known : args) {
      facts.declared |= known.declared;
      facts.from_type_only |= known.from_type_only;
    }
    return facts;
  };
  const bool whole = scalar.type.kind == TypeKind::Integer;
  switch (applied.function) {
    case Function::Add:
      return mark(outward(arg(0).lower + arg(1).lower, arg(0).upper + arg(1).upper));
    case Function::Subtract:
      return mark(outward(arg(0).lower - arg(1).upper, arg(0).upper - arg(1).lower));
    case Function::DaysBetween:
    case Function::SubtractDays:
      return mark(exactly(arg(0).lower - arg(1).upper, arg(0).upper - arg(1).lower));
    case Function::AddDays:
      return mark(exactly(arg(0).lower + arg(1).lower, arg(0).upper + arg(1).upper));
    case Function::Multiply: {
      // x * x of one expression is a square.
      if (emit_scalar(*applied.args[0]) == emit_scalar(*applied.args[1])) {
        const Facts x = arg(0);
        const double reach = std::max(std::fabs(x.lower), std::fabs(x.upper));
        const double least =
            x.lower <= 0 && x.upper >= 0 ? 0 : std::min(std::fabs(x.lower), std::fabs(x.upper));
        return mark(outward(least * least, times(reach, reach)));
      }
      return mark(product(arg(0), arg(1)));
    }
    case Function::Divide:
      return mark(quotient(arg(0), arg(1), whole));
    case Function::Modulo: {
      const Facts a = arg(0), b = arg(1);
      double reach = std::max(std::fabs(b.lower), std::fabs(b.upper));
      if (whole) reach = std::max(0.0, reach - 1);
      Facts made = mark(exactly(a.lower >= 0 ? 0 : std::max(-reach, a.lower),
                                a.upper <= 0 ? 0 : std::min(reach, a.upper)));
      made.from_type_only = b.from_type_only;  // a remainder is bounded by its divisor
      return made;
    }
    case Function::Negate:
      return mark(exactly(-arg(0).upper, -arg(0).lower));
    case Function::Abs: {
      const Facts a = arg(0);
      const double reach = std::max(std::fabs(a.lower), std::fabs(a.upper));
      const double least =
          a.lower <= 0 && a.upper >= 0 ? 0 : std::min(std::fabs(a.lower), std::fabs(a.upper));
      return mark(exactly(least, reach));
    }
    case Function::Ceil:
      return mark(monotone(arg(0), std::ceil));
    case Function::Floor:
      return mark(monotone(arg(0), std::floor));
    case Function::Round:
    case Function::Trunc: {
      const Facts a = arg(0);
      // To tens or hundreds an end can move further than to the next whole number.
      if (applied.args.size() > 1) {
        const double digits = arg(1).lower;
        const double step = std::pow(10.0, -digits);
        return mark(exactly(a.lower - step, a.upper + step));
      }
      return mark(exactly(std::floor(a.lower), std::ceil(a.upper)));
    }
    case Function::Sign:
      return exactly(-1, 1);
    case Function::Sqrt: {
      const Facts a = arg(0);
      return mark(exactly(a.lower > 0 ? down(std::sqrt(a.lower)) : 0,
                          up(std::sqrt(std::max(0.0, a.upper)))));
    }
    case Function::Exp:
      return mark(exactly(down(std::exp(arg(0).lower)), up(std::exp(arg(0).upper))));
    case Function::Ln:
    case Function::Log10: {
      const Facts a = arg(0);
      if (a.lower <= 0) return {};
      const auto log = applied.function == Function::Ln ? [](double x) { return std::log(x); }
                                                        : [](double x) { return std::log10(x); };
      return mark(exactly(down(log(a.lower)), up(log(a.upper))));
    }
    case Function::Coalesce: {
      Facts made = arg(0);
      for (std::size_t i = 1; i < applied.args.size(); ++i) {
        const bool may_be_null = made.may_be_null && arg(i).may_be_null;
        made = hull(made, arg(i));
        made.may_be_null = may_be_null;
      }
      return made;
    }
    case Function::NullIf: {
      Facts made = arg(0);
      made.may_be_null = true;
      return made;
    }
    case Function::Greatest:
    case Function::Least: {
      // NULLs are passed over, so any one argument may be the result.
      Facts made = arg(0);
      for (std::size_t i = 1; i < applied.args.size(); ++i) {
        const Facts next = arg(i);
        const bool certain = !made.may_be_null && !next.may_be_null;
        Facts both = hull(made, next);
        both.values.reset();
        if (applied.function == Function::Greatest) {
          if (!next.may_be_null || certain) both.lower = std::max(both.lower, next.lower);
          if (!made.may_be_null || certain) both.lower = std::max(both.lower, made.lower);
        } else {
          if (!next.may_be_null || certain) both.upper = std::min(both.upper, next.upper);
          if (!made.may_be_null || certain) both.upper = std::min(both.upper, made.upper);
        }
        both.may_be_null = made.may_be_null && next.may_be_null;
        made = both;
      }
      return made;
    }
    case Function::Length:
    case Function::Position:
      return exactly(0, kInfinity);
    case Function::DatePart: {
      const auto* field = as_constant(*applied.args.at(0));
      const auto* text = field == nullptr ? nullptr : std::get_if<std::string>(&field->value);
      if (text == nullptr) return {};
      return mark(part_of_date(*text, arg(1), applied.args[1]->type.kind == TypeKind::Date));
    }
    case Function::And:
    case Function::Or:
    case Function::Not:
    case Function::IsNull:
    case Function::IsTrue:
    case Function::IsFalse:
    case Function::Equal:
    case Function::NotEqual:
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual:
    case Function::IsDistinctFrom:
    case Function::In:
    case Function::Like:
    case Function::ILike:
    case Function::StartsWith: {
      Facts made;
      made.values = std::vector<catalog::Literal>{false, true};
      return made;
    }
    case Function::Power:
    case Function::Lower:
    case Function::Upper:
    case Function::Trim:
    case Function::TrimLeft:
    case Function::TrimRight:
    case Function::Substring:
    case Function::Left:
    case Function::Right:
    case Function::Replace:
    case Function::Concat:
    case Function::SplitPart:
    case Function::ResultPart:
    case Function::DateTrunc:
    case Function::AddInterval:
    case Function::SubtractInterval:
      return {};
  }
  return {};
}

void FactsTable::narrow(const Scalar& what, const Facts& to) {
  if (as_constant(what) != nullptr) return;
  const auto key = emit_scalar(what);
  const auto [place, fresh] = conditions_.try_emplace(key, to);
  if (!fresh) place->second = intersect(place->second, to);
}

void FactsTable::narrow_by_comparison(Function function, const Scalar& what,
                                      const Constant& constant) {
  Facts facts;
  facts.may_be_null = false;
  const double at = as_number(constant.value);
  const bool whole = what.type.kind == TypeKind::Integer || what.type.kind == TypeKind::Date;
  switch (function) {
    case Function::Equal:
      if (const auto literal = as_literal(constant.value)) facts.values = std::vector{*literal};
      if (!std::isnan(at)) facts.lower = facts.upper = at;
      break;
    case Function::Less:
      if (!std::isnan(at)) facts.upper = whole ? std::ceil(at) - 1 : at;
      break;
    case Function::LessEqual:
      if (!std::isnan(at)) facts.upper = whole ? std::floor(at) : at;
      break;
    case Function::Greater:
      if (!std::isnan(at)) facts.lower = whole ? std::floor(at) + 1 : at;
      break;
    case Function::GreaterEqual:
      if (!std::isnan(at)) facts.lower = whole ? std::ceil(at) : at;
      break;
    default:
      return;
  }
  narrow(what, facts);
}

void FactsTable::assume(const Scalar& condition) {
  const auto* applied = std::get_if<Apply>(&condition.node);
  if (applied == nullptr) return;
  const auto flipped = [](Function function) {
    switch (function) {
      case Function::Less:
        return Function::Greater;
      case Function::LessEqual:
        return Function::GreaterEqual;
      case Function::Greater:
        return Function::Less;
      case Function::GreaterEqual:
        return Function::LessEqual;
      default:
        return function;
    }
  };
  switch (applied->function) {
    case Function::And:
      for (const auto& arg : applied->args) assume(*arg);
      return;
    case Function::Equal:
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual: {
      const Scalar &left = *applied->args[0], &right = *applied->args[1];
      // Time and date compare across types on one axis only if the types agree.
      if (left.type.is_time() && right.type.is_time() && !(left.type == right.type)) return;
      if (const auto* constant = as_constant(right))
        narrow_by_comparison(applied->function, left, *constant);
      if (const auto* constant = as_constant(left))
        narrow_by_comparison(flipped(applied->function), right, *constant);
      return;
    }
    case Function::In: {
      Facts facts;
      facts.may_be_null = false;
      facts.values.emplace();
      for (std::size_t i = 1; i < applied->args.size(); ++i) {
        const auto* constant = as_constant(*applied->args[i]);
        const auto literal = constant == nullptr ? std::nullopt : as_literal(constant->value);
        if (!literal) return;
        facts.values->push_back(*literal);
      }
      double lower = kInfinity, upper = -kInfinity;
      for (const auto& one : *facts.values) {
        const double at = catalog::as_number(one);
        lower = std::isnan(at) ? -kInfinity : std::min(lower, at);
        upper = std::isnan(at) ? kInfinity : std::max(upper, at);
      }
      facts.lower = lower;
      facts.upper = upper;
      narrow(*applied->args[0], facts);
      return;
    }
    case Function::Not:
      if (const auto* null = as_apply(*applied->args[0], Function::IsNull)) {
        Facts facts;
        facts.may_be_null = false;
        narrow(*null->args[0], facts);
      }
      return;
    default:
      return;
  }
}

}  // namespace discreet::sql
