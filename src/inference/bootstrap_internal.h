// p-values and quantiles of a statistic's null law.
//
// `draw(random)` draws the statistic under a law of rows of its own, from those that the release
// allows. Counting the observed value among the draws makes the p-value as good for few draws as
// for many (Davison and Hinkley 1997, 4.2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "inference/outcome.h"
#include "inference/resample.h"

namespace discreet::inference {

constexpr double kSmall = 0.004;  // p-values below are looked at more closely

/// Draws equal to the observed value count with the share `tie`; where that is uniform and comes
/// with the release, a statistic of whole numbers keeps its level too.
template <class Draw>
double p_value(double observed, Draw draw, std::span<const double> seed, const Options& options,
               double tie = 0.5) {
  const auto at_least = [&](unsigned draws) {
    Resample random(seed);
    const double enough = options.p_max * (1.0 + draws);
    unsigned hits = 0;
    for (unsigned i = 0; i < draws && hits < enough; ++i) {
      const double drawn = draw(random);
      if (std::fabs(drawn - observed) <= 1e-9 * observed)
        hits += random.unit() < tie;
      else
        hits += drawn > observed;
    }
    return (1.0 + hits) / (1.0 + draws);
  };
  const double p = at_least(options.draws);
  // Few hits: ten times the draws, for a p-value worth printing. Not near levels that people test
  // at: looking twice there would lower them.
  return p < kSmall ? at_least(10 * options.draws + 9) : p;
}

/// The statistic's quantile of the options' confidence.
template <class Draw>
double quantile(Draw draw, std::span<const double> seed, const Options& options) {
  std::vector<double> drawn(options.draws);
  Resample random(seed);
  for (double& one : drawn) one = draw(random);
  const auto at = static_cast<std::ptrdiff_t>(
      std::min<double>(std::ceil(options.confidence * (options.draws + 1)), options.draws) - 1);
  std::nth_element(drawn.begin(), drawn.begin() + at, drawn.end());
  return drawn[static_cast<std::size_t>(at)];
}

}  // namespace discreet::inference
