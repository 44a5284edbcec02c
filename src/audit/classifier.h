// An audit of outputs that are vectors: a classifier learns to tell the two data sets apart.
//
// One third of the runs trains it (logistic regression on the coordinates and their squares), the
// rest is audited by its score. A score is post-processing of the output, so the bound holds
// whatever was learned; a poor classifier only weakens the audit.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "audit/epsilon_lower_bound.h"

namespace discreet {

/// One run on one data set: as many numbers every time.
using AuditedVectorRun = std::function<std::vector<double>(RandomSource&)>;

AuditResult audit_vectors(std::span<const std::vector<double>> first,
                          std::span<const std::vector<double>> second, const AuditOptions& options);

AuditResult audit_vectors(const AuditedVectorRun& first, const AuditedVectorRun& second,
                          const AuditOptions& options, RandomSource& random);

}  // namespace discreet
