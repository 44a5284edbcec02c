#include "sql/scalar.h"

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

}  // namespace discreet::sql
