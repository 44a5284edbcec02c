#include "sql/emit.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sql/bounds.h"
#include "sql/engine_dialect.h"

namespace discreet::sql {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20;  // characters of an expression

bool is_arithmetic(const Scalar& scalar) {
  const auto* applied = std::get_if<Apply>(&scalar.node);
  if (applied == nullptr) return false;
  switch (applied->function) {
    case Function::Add:
    case Function::Subtract:
    case Function::Multiply:
    case Function::Negate:
    case Function::Divide:
    case Function::Modulo:
    case Function::Abs:
      return true;
    default:
      return false;
  }
}

class Emitter final : public ScalarWriter {
 public:
  explicit Emitter(const FactsTable* facts, const EngineDialect* dialect = nullptr)
      : facts_(facts), dialect_(dialect) {}

  std::string write(const Scalar& one) const override { return scalar(one); }
  bool fits(const Scalar& one) const override { return cannot_overflow(one); }

  /// Each expression is written once, however often a guard repeats it.
  const std::string& scalar(const Scalar& one, bool inside_try = false) const {
    const auto [place, is_new] = written_.try_emplace({&one, inside_try});
    if (is_new) {
      auto own = dialect_ != nullptr ? dialect_->scalar(one, *this) : std::nullopt;
      place->second =
          own ? *std::move(own)
              : std::visit([&](const auto& node) { return emit(one, node, inside_try); }, one.node);
      if (place->second.size() > kLongest) throw TooLong();
    }
    return place->second;
  }

  std::string plan(const Plan& one, std::set<ColumnId>& used) const {
    return std::visit([&](const auto& node) { return emit_node(node, used); }, one.node);
  }

 private:
  // ---- expressions
  // -------------------------------------------------------------------------------

  std::string emit(const Scalar&, const Constant& constant, bool) const {
    return emit_constant(constant.value);
  }
  std::string emit(const Scalar&, const ColumnUse& use, bool) const { return column_name(use.id); }
  std::string emit(const Scalar& one, const CastTo& cast, bool) const {
    return fmt::format("TRY_CAST({} AS {})", scalar(*cast.arg), engine_name(one.type));
  }
  std::string emit(const Scalar& one, const CaseWhen& when, bool) const {
    std::string text = "CASE";
    for (const auto& [condition, result] : when.branches)
      text += fmt::format(" WHEN {} THEN {}", scalar(*condition), as_type(*result, one.type));
    return text + fmt::format(" ELSE {} END", as_type(*when.otherwise, one.type));
  }
  std::string emit(const Scalar& one, const SubqueryValue& subquery, bool) const {
    std::set<ColumnId> used;
    for_each_plan_column(*subquery.plan, [&](ColumnId id) { used.insert(id); });
    if (subquery.kind != SubqueryKind::Exists) used.insert(subquery.output);
    const auto inner = plan(*subquery.plan, used);
    switch (subquery.kind) {
      case SubqueryKind::Exists:
        return fmt::format("EXISTS (SELECT 1 FROM ({}))", inner);
      case SubqueryKind::Scalar:
        return widened(one,
                       fmt::format("(SELECT {} FROM ({}))", column_name(subquery.output), inner));
      case SubqueryKind::In:
        return fmt::format("({} IN (SELECT {} FROM ({})))", scalar(*subquery.test),
                           column_name(subquery.output), inner);
    }
    return {};
  }

  /// Engines elsewhere may keep whole numbers in fewer bits than are computed with.
  std::string widened(const Scalar& one, std::string text) const {
    const bool may_be_narrow = dialect_ != nullptr && one.type.kind == TypeKind::Integer;
    return may_be_narrow ? fmt::format("CAST({} AS BIGINT)", text) : text;
  }

  /// A branch that is decimal beside one that is real would make the engine choose the type.
  std::string as_type(const Scalar& one, Type type) const {
    if (one.type == type || one.type.kind == TypeKind::Null || type.kind == TypeKind::Null)
      return scalar(one);
    return fmt::format("TRY_CAST({} AS {})", scalar(one), engine_name(type));
  }

