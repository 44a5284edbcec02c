// p-values and quantiles of a statistic's null law, the worst over scenarios.
//
// A scenario is a law of rows that the release does not rule out. `draw(scenario, random)` draws
// the statistic under it. Counting the observed value among the draws makes the p-value valid for
// any number of draws (Davison and Hinkley 1997, 4.2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "inference/outcome.h"
#include "inference/resample.h"

namespace discreet::inference {

template <class Draw>
double worst_p_value(double observed, std::size_t scenarios, const Draw& draw,
                     std::span<const double> seed, const Options& options) {
  double worst = 0;
  std::size_t at = 0;
  const auto at_least = [&](std::size_t scenario, unsigned draws) {
    Resample random(seed);  // common random numbers: scenarios differ by their law only
    unsigned hits = 0;
    for (unsigned i = 0; i < draws; ++i) hits += draw(scenario, random) >= observed;
    return (1.0 + hits) / (1.0 + draws);
  };
  for (std::size_t s = 0; s < scenarios; ++s) {
    const double p = at_least(s, options.draws);
    if (p > worst) {
      worst = p;
      at = s;
    }
  }
  // Few hits: ten times the draws, under the worst scenario, for a p-value worth printing.
  if (worst * (options.draws + 1) < 8) return at_least(at, 10 * options.draws + 9);
  return worst;
}

/// The statistic's quantile of the options' confidence.
template <class Draw>
double worst_quantile(std::size_t scenarios, const Draw& draw, std::span<const double> seed,
                      const Options& options) {
  double worst = 0;
  std::vector<double> drawn(options.draws);
  const auto at = static_cast<std::ptrdiff_t>(
      std::min<double>(std::ceil(options.confidence * (options.draws + 1)), options.draws) - 1);
  for (std::size_t s = 0; s < scenarios; ++s) {
    Resample random(seed);
    for (double& one : drawn) one = draw(s, random);
    std::nth_element(drawn.begin(), drawn.begin() + at, drawn.end());
    worst = std::max(worst, drawn[static_cast<std::size_t>(at)]);
  }
  return worst;
}

}  // namespace discreet::inference
