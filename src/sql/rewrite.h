// The engine statements of a release: per-row integers on a grid, added up per unit and group.
//
// Guarantee: every q is an integer within [Value::lower, Value::upper] or NULL, whatever the row
//            holds; sums are exact 128-bit integers and cannot overflow below 2^40 rows a group.
// Why it is private: docs/sql.md.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql/bounds.h"
#include "sql/plan.h"
#include "sql/question.h"

namespace discreet::sql {

class EngineDialect;

struct GridChoice {
  Value value;
};

/// Where a value is put: its bounds from what is known and asked, and a grid on which they are
/// integers of at most 62 bits (31 where products are summed and bounds are known; else 45).
GridChoice choose_grid(Type type, const Facts& facts, const std::optional<AskedBounds>& asked,
                       bool for_products);

/// q as SQL over the column `input`, which holds the raw value.
std::string grid_expression(const Value& value, const std::string& input,
                            const EngineDialect* dialect = nullptr);

/// The join that Binder::attach_unit put on top of a plan: `key` of `rows` is `target` of `owner`.
struct UnitLinkPlan {
  PlanPtr rows, owner;
  ScalarPtr key, target;
};

struct ReleaseInput {
  const Plan& plan;
  ScalarPtr unit;
  const std::vector<std::pair<ColumnId, ScalarPtr>>& keys;
  const std::vector<ScalarPtr>& raw;
  const std::vector<ScalarPtr>& conditions;
  const std::vector<std::string>& feature_sql;
  const FactsTable& facts;
  const EngineDialect* dialect = nullptr;
  std::optional<UnitLinkPlan> link{};
};

/// Fills in rows_sql, partials_sql, totals_sql, streamed, over_files and the streams' sql.
void write_release_sql(const ReleaseInput& input, Release& release);

}  // namespace discreet::sql