  /// Arithmetic in 64 bits (or doubles) whatever the column's width.
  std::string operand(const Scalar& one, Type result) const {
    if (result.kind == TypeKind::Double && one.type.kind != TypeKind::Double &&
        as_constant(one) == nullptr)
      return fmt::format("CAST({} AS DOUBLE)", scalar(one, true));
    if (result.kind == TypeKind::Double && as_constant(one) != nullptr)
      return fmt::format("CAST({} AS DOUBLE)", scalar(one));
    if (one.type.kind == TypeKind::Integer && as_constant(one) == nullptr && !is_arithmetic(one))
      return fmt::format("CAST({} AS BIGINT)", scalar(one, true));
    if (one.type.kind == TypeKind::Integer && result.kind == TypeKind::Integer &&
        as_constant(one) != nullptr)
      return fmt::format("CAST({} AS BIGINT)", scalar(one, true));
    return scalar(one, true);
  }

  /// Can any step of this arithmetic leave the engine's type?
  bool cannot_overflow(const Scalar& one) const {
    if (one.type.kind == TypeKind::Double) {
      // IEEE arithmetic does not fail, but what it is made from may.
    } else if (is_arithmetic(one)) {
      if (facts_ == nullptr) return false;
      const Facts facts = facts_->of(one);
      const double reach = std::max(std::fabs(facts.lower), std::fabs(facts.upper));
      // A decimal has at least 18 digits in all; 64-bit integers reach 9.2e18. Policy ranges are
      // not believed: only what the type or the expression itself implies may drop the guard.
      if (facts.declared) return false;
      const double room =
          one.type.kind == TypeKind::Decimal ? 1e17 / std::pow(10.0, one.type.scale) : 9e18;
      if (!(reach < room)) return false;
    }
    const auto* applied = std::get_if<Apply>(&one.node);
    if (applied == nullptr || !is_arithmetic(one)) return true;
    for (const auto& arg : applied->args)
      if (!cannot_overflow(*arg)) return false;
    return true;
  }

  std::string guarded(const Scalar& one, std::string text, bool inside_try) const {
    if (inside_try || cannot_overflow(one)) return text;
    return fmt::format("TRY({})", text);
  }

  std::string binary(const Scalar& one, const Apply& applied, const char* op,
                     bool inside_try) const {
    return guarded(one,
                   fmt::format("({} {} {})", operand(*applied.args[0], one.type), op,
                               operand(*applied.args[1], one.type)),
                   inside_try);
  }

  std::string list(const Apply& applied, std::string_view with) const {
    std::vector<std::string> parts;
    for (const auto& arg : applied.args) parts.push_back(scalar(*arg));
    return joined(parts, with);
  }
  std::string typed_list(const Scalar& one, const Apply& applied) const {
    std::vector<std::string> parts;
    for (const auto& arg : applied.args) parts.push_back(as_type(*arg, one.type));
    return joined(parts, ", ");
  }
  std::string infix(const Apply& applied, std::string_view op) const {
    return "(" + list(applied, op) + ")";
  }
  std::string prefix(const Apply& applied, std::string_view name) const {
    return fmt::format("{}({})", name, list(applied, ", "));
  }
  std::string as_double(const Scalar& one) const {
    return fmt::format("CAST({} AS DOUBLE)", scalar(one));
  }

  std::string emit(const Scalar& one, const Apply& applied, bool inside_try) const {
    std::string text = emit_apply(one, applied, inside_try);
    // The engine has no TRY around subqueries.
    if (text.starts_with("TRY(") && has_subquery(one)) text.erase(0, 3);
    return text;
  }

