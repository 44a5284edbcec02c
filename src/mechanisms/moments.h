// Means, variances and deviations read off a joint release, each with its standard error.
//
// Post-processing only: nothing here sees data. Errors are by the delta method, from the known
// second moments of the noise; they describe the noise, not the sampling of rows. The noisy count
// is not let below 4 / epsilon, where a quotient would be noise by noise.
#pragma once

#include "mechanisms/knorm.h"

namespace discreet {

struct Estimate {
  double value;
  double standard_error;
};

enum class Divisor { Population, Sample };  ///< n, or n - 1

class MomentEstimates {
 public:
  /// `noisy` is a release of `mechanism`.
  MomentEstimates(const KNorm& mechanism, std::span<const Int128> noisy);

  Estimate count() const;
  Estimate sum(std::size_t column) const;
  Estimate mean(std::size_t column) const;
  /// For columns released with their variance.
  Estimate variance(std::size_t column, Divisor divisor) const;
  Estimate deviation(std::size_t column, Divisor divisor) const;

 private:
  struct Moments {
    double n, linear, square;  // rows and mean features
    double middle, half;       // x = middle + half z
    MomentNoise noise;
  };
  Moments moments(std::size_t column) const;

  std::vector<MomentColumn> columns_;
  std::vector<MomentLayout> layout_;
  std::vector<MomentNoise> noise_;
  std::vector<double> features_;  // in rows
  double count_error_;
  double count_floor_;
};

/// Standard errors before any release, for a planned number of rows and an assumed mean (and
/// variance) in the column's own units.
double planned_mean_error(const KNorm& mechanism, std::size_t column, double rows, double mean);
double planned_variance_error(const KNorm& mechanism, std::size_t column, double rows, double mean,
                              double variance);

}  // namespace discreet
