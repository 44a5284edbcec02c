// Was this person among a model's training rows? The attacker trains shadow models on rows of his
// own with and without the person, sees how sure each is of the person's label, and asks which of
// the two the attacked model looks like (Shokri et al. 2017; the likelihood ratio is LiRA's:
// Carlini et al. 2022).
//
// Each candidate is as odd as a row can be, because such rows must be remembered to be learned: a
// classifier's has the wrong label, other models' lie in a corner of the ranges. A model is
// attacked for one candidate only, so that attempts are independent.
#pragma once

#include <cstdint>
#include <string>

#include "attack/report.h"
#include "base/result.h"
#include "random/random_source.h"

namespace discreet::attack {

struct ShadowOptions {
  std::string model = "logistic";  ///< as in learn/trainer.h
  std::size_t people = 400;        ///< trained on, about; twice as many are in the pool
  std::size_t candidates = 20;
  std::size_t shadows = 100;
  std::size_t attempts = 400;        ///< models attacked
  double epsilon = 1, delta = 1e-6;  ///< of Discreet's model
  std::uint64_t seed = 1;            ///< of the fictional people
  bool only_ours = false;            ///< leave out the targets without privacy
};

/// Targets: for classifiers a forest that remembers its rows, else the model with nearly no noise;
/// the same model at epsilon 100; the same at `epsilon`. InvalidParameter: no such model, or no
/// attempts.
Result<Report> shadow_models(const ShadowOptions& options, RandomSource& random);

}  // namespace discreet::attack