  std::string emit_apply(const Scalar& one, const Apply& applied, bool inside_try) const {
    const auto arg = [&](std::size_t i) { return scalar(*applied.args.at(i)); };
    const bool whole = one.type.kind == TypeKind::Integer;
    switch (applied.function) {
      case Function::And:
      case Function::Or:
      case Function::Equal:
      case Function::NotEqual:
      case Function::Less:
      case Function::LessEqual:
      case Function::Greater:
      case Function::GreaterEqual:
      case Function::IsDistinctFrom:
      case Function::Concat:
        return infix(applied, infix_operator(applied.function));
      case Function::Not:
        return fmt::format("(NOT {})", arg(0));
      case Function::IsNull:
        return fmt::format("({} IS NULL)", arg(0));
      case Function::IsTrue:
        return fmt::format("({} IS TRUE)", arg(0));
      case Function::IsFalse:
        return fmt::format("({} IS FALSE)", arg(0));
      case Function::In: {
        std::vector<std::string> items;
        for (std::size_t i = 1; i < applied.args.size(); ++i) items.push_back(arg(i));
        return fmt::format("({} IN ({}))", arg(0), joined(items, ", "));
      }
      case Function::Like:
        return infix(applied, " LIKE ");
      case Function::ILike:
        return infix(applied, " ILIKE ");
      case Function::Add:
        return binary(one, applied, "+", inside_try);
      case Function::Subtract:
        return binary(one, applied, "-", inside_try);
      case Function::Multiply:
        return binary(one, applied, "*", inside_try);
      case Function::Divide:
        // Whole numbers divide as in PostgreSQL, towards zero; both give NULL for a zero divisor.
        if (whole) return binary(one, applied, "//", inside_try);
        return fmt::format("({} / nullif({}, 0))", as_double(*applied.args[0]),
                           as_double(*applied.args[1]));
      case Function::Modulo:
        if (whole) return binary(one, applied, "%", inside_try);
        return fmt::format("({} % nullif({}, 0))", as_double(*applied.args[0]),
                           as_double(*applied.args[1]));
      case Function::Negate:
        return guarded(one, fmt::format("(- {})", operand(*applied.args[0], one.type)), inside_try);
      case Function::Abs:
        return guarded(one, fmt::format("abs({})", operand(*applied.args[0], one.type)),
                       inside_try);
      case Function::Ceil:
      case Function::Floor:
      case Function::Round:
      case Function::Trunc: {
        if (applied.args[0]->type.kind == TypeKind::Integer && applied.args.size() == 1)
          return arg(0);
        const char* name = applied.function == Function::Ceil    ? "ceil"
                           : applied.function == Function::Floor ? "floor"
                           : applied.function == Function::Round ? "round"
                                                                 : "trunc";
        return fmt::format("TRY({})", prefix(applied, name));
      }
      case Function::Sign:
        return fmt::format("CAST(sign({}) AS BIGINT)", arg(0));
      case Function::Sqrt:
        return fmt::format("TRY(sqrt({}))", as_double(*applied.args[0]));
      case Function::Ln:
        return fmt::format("TRY(ln({}))", as_double(*applied.args[0]));
      case Function::Log10:
        return fmt::format("TRY(log10({}))", as_double(*applied.args[0]));
      case Function::Exp:
        return fmt::format("TRY(exp({}))", as_double(*applied.args[0]));
      case Function::Power:
        return fmt::format("TRY(pow({}, {}))", as_double(*applied.args[0]),
                           as_double(*applied.args[1]));
      case Function::Coalesce:
        return fmt::format("coalesce({})", typed_list(one, applied));
      case Function::NullIf:
        return prefix(applied, "nullif");
      case Function::Greatest:
        return fmt::format("greatest({})", typed_list(one, applied));
      case Function::Least:
        return fmt::format("least({})", typed_list(one, applied));
      case Function::Length:
        return prefix(applied, "length");
      case Function::Lower:
        return prefix(applied, "lower");
      case Function::Upper:
        return prefix(applied, "upper");
      case Function::Trim:
        return prefix(applied, "trim");
      case Function::TrimLeft:
        return prefix(applied, "ltrim");
      case Function::TrimRight:
        return prefix(applied, "rtrim");
      case Function::Substring:
        return fmt::format("TRY({})", prefix(applied, "substring"));
      case Function::Left:
        return fmt::format("TRY({})", prefix(applied, "left"));
      case Function::Right:
        return fmt::format("TRY({})", prefix(applied, "right"));
      case Function::Replace:
        return prefix(applied, "replace");
      case Function::Position:
        return prefix(applied, "strpos");
      case Function::StartsWith:
        return prefix(applied, "starts_with");
      case Function::ResultPart: {
        const auto& part = std::get<std::string>(as_constant(*applied.args[1])->value);
        return fmt::format(
            "TRY_CAST(nullif(regexp_extract({}, '\"{}\": (-?[0-9][0-9.e+-]*)', 1), '') AS DOUBLE)",
            arg(0), part);
      }
      case Function::SplitPart:
        return fmt::format("TRY({})", prefix(applied, "split_part"));
      case Function::DatePart:
        return fmt::format("TRY({})", prefix(applied, "date_part"));
      case Function::DateTrunc:
        return fmt::format("TRY(CAST({} AS TIMESTAMP))", prefix(applied, "date_trunc"));
      case Function::AddDays:
        return fmt::format("TRY({} + CAST({} AS INTEGER))", arg(0), arg(1));
      case Function::SubtractDays:
        return fmt::format("TRY({} - CAST({} AS INTEGER))", arg(0), arg(1));
      case Function::DaysBetween:
        return fmt::format("TRY(date_diff('day', {}, {}))", arg(1), arg(0));
      case Function::AddInterval:
        return fmt::format("TRY(CAST({} + {} AS TIMESTAMP))", arg(0), arg(1));
      case Function::SubtractInterval:
        return fmt::format("TRY(CAST({} - {} AS TIMESTAMP))", arg(0), arg(1));
    }
    return {};
  }

