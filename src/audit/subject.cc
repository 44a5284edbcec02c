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
  options.delta = subject.claim.delta.value();
  const AuditResult found = audit_epsilon(subject.first, subject.second, options, random);
  const double claimed = subject.claim.epsilon.value();
  return {claimed, options.delta, found.lower_bound, found.event, found.lower_bound > claimed};
}

std::vector<AuditSubject> planted_mechanisms() {
  std::vector<AuditSubject> all;
  for (auto&& family : {planted::noise(), planted::selection(), planted::sparse_vectors(),
                        planted::structured(), planted::primer()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace discreet
