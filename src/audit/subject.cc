#include "audit/subject.h"

#include <algorithm>
#include <iterator>

#include "audit/planted.h"

namespace discreet {

AuditReport audit(const AuditSubject& subject, RandomSource& random, double scale,
                  double confidence) {
  AuditOptions options;
  options.trials = std::max<std::uint64_t>(
      1000, static_cast<std::uint64_t>(static_cast<double>(subject.trials) * scale));
  options.confidence = confidence;
  double claimed = 0;
  if (const auto* rho = std::get_if<Rho>(&subject.claim)) {
    claimed = rho->value();
    options.concentrated = true;
  } else {
    claimed = std::get<ApproxDp>(subject.claim).epsilon.value();
    options.delta = std::get<ApproxDp>(subject.claim).delta.value();
  }
  const auto* one = std::get_if<AuditedRun>(&subject.first);
  const AuditResult found =
      one ? audit_epsilon(*one, std::get<AuditedRun>(subject.second), options, random)
          : audit_vectors(std::get<AuditedVectorRun>(subject.first),
                          std::get<AuditedVectorRun>(subject.second), options, random);
  return {claimed,
          options.delta,
          found.lower_bound,
          found.event,
          found.lower_bound > claimed,
          options.concentrated};
}

std::vector<AuditSubject> planted_mechanisms() {
  std::vector<AuditSubject> all;
  for (auto&& family : {planted::noise(), planted::selection(), planted::sparse_vectors(),
                        planted::structured(), planted::vectors(), planted::primer()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace discreet