  // ---- plans
  // -------------------------------------------------------------------------------------

  void use(const ScalarPtr& one, std::set<ColumnId>& used) const {
    if (one) for_each_column(*one, [&](ColumnId id) { used.insert(id); });
  }

  std::string emit_node(const OneRow&, std::set<ColumnId>&) const { return "SELECT 1"; }

  std::string emit_node(const Scan& scan, std::set<ColumnId>& used) const {
    if (dialect_ != nullptr)
      return dialect_->scan(scan, [&](ColumnId id) { return used.contains(id); });
    std::vector<std::string> columns;
    for (const auto& column : scan.columns)
      if (used.contains(column.id))
        columns.push_back(fmt::format("{} AS {}", quote_name(column.name), column_name(column.id)));
    if (scan.row_number && used.contains(*scan.row_number))
      columns.push_back(fmt::format("row_number() OVER () AS {}", column_name(*scan.row_number)));
    return fmt::format("SELECT {} FROM {}", columns.empty() ? "1" : joined(columns, ", "),
                       quote_name(scan.table));
  }

  std::string emit_node(const ReleasedTable& table, std::set<ColumnId>& used) const {
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < table.keys.size(); ++i)
      if (used.contains(table.keys[i]))
        columns.push_back(fmt::format("k{} AS {}", i + 1, column_name(table.keys[i])));
    for (std::size_t i = 0; i < table.aggregates.size(); ++i)
      if (used.contains(table.aggregates[i]))
        columns.push_back(fmt::format("a{} AS {}", i + 1, column_name(table.aggregates[i])));
    return fmt::format("SELECT {} FROM released_{}", columns.empty() ? "1" : joined(columns, ", "),
                       table.index + 1);
  }

  /// Parts of a join without conditions, side by side: the engine's optimizer reorders them only if
  /// they stand in one FROM.
  void collect_parts(const PlanPtr& one, std::vector<const Plan*>& parts) const {
    const auto* join = std::get_if<Join>(&one->node);
    if (join != nullptr && join->kind == JoinKind::Inner && !join->condition) {
      collect_parts(join->left, parts);
      collect_parts(join->right, parts);
    } else {
      parts.push_back(one.get());
    }
  }
  std::string from_parts(const PlanPtr& one, std::set<ColumnId>& used) const {
    std::vector<const Plan*> parts;
    collect_parts(one, parts);
    std::vector<std::string> texts;
    for (const Plan* part : parts) texts.push_back("(" + plan(*part, used) + ")");
    return joined(texts, ", ");
  }

  std::string emit_node(const Filter& filter, std::set<ColumnId>& used) const {
    use(filter.predicate, used);
    const auto predicate = scalar(*filter.predicate);
    return fmt::format("SELECT * FROM {} WHERE {}", from_parts(filter.input, used), predicate);
  }

  std::string emit_node(const Project& project, std::set<ColumnId>& used) const {
    std::vector<std::string> columns;
    std::set<ColumnId> below = used;  // correlated columns of an outer query stay wanted
    for (const auto& [id, value] : project.outputs) {
      if (!used.contains(id)) continue;
      columns.push_back(fmt::format("{} AS {}", scalar(*value), column_name(id)));
      use(value, below);
    }
    return fmt::format("SELECT {} FROM ({})", columns.empty() ? "1" : joined(columns, ", "),
                       plan(*project.input, below));
  }

