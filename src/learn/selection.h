// Choosing settings by trying them, with the price of trying counted: train a random number of
// times with settings drawn at random, and keep the run with the best (private) score.
//
// Guarantee: if every run, score included, is rho-zCDP for run_rho(), the best of K runs is
//            (epsilon, delta)-DP for the target, K geometric (Papernot and Steinke 2022, Theorem 2
//            with eta = 1, through Renyi divergences).
// Assumes:   settings are drawn without looking at rows; nothing of the other runs is shown.
// Proof:     docs/proofs/private_selection.md
#pragma once

#include <cstdint>

#include "privacy/parameters.h"
#include "random/random_source.h"

namespace discreet::learn {

class RandomStopping {
 public:
  /// `mean_runs` is the expected number of runs, from 1 (no choice, but its price) to 10,000.
  /// InvalidParameter: outside that, or a delta not strictly between 0 and 1.
  static Result<RandomStopping> make(ApproxDp target, double mean_runs);

  /// What one run may spend.
  Rho run_rho() const { return rho_; }
  /// The same as a Gaussian's mu = sqrt(2 rho), rounded down.
  double run_mu() const;
  /// At least one; P[K = k] = g (1 - g)^(k - 1), g = 1 / mean_runs.
  std::uint64_t draw_runs(RandomSource& random) const;

  /// What choosing among runs of this rho costs at this delta, rounded up.
  static double epsilon(double rho, double mean_runs, double delta);

 private:
  RandomStopping(Rho rho, double mean_runs) : rho_(rho), mean_runs_(mean_runs) {}

  Rho rho_;
  double mean_runs_;
};

}  // namespace discreet::learn
