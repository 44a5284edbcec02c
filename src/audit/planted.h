// The planted mechanisms by family; planted_mechanisms() in subject.h has them all.
#pragma once

#include <vector>

#include "audit/subject.h"

namespace discreet::planted {

/// Exponential mechanism, permute-and-flip, noisy max and top-k.
std::vector<AuditSubject> selection();
/// The non-private variants 3 to 6 of Lyu, Su and Li 2017, and a threshold without noise.
std::vector<AuditSubject> sparse_vectors();
/// Quantiles, trees, joint moments, samples and other structured mechanisms.
std::vector<AuditSubject> structured();
/// Vectors and claims of zero-concentrated privacy, which a learned classifier sees through.
std::vector<AuditSubject> vectors();
/// A primer's t-statistic.
std::vector<AuditSubject> primer();
/// Plain noise gone wrong: too little, reused, in floating point, for rows instead of people.
std::vector<AuditSubject> noise();

}  // namespace discreet::planted
