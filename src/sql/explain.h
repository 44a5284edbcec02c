// A plan in words: a tree for terminals and JSON for programs. Reads no data; costs and errors are
// added by the curator, which knows the budget and the mechanisms.
#pragma once

#include <string>

#include "sql/plan.h"
#include "sql/question.h"

namespace discreet::sql {

/// One node a line, children indented by two spaces.
std::string describe_plan(const Plan& plan);

/// The whole question as a tree drawn with lines.
std::string explain_text(const PlannedQuestion& question);

/// {"kind", "tables", "releases": [{"people", "keys", "values", "aggregates", ...}], "columns",
/// "notices"}.
std::string explain_json(const PlannedQuestion& question);

/// "count", "sum", ...: the aggregate's kind, and in brief what it is computed from.
std::string kind_name(const AggregateKind& kind);
std::string domain_text(const Key& key);
const char* name(BoundsOrigin origin);

}  // namespace discreet::sql
