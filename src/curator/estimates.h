// Aggregates read off noisy sums, with the error that the noise causes. Post-processing only.
#pragma once

#include "base/rational.h"
#include "curator/released.h"
#include "curator/sums.h"

namespace discreet {

/// Noisy sums of one group, in grid units, and the standard deviation of the noise in each.
struct NoisyGroup {
  std::vector<double> value;
  std::vector<double> sd;
  bool gaussian = false;  ///< the noise of all of them
};

struct Estimated {
  double value;
  double error95;
};

/// `count_floor`: quotients are not taken by fewer rows than this, where they would be noise by
/// noise.
Estimated estimate(const sql::AggregateRelease& aggregate, const SumUse& use,
                   const NoisyGroup& noisy, double count_floor);

/// Counts of a histogram (or its cumulative shares), one per bin.
std::vector<double> estimate_bins(const sql::HistogramRelease& kind, const SumUse& use,
                                  const NoisyGroup& noisy);

/// Of one bin; of a cumulative histogram, of the share that is known worst.
double bins_error95(const sql::HistogramRelease& kind, const SumUse& use, const NoisyGroup& noisy);

/// Half the width of a 95 % interval, in standard errors. Laplace noise: ln 20 / sqrt 2; sums of
/// several draws and K-norm noise have lighter tails, and are covered a little more often.
inline constexpr double kNormal95 = 1.959963984540054;
inline constexpr double kLaplace95 = 2.118297571636081;

/// The same for noise on the whole numbers, which an interval covers or not: the least k with
/// P(|noise| <= k) >= 95 %. `sd`: of discrete Laplace (or Gaussian) noise.
double whole_error95(double sd, bool gaussian = false);

/// Of discrete Laplace noise.
double laplace_sd(const Rational& rate);

}  // namespace discreet
