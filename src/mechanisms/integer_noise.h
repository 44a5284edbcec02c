// Noise for comparisons, beyond 64 bits.
//
// A release may saturate, because clamping an output is post-processing. A comparison may not:
// noise cut off at 2^63 - 1 would make some choices impossible for one neighbour only. A saturated
// draw is therefore continued by memorylessness, which gives exactly the untruncated distribution.
#pragma once

#include "base/saturating.h"
#include "random/discrete_laplace_sampler.h"
#include "random/geometric.h"

namespace discreet {

/// P[G = g] = (1 - r) r^g, r = exp(-rate), without an upper end.
Int128 draw_unbounded(const GeometricSampler& sampler, RandomSource& random);
/// P[Z = z] proportional to exp(-rate |z|), without ends.
Int128 draw_unbounded(const DiscreteLaplaceSampler& sampler, RandomSource& random);

/// The least t >= 1 with P[Z >= t] <= beta for discrete Laplace Z: one-sided tail r^t / (1 + r).
/// Rounded up.
double upper_tail_start(double rate, double beta);
/// The least t >= 1 with P[|Z| >= t] <= beta: 2 r^t / (1 + r). Rounded up.
double two_sided_tail_start(double rate, double beta);

}  // namespace discreet
