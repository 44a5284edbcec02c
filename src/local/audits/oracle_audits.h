// Every local protocol as a subject for audits, and broken ones that audits must catch.
#pragma once

#include <vector>

#include "audit/subject.h"

namespace discreet::local {

/// Each oracle at epsilon 1, on two values that its report tells apart best.
std::vector<AuditSubject> audited_oracles();

/// Mistakes that were made in libraries for local privacy.
std::vector<AuditSubject> planted_oracles();

}  // namespace discreet::local
