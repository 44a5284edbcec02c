// SQL text to PlannedQuestion: parse, bind, derive what is private, rewrite.
//
// Guarantee: a question that is planned is private in the sense of question.h; what cannot be shown
//            to be is refused, with the offending piece and a suggestion. No row is read.
#pragma once

#include <string>

#include "base/result.h"
#include "catalog/policy.h"
#include "sql/parse.h"
#include "sql/question.h"
#include "sql/schema.h"

namespace discreet::sql {

/// Thread-safe if `schema` is. Policy and schema must outlive the planner.
class Planner {
 public:
  Planner(const catalog::Policy& policy, const SchemaProvider& schema)
      : policy_(policy), schema_(schema) {}

  /// One SELECT (or EXPLAIN of one). For SET and SHOW use parse_statement.
  Result<PlannedQuestion> plan(const std::string& text,
                               const std::vector<Parameter>& parameters = {}) const;
  Result<PlannedQuestion> plan(const Source& source, const Statement& statement) const;

 private:
  const catalog::Policy& policy_;
  const SchemaProvider& schema_;
};

}  // namespace discreet::sql
