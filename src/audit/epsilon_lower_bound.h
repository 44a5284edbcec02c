// Tries to refute a privacy claim: a lower bound on epsilon, from samples of two neighbouring runs.
//
// Half of the samples choose the event that tells the two apart best, the other half measure it, so
// the choice cannot flatter the measurement. Clopper-Pearson limits on both probabilities make the
// bound hold with the stated confidence: a mechanism that keeps its promise is accused with chance
// at most 1 - confidence. An audit can refute a claim; it never proves one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "random/random_source.h"

namespace discreet {

struct AuditOptions {
  std::uint64_t trials = 200'000;  ///< runs on each of the two data sets
  double confidence = 1 - 1e-9;    ///< one minus the false-alarm rate
  double delta = 0;                ///< of the claim: this much probability is forgiven
  bool concentrated = false;       ///< bound rho of zero-concentrated privacy instead of epsilon
};

struct AuditResult {
  double lower_bound = 0;  ///< epsilon (or rho) is at least this, with the confidence
  std::string event;       ///< what gave it away, for people
};

/// One run on one data set: an output as an integer key. Outputs that are not numbers (vectors,
/// choices) use any injective or coarser key; coarser only weakens the audit (post-processing).
using AuditedRun = std::function<std::int64_t(RandomSource&)>;

/// Events tried: single outputs, half-lines, and sets of the outputs that were likelier on one side
/// by some factor (a histogram's likelihood test), in both directions.
AuditResult audit_epsilon(const AuditedRun& first, const AuditedRun& second,
                          const AuditOptions& options, RandomSource& random);

/// The same from outputs that were drawn already, as many on each side: the first half of each
/// chooses the event, the second half measures it. The outputs must be independent runs.
AuditResult audit_outputs(std::span<const std::int64_t> first, std::span<const std::int64_t> second,
                          const AuditOptions& options);

/// The least rho with which an event can have chance p on one side and q < p on the other: the
/// maximum over orders a of D_a(p || q) / a, by data processing (Bun and Steinke 2016). Some order
/// is found; every order gives a bound.
double concentrated_lower_bound(double p, double q);

/// Clopper-Pearson limits for `hits` of `trials`, each wrong with chance `alpha`.
double probability_at_least(std::uint64_t hits, std::uint64_t trials, double alpha);
double probability_at_most(std::uint64_t hits, std::uint64_t trials, double alpha);

}  // namespace discreet