  std::string emit_node(const Join& join, std::set<ColumnId>& used) const {
    use(join.condition, used);
    if (!join.condition && join.kind == JoinKind::Inner)
      return fmt::format("SELECT * FROM {}", from_parts(make_plan(join), used));
    const char* kind = "JOIN";
    switch (join.kind) {
      case JoinKind::Inner:
        break;
      case JoinKind::Left:
        kind = "LEFT JOIN";
        break;
      case JoinKind::Right:
        kind = "RIGHT JOIN";
        break;
      case JoinKind::Full:
        kind = "FULL JOIN";
        break;
    }
    const auto left = plan(*join.left, used);
    const auto right = plan(*join.right, used);
    std::string text = fmt::format("SELECT * FROM ({}) {} ({})", left, kind, right);
    if (join.condition)
      text += " ON " + scalar(*join.condition);
    else if (join.kind != JoinKind::Inner)
      text += " ON true";
    return text;
  }

  std::string exact(const ExactAggregate& aggregate) const {
    if (dialect_ != nullptr) return dialect_->aggregate(aggregate, *this);
    const auto arg = [&](std::size_t i) { return scalar(*aggregate.args.at(i)); };
    // Sums of squares of reals near the top of their range make the engine fail; nothing sensible
    // is lost by keeping them below.
    const auto real = [&](std::size_t i) {
      const auto x = fmt::format("CAST({} AS DOUBLE)", arg(i));
      return fmt::format(
          "CASE WHEN isnan({0}) THEN NULL ELSE least(greatest({0}, -1e140), 1e140) END", x);
    };
    const auto safe_real = [&](std::size_t i) {
      return fmt::format("(CASE WHEN {} IS NULL THEN NULL ELSE {} END)", arg(i), real(i));
    };
    std::string text;
    switch (aggregate.function) {
      case ExactFunction::CountRows:
        text = "count(*)";
        break;
      case ExactFunction::Count:
        text = fmt::format("count({})", arg(0));
        break;
      case ExactFunction::CountDistinct:
        text = fmt::format("count(DISTINCT {})", arg(0));
        break;
      case ExactFunction::Sum:
        text = fmt::format("sum({})", arg(0));
        break;
      case ExactFunction::Avg:
        text = fmt::format("avg({})", arg(0));
        break;
      case ExactFunction::Min:
        text = fmt::format("min({})", arg(0));
        break;
      case ExactFunction::Max:
        text = fmt::format("max({})", arg(0));
        break;
      case ExactFunction::Median:
        text = fmt::format("median({})", arg(0));
        break;
      case ExactFunction::QuantileCont:
        text = fmt::format("quantile_cont({}, {})", arg(0), aggregate.fraction);
        break;
      case ExactFunction::QuantileDisc:
        text = fmt::format("quantile_disc({}, {})", arg(0), aggregate.fraction);
        break;
      case ExactFunction::VarPop:
        text = fmt::format("var_pop({})", safe_real(0));
        break;
      case ExactFunction::VarSamp:
        text = fmt::format("var_samp({})", safe_real(0));
        break;
      case ExactFunction::StddevPop:
        text = fmt::format("stddev_pop({})", safe_real(0));
        break;
      case ExactFunction::StddevSamp:
        text = fmt::format("stddev_samp({})", safe_real(0));
        break;
      case ExactFunction::CovarPop:
        text = fmt::format("covar_pop({}, {})", safe_real(0), safe_real(1));
        break;
      case ExactFunction::CovarSamp:
        text = fmt::format("covar_samp({}, {})", safe_real(0), safe_real(1));
        break;
      case ExactFunction::Corr:
        text = fmt::format("corr({}, {})", safe_real(0), safe_real(1));
        break;
      case ExactFunction::BoolAnd:
        text = fmt::format("bool_and({})", arg(0));
        break;
      case ExactFunction::BoolOr:
        text = fmt::format("bool_or({})", arg(0));
        break;
      case ExactFunction::Mode:
        text = fmt::format("mode({})", arg(0));
        break;
    }
    if (aggregate.filter) text += fmt::format(" FILTER (WHERE {})", scalar(*aggregate.filter));
    // Sums of whole numbers are 128 bits wide in the engine; what does not fit 64 is NULL.
    if (aggregate.function == ExactFunction::Sum &&
        aggregate.args[0]->type.kind == TypeKind::Integer)
      text = fmt::format("TRY_CAST({} AS BIGINT)", text);
    if (aggregate.function == ExactFunction::Sum &&
        aggregate.args[0]->type.kind == TypeKind::Decimal)
      text = fmt::format("TRY_CAST({} AS DECIMAL(28,{}))", text, aggregate.args[0]->type.scale);
    return text;
  }

