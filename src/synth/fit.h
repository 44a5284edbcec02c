// What every method takes besides the table, and what it gives back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/loss_event.h"
#include "random/random_source.h"
#include "synth/domain.h"
#include "synth/mixture.h"
#include "synth/noisy_marginals.h"
#include "synth/workers.h"
#include "synth/workload.h"

namespace discreet::synth {

/// What is being done and how far it is, 0 to 1 over the whole job; returns whether to go on.
using JobProgress = std::function<bool(std::string_view stage, double done)>;

struct FitContext {
  Workers& workers;
  RandomSource& random;       ///< noise, and the seed of everything else
  JobProgress progress = {};  ///< may be absent
  std::size_t rows_out = 0;   ///< 0: the private estimate of the number of rows
  std::size_t twins = 1;      ///< independent tables from one fitted model
  /// Every twin from a model of its own, fitted to the measurements with fresh noise of their size
  /// on top: the twins then spread as the measurements' noise does, and Rubin's rules for multiple
  /// imputation hold (docs/synthetic.md). Only `latent` can.
  bool refit = false;
};

/// A synthetic table, public like everything in here.
struct Twin {
  std::vector<CodedTable> tables;  ///< `twins` of them
  double rows_estimate = 0;
  std::vector<NoisyMarginal> measured;  ///< one-ways that were released, on the original domain
  std::vector<NoisyMarginal> wide;      ///< wider ones, on groups of values
  std::vector<std::vector<std::vector<std::uint16_t>>> groups;  ///< by attribute, the groups
  Rho rho = Rho::zero();           ///< the zCDP of everything that was released
  std::vector<LossEvent> events;   ///< one for each draw of noise and each choice
  std::vector<std::string> notes;  ///< for the report: settings, rounds, choices
};

/// Tells `progress` about a stage that spans [from, to] of the job.
Progress stage(const FitContext& context, std::string_view name, double from, double to);

}  // namespace discreet::synth
