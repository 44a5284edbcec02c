// Random numbers for work on what has already been released: draws of the bootstrap.
//
// Never for noise: privacy does not rest on them. The seed is made of the released numbers, so that
// an outcome is a function of the release alone: the same release gives the same p-value.
#pragma once

#include <cstdint>
#include <span>

namespace discreet::inference {

class Resample {
 public:
  /// Seeded by released numbers.
  explicit Resample(std::span<const double> released);

  double unit();    ///< strictly between 0 and 1
  double normal();  ///< standard
  double chi_square(double degrees);
  /// Gamma of whole shape and scale 1.
  double gamma(unsigned shape);
  /// Difference of two geometric variables of ratio exp(-rate): discrete Laplace noise.
  double discrete_laplace(double rate);
  double binomial(double trials, double chance);

 private:
  std::uint64_t bits();
  std::uint64_t state_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace discreet::inference
