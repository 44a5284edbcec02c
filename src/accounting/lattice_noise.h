// Integer noise as a list of probabilities, for laws and for the moments of the noise itself.
#pragma once

#include <cstdint>
#include <vector>

#include "accounting/bracket.h"
#include "base/result.h"

namespace discreet {

/// P[Z = first + i] for i = 0, 1, ..., with relative error below 2^-48; `cut_off` bounds what is
/// left out on both sides together.
struct LatticeNoise {
  std::int64_t first = 0;
  std::vector<double> mass;
  double cut_off = 0;

  double at(std::int64_t z) const {
    const std::int64_t i = z - first;
    return i < 0 || i >= static_cast<std::int64_t>(mass.size()) ? 0
                                                                : mass[static_cast<std::size_t>(i)];
  }
};

/// Proportional to exp(-|z| / scale). InvalidParameter: the list would be longer than ten million.
Result<LatticeNoise> discrete_laplace_noise(double scale, std::int64_t reach);
/// Proportional to exp(-z^2 / (2 sigma2)).
Result<LatticeNoise> discrete_gaussian_noise(double sigma2, std::int64_t reach);

/// Moments of the noise, from exact formulas or lattice sums.
Result<Bracket> discrete_laplace_variance(double scale);
Result<Bracket> discrete_gaussian_variance(double sigma2);
/// P[|Z| >= t].
Result<Bracket> discrete_laplace_tail(double scale, double t);
Result<Bracket> discrete_gaussian_tail(double sigma2, double t);

}  // namespace discreet
