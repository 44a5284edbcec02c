// The Fourier transform of a sum of independent losses, tilted, built up part by part.
//
// Guarantee: masses() is the distribution of the sum (wrapped around the length of the transform)
//            of the parts' normalised tilted masses, upper side in the real and lower side in the
//            imaginary parts, within rounding() in the Euclidean norm.
// Proof:     |x^k - y^k| <= k |x - y| for |x|, |y| <= 1, so errors of the forward transforms add up
//            weighted by the counts; the inverse adds its own.
//            docs/proofs/privacy_loss_distribution.md
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "accounting/discretise.h"
#include "accounting/fft.h"

namespace discreet {

struct GridPart {
  const GridLaw* law;
  std::uint64_t count;
};

/// A value: copies are independent.
class TiltedProduct {
 public:
  TiltedProduct(double step, double tilt, std::size_t points);

  /// Adds the part's releases to the sum. The law has the product's step.
  void multiply(const GridPart& part);

  std::vector<std::complex<double>> masses() const;

  double step() const { return step_; }
  double tilt() const { return tilt_; }
  std::size_t points() const { return points_; }
  double offset() const { return offset_; }
  double loss_error() const { return loss_error_; }
  /// ln of the product of what the tilted masses of a side added up to, before being normalised.
  double log_mass(bool upper) const { return upper ? log_mass_up_ : log_mass_low_; }
  /// ln of the probability that no release's loss is infinite.
  double log_finite(bool upper) const { return upper ? finite_up_ : finite_low_; }
  double rounding() const;
  /// Relative error of all tilted masses together, from their exponentials.
  double tilt_error() const { return tilt_error_; }

 private:
  double step_, tilt_;
  std::size_t points_;
  std::shared_ptr<const Fft> fft_;
  std::vector<std::complex<double>> up_, low_;  // frequencies 0 to n/2; the rest mirror them
  double offset_ = 0, loss_error_ = 0;
  double log_mass_up_ = 0, log_mass_low_ = 0;
  double finite_up_ = 0, finite_low_ = 0;
  double error_ = 0;  // sum of the counts times the norms of the tilted masses
  double norm_ = 2;   // least of the norms
  double count_ = 0;
  double tilt_error_ = 0;
};

}  // namespace discreet
