// Counting with noise, as the lectures do it: one survey by randomized response, a vector by the
// Laplace mechanism, many linear queries out of one budget.
//
// Noise comes from the exact mechanisms and the RandomSource handed in; the people are made up.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "lecture/shown.h"
#include "random/random_source.h"

namespace discreet::lecture {

struct ResponseOptions {
  double truth = 0.75;  ///< chance to tell the truth
  std::uint64_t people = 1000;
  double share = 0.3;  ///< of people whose answer is yes
  std::uint64_t runs = 400;
};
/// RR(p): its epsilon, its estimator, and the estimator's variance in theory and in `runs` surveys.
Result<Shown> response(const ResponseOptions& options, RandomSource& random);

struct LaplaceOptions {
  double epsilon = 1, sensitivity = 1;
  std::uint64_t queries = 100;  ///< k
  std::uint64_t runs = 2000;
};
/// The error theorem of the Laplace mechanism in R^k (Dwork and Roth 2014, Theorem 3.8): bound,
/// exact chance to pass it, and how often `runs` releases did.
Result<Shown> laplace_theorem(const LaplaceOptions& options, RandomSource& random);

struct LinearOptions {
  double epsilon = 1, delta = 1e-6;
  std::uint64_t queries = 100, people = 10'000;
  double error = 0.05;  ///< wanted: every answer within this, as a share of the people
  double beta = 0.05;   ///< with chance at least 1 - beta
  std::uint64_t runs = 20;
  std::uint64_t seed = 1;
};
/// Budget -> noise -> error bound -> sample size, for Laplace, Gaussian and randomized response;
/// and the worst error of real runs. Bounds hold for all queries at once.
Result<Shown> linear_queries(const LinearOptions& options, RandomSource& random);

/// What can be answered at all: in each cell of accuracy against number of queries an attack that
/// gets the data back, or a mechanism that is private and accurate enough.
Result<Shown> accuracy_table(std::uint64_t seed, RandomSource& random);

}  // namespace discreet::lecture
