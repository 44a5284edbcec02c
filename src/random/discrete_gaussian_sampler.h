// Discrete Gaussian variables: P[Z = z] proportional to exp(-z^2 / (2 sigma2)) on the integers.
//
// Canonne, Kamath and Steinke 2020, Algorithm 3: draw a discrete Laplace variable Y of scale
// t = floor(sigma) + 1, keep it with chance exp(-(|Y| - sigma2/t)^2 / (2 sigma2)). Each attempt
// takes the same time, and the number of attempts is independent of the value kept, so the time
// tells nothing about it. Guarantee: the distribution is exactly the stated one, given uniform
// bits. Proof:     docs/proofs/exact_samplers.md
#pragma once

#include <cstdint>
#include <span>

#include "random/discrete_laplace_sampler.h"
#include "random/exp_powers.h"

namespace discreet {

class DiscreteGaussianSampler {
 public:
  /// InvalidParameter: sigma2 not positive, or above 2^100.
  static Result<DiscreteGaussianSampler> make(Rational sigma2);

  std::int64_t draw(RandomSource& random) const;
  void draw_many(std::span<std::int64_t> out, RandomSource& random) const;

  const Rational& sigma2() const { return sigma2_; }

 private:
  DiscreteGaussianSampler(Rational sigma2, std::int64_t t, DiscreteLaplaceSampler proposal);

  /// With sigma2 = a / b the exponent is (|y| b t - a)^2 / (2 a b t^2).
  Rational exponent(std::int64_t magnitude) const;
  /// The first 64 digits of the chance to keep |y|, rounded down, and how far off that can be.
  struct Chance {
    std::uint64_t low;
    std::uint64_t slack;
  };
  Chance chance(std::int64_t magnitude) const;
  bool keep(std::int64_t magnitude, Chance chance, RandomSource& random) const;

  Rational sigma2_;
  std::int64_t t_;
  DiscreteLaplaceSampler proposal_;
  ExpPowers powers_;              // of the unit 1 / (2 a b t^2)
  std::int64_t direct_max_ = -1;  // up to here (|y| b t - a)^2 fits 126 bits
  Int128 bt_ = 0, a_ = 0;         // meaningful when direct_max_ >= 0
};

}  // namespace discreet