  std::string emit_node(const Aggregate& aggregate, std::set<ColumnId>& used) const {
    std::vector<std::string> columns, keys;
    std::set<ColumnId> below = used;
    for (const auto& [id, key] : aggregate.keys) {
      use(key, below);
      columns.push_back(fmt::format("{} AS {}", scalar(*key), column_name(id)));
      keys.push_back(std::to_string(columns.size()));
    }
    for (const auto& [id, one] : aggregate.aggregates) {
      if (!used.contains(id)) continue;
      for (const auto& arg : one.args) use(arg, below);
      use(one.filter, below);
      columns.push_back(fmt::format("{} AS {}", exact(one), column_name(id)));
    }
    if (columns.empty()) columns.push_back("count(*)");
    std::string text =
        fmt::format("SELECT {} FROM ({})", joined(columns, ", "), plan(*aggregate.input, below));
    if (!keys.empty()) text += " GROUP BY " + joined(keys, ", ");
    return text;
  }

  std::string emit_node(const Combine& combine, std::set<ColumnId>& used) const {
    const std::string op = !combine.set                         ? "UNION ALL"
                           : *combine.set == SetOperator::Union ? "UNION"
                           : *combine.set == SetOperator::Intersect
                               ? (combine.all ? "INTERSECT ALL" : "INTERSECT")
                               : (combine.all ? "EXCEPT ALL" : "EXCEPT");
    std::vector<std::string> parts;
    for (const auto& [input, columns] : combine.inputs) {
      std::set<ColumnId> below = used;
      std::vector<std::string> names;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        below.insert(columns[i]);
        names.push_back(
            fmt::format("{} AS {}", column_name(columns[i]), column_name(combine.outputs[i])));
      }
      parts.push_back(fmt::format("SELECT {} FROM ({})", joined(names, ", "), plan(*input, below)));
    }
    return fmt::format("({})", joined(parts, ") " + op + " ("));
  }

  std::string emit_node(const Distinct& distinct, std::set<ColumnId>& used) const {
    std::vector<std::string> names;
    for (const ColumnId id : distinct.columns) {
      used.insert(id);
      names.push_back(column_name(id));
    }
    return fmt::format("SELECT DISTINCT {} FROM ({})", names.empty() ? "1" : joined(names, ", "),
                       plan(*distinct.input, used));
  }

  std::string emit_node(const SortLimit& sort, std::set<ColumnId>& used) const {
    std::vector<std::string> keys;
    for (const auto& key : sort.keys) {
      used.insert(key.column);
      // PostgreSQL's order of NULLs, which is not the engine's default.
      const bool nulls_first = key.nulls_first.value_or(key.descending);
      keys.push_back(fmt::format("{}{} NULLS {}", column_name(key.column),
                                 key.descending ? " DESC" : "", nulls_first ? "FIRST" : "LAST"));
    }
    std::string text = fmt::format("SELECT * FROM ({})", plan(*sort.input, used));
    if (!keys.empty()) text += " ORDER BY " + joined(keys, ", ");
    if (sort.limit) text += fmt::format(" LIMIT {}", *sort.limit);
    if (sort.offset) text += fmt::format(" OFFSET {}", *sort.offset);
    return text;
  }

  const FactsTable* facts_;
  const EngineDialect* dialect_;
  mutable std::map<std::pair<const Scalar*, bool>, std::string> written_;  // (.., inside TRY())
};

}  // namespace

std::string emit_scalar(const Scalar& scalar, const FactsTable* facts,
                        const EngineDialect* dialect) {
  return Emitter(facts, dialect).scalar(scalar);
}

std::string emit_plan(const Plan& plan, const std::vector<ColumnId>& outputs,
                      const FactsTable* facts, const EngineDialect* dialect) {
  std::set<ColumnId> used(outputs.begin(), outputs.end());
  return Emitter(facts, dialect).plan(plan, used);
}

}  // namespace discreet::sql
