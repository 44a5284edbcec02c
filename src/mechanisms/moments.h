// Means, variances and deviations read off a joint release, each with its standard error.
//
// Post-processing only: nothing here sees data. Errors are by the delta method, from the known
// second moments of the noise; they describe the noise, not the sampling of rows. The noisy count
// is not let below 4 / epsilon, where a quotient would be noise by noise.
#pragma once

#include <optional>

#include "mechanisms/knorm.h"

namespace discreet {

struct Estimate {
  double value;
  double standard_error;
};

enum class Divisor { Population, Sample };  ///< n, or n - 1

/// Where a column is not present in every row (SQL's NULL, FILTER): how many rows have it, as a
/// combination of the joint release's count and the linear feature of another of its columns.
struct Presence {
  std::size_t indicator;
  double by_indicator, by_count;
};

class MomentEstimates {
 public:
  /// `noisy` is a release of `mechanism`. `presence`, if not empty, has an entry per column.
  MomentEstimates(const KNorm& mechanism, std::span<const Int128> noisy,
                  std::vector<std::optional<Presence>> presence = {});

  Estimate count() const;
  Estimate count(const Presence& presence) const;
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
  double rows_with(std::size_t column) const;  // not floored

  std::vector<MomentColumn> columns_;
  std::vector<std::optional<Presence>> presence_;
  std::vector<MomentLayout> layout_;
  std::vector<MomentNoise> noise_;
  std::vector<double> features_;  // in rows
  double count_error_;
  double count_floor_;
};

/// Second moments of the noise of a column that is present as told.
MomentNoise noise_with(const KNorm& mechanism, std::size_t column,
                       const std::optional<Presence>& presence);

/// Standard errors before any release, for a planned number of rows and an assumed mean (and
/// variance) in the column's own units.
double planned_mean_error(const KNorm& mechanism, std::size_t column, double rows, double mean,
                          const std::optional<Presence>& presence = {});
double planned_variance_error(const KNorm& mechanism, std::size_t column, double rows, double mean,
                              double variance, const std::optional<Presence>& presence = {});

}  // namespace discreet
