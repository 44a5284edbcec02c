// Audits a whole statement: its release is run many times on the policy's data with and without one
// person, from planning to noise, and the two heaps of answers are told apart.
//
// It reads the rows and charges nothing, so what it prints is for the data owner, not for analysts.
#pragma once

#include <cstdint>
#include <string>

#include "audit/subject.h"
#include "base/result.h"

namespace discreet::cli {

struct StatementAudit {
  std::string policy, sql;
  ApproxDp claim;
  std::string unit;  ///< whom to take out; empty: who has most rows
  std::uint64_t trials = 2000;
};

/// Refused: the statement is not one private release, or its tables' unit is not a column of
/// theirs.
Result<AuditReport> audit_statement(const StatementAudit& asked, RandomSource& random);

}  // namespace discreet::cli
