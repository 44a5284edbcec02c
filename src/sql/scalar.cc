#include "sql/scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace discreet::sql {

double as_number(const ConstantValue& value) {
  struct Read {
    double operator()(std::monostate) const { return std::numeric_limits<double>::quiet_NaN(); }
    double operator()(bool) const { return std::numeric_limits<double>::quiet_NaN(); }
    double operator()(std::int64_t whole) const { return static_cast<double>(whole); }
    double operator()(const DecimalConstant& decimal) const { return decimal.value; }
    double operator()(double real) const { return real; }
    double operator()(const std::string&) const { return std::numeric_limits<double>::quiet_NaN(); }
    double operator()(catalog::Date date) const { return date.days; }
    double operator()(catalog::Timestamp time) const { return static_cast<double>(time.micros); }
    double operator()(const IntervalConstant&) const {
      return std::numeric_limits<double>::quiet_NaN();
    }
  };
  return std::visit(Read{}, value);
}

void split_conjuncts(const ScalarPtr& condition, std::vector<ScalarPtr>& into) {
  if (!condition) return;
  if (const auto* both = as_apply(*condition, Function::And)) {
    for (const auto& arg : both->args) split_conjuncts(arg, into);
    return;
  }
  into.push_back(condition);
}

ScalarPtr join_conjuncts(const std::vector<ScalarPtr>& conjuncts) {
  if (conjuncts.empty()) return nullptr;
  if (conjuncts.size() == 1) return conjuncts.front();
  return apply(boolean_type(), conjuncts.front()->position, Function::And, conjuncts);
}

bool has_subquery(const Scalar& scalar) {
  if (std::holds_alternative<SubqueryValue>(scalar.node)) return true;
  if (const auto* applied = std::get_if<Apply>(&scalar.node))
    return std::any_of(applied->args.begin(), applied->args.end(),
                       [](const auto& arg) { return has_subquery(*arg); });
  if (const auto* cast = std::get_if<CastTo>(&scalar.node)) return has_subquery(*cast->arg);
  if (const auto* when = std::get_if<CaseWhen>(&scalar.node)) {
    for (const auto& [condition, result] : when->branches)
      if (has_subquery(*condition) || has_subquery(*result)) return true;
    return has_subquery(*when->otherwise);
  }
  return false;
}

}  // namespace discreet::sql
