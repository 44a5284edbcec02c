// Gaussian noise for whole numbers: P[Z = z] proportional to exp(-z^2 / (2 sigma2)).
//
// Guarantee: a query of L2 sensitivity s (one whole number, or a vector of them with independent
//            noise), released once, is (s^2 / (2 sigma2))-zCDP; a mechanism made for (epsilon,
//            delta) is (epsilon, delta)-DP as well.
// Calibration for (epsilon, delta), the least sigma2 of those that are proved:
//   - the exact profile of the discrete Gaussian, for one number of moderate noise;
//   - the analytic Gaussian (Balle and Wang 2018) with 3 added to sigma2, for vectors: the discrete
//     Gaussian is then a continuous one, post-processed, up to a factor of 1 +- 1e-25;
//   - zCDP, optimally converted.
// Assumes:   RandomSource yields independent uniform bits.
// Proof:     docs/proofs/discrete_gaussian.md
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "privacy/loss_event.h"
#include "privacy/sensitivity.h"
#include "random/discrete_gaussian_sampler.h"

namespace discreet {

class DiscreteGaussian {
 public:
  /// Which proof the noise rests on.
  enum class Calibration { Zcdp, ExactProfile, AnalyticGaussian };

  /// The least noise (to 24 binary digits) that is rho-zCDP for queries of this sensitivity.
  /// InvalidParameter: rho is zero, or sigma would exceed 2^50.
  static Result<DiscreteGaussian> make(Rho rho, L2Sensitivity sensitivity,
                                       std::uint64_t dimension = 1);
  /// The least noise that is (epsilon, delta)-DP. InvalidParameter: delta not strictly between 0
  /// and 1.
  static Result<DiscreteGaussian> make(ApproxDp target, L2Sensitivity sensitivity,
                                       std::uint64_t dimension = 1);
  /// The most noise whose error stays within `error` with this confidence.
  static Result<DiscreteGaussian> for_error(double error, double confidence,
                                            L2Sensitivity sensitivity);

  /// The textbook's sigma for the same target, for comparison only: it is never smaller, and proved
  /// only for epsilon below one.
  static Result<double> classic_sigma(ApproxDp target, L2Sensitivity sensitivity);

  /// Adds fresh noise; saturates at the int64 limits (post-processing).
  std::int64_t release(std::int64_t exact, RandomSource& random) const;
  /// Independent noise on at most `dimension` coordinates, in place.
  void release(std::span<std::int64_t> exact, RandomSource& random) const;

  /// What one release costs. For several coordinates the accountant prices it by its zCDP.
  LossEvent loss() const;
  /// The (epsilon, delta) it was made for, if it was.
  std::optional<ApproxDp> target() const { return target_; }
  Rho rho() const;
  Calibration calibration() const { return calibration_; }

  /// With this confidence a release is within this distance of the exact value.
  double error_bound(double confidence) const;
  /// The same for the worst of k coordinates at once.
  double error_bound_of_worst(double confidence, std::uint64_t k) const;
  /// Never below the true variance (Canonne, Kamath and Steinke 2020).
  double variance() const { return sigma2_; }
  double sigma2() const { return sigma2_; }
  double sensitivity() const { return sensitivity_; }

 private:
  DiscreteGaussian(double sigma2, double sensitivity, std::uint64_t dimension,
                   Calibration calibration, std::optional<ApproxDp> target,
                   DiscreteGaussianSampler sampler)
      : sigma2_(sigma2),
        sensitivity_(sensitivity),
        dimension_(dimension),
        calibration_(calibration),
        target_(target),
        sampler_(std::move(sampler)) {}
  static Result<DiscreteGaussian> with_sigma2(double sigma2, double sensitivity,
                                              std::uint64_t dimension, Calibration calibration,
                                              std::optional<ApproxDp> target);

  double sigma2_;  // exact: 24 binary digits
  double sensitivity_;
  std::uint64_t dimension_;
  Calibration calibration_;
  std::optional<ApproxDp> target_;
  DiscreteGaussianSampler sampler_;
};

}  // namespace discreet
