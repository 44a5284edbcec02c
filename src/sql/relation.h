// What a relation is to privacy, beside its plan. The rules that derive it are in privacy_rules.cc.
//
//   Public     nobody's rows: public tables and what is computed from them
//   Private    every row belongs to one privacy unit, and depends on that unit's rows only
//   Released   computed from noised answers (and public tables): public once it exists
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sql/plan.h"

namespace discreet::sql {

enum class Privacy { Public, Private, Released };

/// A named column of a relation, as a scope sees it.
struct Field {
  std::string qualifier;
  std::string name;  ///< empty: carried along, cannot be named
  ColumnId id = 0;
  Type type{};
  /// Set where the value tells whose row it is: "customer.c_custkey" for the unit itself, or
  /// "orders.o_orderkey" for a key from which links lead to it. Columns with equal anchors that are
  /// equal belong to the same unit.
  std::string anchor;
  bool merged = false;         ///< the right side of USING: not found by bare name
  bool unusable = false;       ///< of a type no statement may use
  bool per_unit = false;       ///< at most one value per unit (declared: max_rows_per_unit = 1)
  bool is_key = false;         ///< links of the policy point here: one row per value (declared)
  bool is_public_key = false;  ///< of a public table: one row per value (declared: key)
};

struct Relation {
  PlanPtr plan;
  std::vector<Field> fields;
  Privacy privacy = Privacy::Public;
  std::string people;  ///< whose rows, if Private
  bool unit_is_row = false;
  std::optional<ColumnId>
      unit;  ///< the unit's identity as a column; absent: to be had by an anchor
  bool one_row_per_unit = false;          ///< proved, not declared
  std::optional<std::uint64_t> rows_max;  ///< per unit: declared or proved
  bool single_row = false;                ///< an aggregate without GROUP BY
  /// A correlated subquery that stays within the unit of the row it is asked for.
  bool within_outer_unit = false;
};

}  // namespace discreet::sql
