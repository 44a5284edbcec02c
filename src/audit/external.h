// Audits a program of somebody else's: it is run on two neighbouring data sets and only its output
// is looked at.
//
// Guarantee: as audit_outputs. Outputs that are numbers are looked at twice, by value and by their
//            last bits (floating-point noise leaks there), each look with half of the false-alarm
//            rate; lines of several numbers by the score of a classifier (classifier.h); other
//            lines are compared as whole lines.
// Assumes:   every line is one independent run, and the program was given neighbouring data.
#pragma once

#include <string>
#include <vector>

#include "audit/subject.h"
#include "base/result.h"

namespace discreet {

/// `command` is run by the shell twice, with {side} replaced by 0 and 1 and {count} by the number
/// of lines wanted. Unavailable: it cannot be run, fails, or prints another number of lines.
Result<AuditReport> audit_program(const std::string& command, ApproxDp claim, std::uint64_t trials,
                                  double confidence = 1 - 1e-9);

/// The same for lines that are already here.
Result<AuditReport> audit_lines(const std::vector<std::string>& first,
                                const std::vector<std::string>& second, ApproxDp claim,
                                double confidence = 1 - 1e-9);

}  // namespace discreet
