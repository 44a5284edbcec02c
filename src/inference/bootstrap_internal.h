// p-values and quantiles of a statistic's null law.
//
// `draw(random)` draws the statistic under a law of rows of its own, from those that the release
// allows. Counting the observed value among the draws makes the p-value as good for few draws as
// for many (Davison and Hinkley 1997, 4.2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "inference/outcome.h"
#include "inference/resample.h"

namespace discreet::inference {

/// Groups together have a p-value where the noisy number of their rows is at least so many standard
/// deviations of its noise. With fewer their common mean or share could be anything, and nothing
/// would be found anyway: of groups half a standard deviation apart 4 in 100 at six deviations.
constexpr double kRowsOverNoise = 8;
/// How much of what the second look finds is taken off. It is right as far as rows follow the law
/// that is drawn: all of it left four groups of 30 exponential rows at 5.8 %, none of it four
/// groups of 60 normal ones at 5.7 % (docs/proofs/inference.md).
constexpr double kSecondLook = 0.75;
constexpr int kTries = 16;        // of a draw that must fulfil a condition
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

/// The same where the law of the statistic still depends on what is not known. `once(random)` draws
/// the statistic of a release R* drawn from R, `twice(random)` that of one drawn from such an R* as
/// R* is from R. As far as the second kind lies off the first, the first lies off the truth: p is
/// the share of first draws beyond the value that a share p of the second draws exceeds (the fast
/// double bootstrap of Davidson and MacKinnon 2007), or most of the way from p to that share. Ties
/// are parted as above.
template <class Once, class Twice>
double double_p_value(double observed, Once once, Twice twice, std::span<const double> seed,
                      const Options& options, double tie = 0.5) {
  constexpr double kApart = 1e-9;
  observed *= 1 + kApart * (1 - tie);
  const auto at_least = [&](unsigned draws) {
    Resample random(seed);
    const double enough = 2 * options.p_max * (1.0 + draws);  // the second look does not halve it
    std::vector<double> first, second(draws);
    unsigned hits = 0;
    for (unsigned i = 0; i < draws && hits < enough; ++i) {
      first.push_back(once(random) * (1 + kApart * random.unit()));
      hits += first.back() > observed;
    }
    if (hits >= enough || hits + 1 >= draws) return (1.0 + hits) / (1.0 + draws);
    for (double& one : second) one = twice(random) * (1 + kApart * random.unit());
    std::partial_sort(second.begin(), second.begin() + hits + 2, second.end(), std::greater<>());
    // A third of the way to the next: with 199 draws the level of iid statistics is 5.0 % then, and
    // 5.2 % without; with thousands it does not matter.
    const double critical = second[hits] + (second[hits + 1] - second[hits]) / 3;
    const auto beyond = std::count_if(first.begin(), first.end(),
                                      [critical](double drawn) { return drawn > critical; });
    // To a whole number at random: rounding up or down would move the level of few draws.
    const double both = hits + kSecondLook * (static_cast<double>(beyond) - hits);
    return (1.0 + std::floor(both + random.unit())) / (1.0 + draws);
  };
  const double p = at_least(options.draws);
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
