// What an audit is run on: a mechanism, what it claims, and two neighbouring data sets chosen to
// give it away if the claim were false.
//
// Guarantee: a subject that keeps its claim is called refuted with chance at most 1 - confidence.
//            A subject that passes is not thereby private: an audit never proves a claim.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "audit/classifier.h"
#include "audit/epsilon_lower_bound.h"
#include "privacy/parameters.h"

namespace discreet {

/// (epsilon, delta), or rho of zero-concentrated privacy.
using AuditClaim = std::variant<ApproxDp, Rho>;
using AnyRun = std::variant<AuditedRun, AuditedVectorRun>;

struct AuditSubject {
  std::string name;   ///< as one types it: letters and hyphens
  std::string about;  ///< what it is, or what is wrong with it, in one line
  AuditClaim claim;
  AnyRun first, second;            ///< runs on neighbouring data sets, of one kind
  std::uint64_t trials = 200'000;  ///< on each of the two, for the stated power
};

struct AuditReport {
  double claimed = 0;
  double delta = 0;
  double lower_bound = 0;
  std::string event;
  bool refuted = false;
  bool concentrated = false;  ///< claimed and lower_bound are rho, not epsilon
};

/// `scale` multiplies the subject's trials: more trials see smaller breaches.
AuditReport audit(const AuditSubject& subject, RandomSource& random, double scale = 1,
                  double confidence = 1 - 1e-9);

/// Every mechanism of mechanisms/, on neighbours that use up most of its claim.
std::vector<AuditSubject> audited_mechanisms();

/// Broken mechanisms, each a mistake that was made in print or in a library. An audit that cannot
/// refute all of them is not worth running. Nothing outside audits and tests may call these.
std::vector<AuditSubject> planted_mechanisms();

}  // namespace discreet
