// How alike the bins of a column are expected to be before rows are seen: each varies by itself,
// and along a line partly together with its neighbours, the less the farther they are. Public: from
// declarations alone.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "learn/coding.h"

namespace discreet::learn {

/// Whether bins lie along a line: numbers, codes (which often are ranks or classes of numbers), and
/// texts that were declared to have an order.
inline bool along_line(const ColumnCoder& feature, std::size_t bins) {
  constexpr std::size_t kMost = 1024;  // beyond, a matrix would cost more than it is worth
  return bins > 2 && bins <= kMost && (feature.ordered() || feature.numeric());
}

/// Correlations of the bins' weights: `alike` between next neighbours, falling to 1/e of it over a
/// quarter of the line. What is missing (the last bin, where the feature has one) is like nothing
/// else.
inline Eigen::MatrixXd kinship(const ColumnCoder& feature, std::size_t bins, double alike) {
  constexpr double kReach = 0.25;
  const auto n = static_cast<Eigen::Index>(bins), line = n - (feature.has_missing() ? 1 : 0);
  Eigen::MatrixXd kin = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index i = 0; i < line; ++i)
    for (Eigen::Index j = 0; j < i; ++j)
      kin(i, j) = kin(j, i) =
          alike * std::exp(-static_cast<double>(i - j) / (kReach * static_cast<double>(line)));
  return kin;
}

}  // namespace discreet::learn
