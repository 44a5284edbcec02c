// What is known of a value before any row is read: an interval, a list of values, whether it can be
// NULL. From the policy's ranges, through arithmetic, CASE, coalesce, least, casts, and from WHERE.
//
// Guarantee: soundness is not needed for privacy. Every bound used is enforced by clamping in the
//            engine statement, and keys outside a derived domain are dropped; a wrong interval
//            costs accuracy only.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catalog/literal.h"
#include "sql/scalar.h"

namespace discreet::sql {

struct Facts {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool declared = false;        ///< a range of the policy had a part in it
  bool from_type_only = false;  ///< the type's own limits, which are too wide to be of use
  bool may_be_null = true;
  std::optional<std::vector<catalog::Literal>> values;  ///< one of these, or NULL
  std::optional<double> grid;                           ///< the policy's, of a plain column

  bool is_bounded() const { return lower > -kInfinity && upper < kInfinity; }
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
};

class FactsTable {
 public:
  void set(ColumnId column, Facts facts) { columns_[column] = std::move(facts); }
  /// Takes note of a condition that every row above it meets.
  void assume(const Scalar& condition);
  Facts of(const Scalar& scalar) const;

 private:
  Facts before_conditions(const Scalar& scalar) const;
  Facts of_apply(const Scalar& scalar, const Apply& applied) const;
  void narrow(const Scalar& what, const Facts& to);
  void narrow_by_comparison(Function function, const Scalar& what, const Constant& constant);

  std::map<ColumnId, Facts> columns_;
  std::map<std::string, Facts> conditions_;  // by the expression's text
};

/// The constant as a literal, where a policy could have listed it.
std::optional<catalog::Literal> as_literal(const ConstantValue& value);

/// Both hold.
Facts intersect(const Facts& a, const Facts& b);
/// One of them holds.
Facts hull(const Facts& a, const Facts& b);

}  // namespace discreet::sql
