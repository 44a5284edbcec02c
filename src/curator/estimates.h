// Aggregates read off noisy sums, with the error that the noise causes. Post-processing only.
#pragma once

#include "curator/released.h"
#include "curator/sums.h"

namespace discreet {

/// Noisy sums of one group, in grid units, and the standard deviation of the noise in each.
struct NoisyGroup {
  std::vector<double> value;
  std::vector<double> sd;
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

/// 97.5 % of the standard normal law: error95 is this many standard errors.
inline constexpr double kNormal975 = 1.959963984540054;

}  // namespace discreet
