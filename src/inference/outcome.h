// What a test or an estimate says.
//
// Guarantee: p-values and intervals take in the sampling of rows, the noise, and what is not known
//            of either (nuisance parameters); see docs/proofs/inference.md for what is proved and
//            docs/inference.md for what was measured. Functions of a release: they cost nothing.
#pragma once

#include <string>
#include <vector>

namespace discreet::inference {

struct Interval {
  double low, high;
};

struct Options {
  double confidence = 0.95;  ///< of intervals
  unsigned draws = 1999;     ///< of the bootstrap; more follow where the p-value is small
  bool intervals = true;     ///< false: p-values only, for simulations
  double p_max = 1;          ///< draws end where the p-value must be larger: for simulations
};

struct TestOutcome {
  double statistic = 0;
  double degrees = 0;  ///< as in the textbook without noise; for comparison only
  double p_value = 1;
  double estimate = 0;  ///< what the test is about: a mean, a difference, a correlation
  double standard_error = 0;
  Interval interval{};
  double rows = 0;  ///< noisy
};

/// One estimate of several, with an interval of its own and one that holds jointly with all others.
struct Estimated {
  double value = 0, standard_error = 0;
  Interval interval{};
  Interval simultaneous{};
};

}  // namespace discreet::inference
