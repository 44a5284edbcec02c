// Contribution bounding inside the engine, in its own SQL.
//
// The curator itself bounds from the units' own sums, which need no choice of groups to be the same
// everywhere. This form is slower on every engine (a SHA-256 for each unit and group); its choice
// is the same on all of them, and tests compare it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sql/engine_dialect.h"
#include "sql/question.h"

namespace discreet::sql {

/// Keeps at most `groups_max` groups of a unit, those with the smallest keyed hash, and clips each
/// of its partials to `clip`, one pair per feature.
struct SqlBounding {
  std::uint64_t groups_max = 1;
  std::vector<std::pair<std::int64_t, std::int64_t>> clip;
  std::string key;
};

/// One row per group with k1, ..., f1, ... and `units`.
std::string bounded_totals_sql(const Release& release, const SqlBounding& bounding,
                               const EngineDialect* dialect = nullptr);

}  // namespace discreet::sql
