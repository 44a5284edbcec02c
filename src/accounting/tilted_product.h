// The Fourier transform of a sum of independent losses, tilted, built up part by part.
//
// A sum of many losses is smooth: all but a few frequencies of its transform vanish. Which ones is
// proved beforehand where that is cheap (lasting_frequencies()); the others are never computed.
//
// Guarantee: the transform of the distribution of the sum (wrapped around the length of the
//            transform) of the parts' normalised tilted masses, for the upper and the lower side,
//            whose inverse is within rounding() of the exact masses in the Euclidean norm;
//            frequencies that are not alive count as zero, which rounding() includes.
// Proof:     |x^k - y^k| <= k |x - y| for |x|, |y| <= 1, so errors of the forward transforms add up
//            weighted by the counts; the inverse adds its own.
//            docs/proofs/privacy_loss_distribution.md
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "accounting/discretise.h"
#include "accounting/fft.h"

namespace discreet {

struct GridPart {
  const GridLaw* law;
  std::uint64_t count;
};

/// One law's masses times e^{tilt * loss}, normalised, with what their sums were.
struct TiltedMasses {
  TiltedMasses(const GridLaw& law, double tilt);

  const GridLaw* law;
  std::vector<double> up, low;
  double log_up, log_low;  ///< ln of the sums before; -infinity where there is no mass
};

/// Frequencies (of `points`) at which the product over the parts may exceed e^-40 on either side.
/// All others are proved not to: the transform is computed at a few thousand frequencies and cannot
/// bend more between them than the variance of the tilted masses allows.
std::vector<std::uint32_t> lasting_frequencies(std::span<const GridPart> parts, double tilt,
                                               std::size_t points);

/// e^{sign * 2 pi i index / points}, from an angle reduced exactly.
std::complex<double> unit_root(std::int64_t index, std::size_t points, int sign);

/// A value: copies are independent.
class TiltedProduct {
 public:
  TiltedProduct(double step, double tilt, std::size_t points);
  /// Only these frequencies, in increasing order: the product is known to vanish at the others.
  TiltedProduct(double step, double tilt, std::size_t points, std::vector<std::uint32_t> lasting);

  /// Adds the part's releases to the sum. The law has the product's step.
  void multiply(const GridPart& part);

  /// Upper side in the real, lower side in the imaginary parts.
  std::vector<std::complex<double>> masses() const;

  double step() const { return step_; }
  double tilt() const { return tilt_; }
  std::size_t points() const { return points_; }
  double offset() const { return offset_; }
  double loss_error() const { return loss_error_; }
  /// Frequencies where either side is not zero, and the two sides there.
  std::span<const std::uint32_t> alive() const { return alive_; }
  std::span<const std::complex<double>> side(bool upper) const { return upper ? up_ : low_; }
  /// ln of the product of what the tilted masses of a side added up to, before being normalised.
  double log_mass(bool upper) const { return upper ? log_mass_up_ : log_mass_low_; }
  /// ln of the probability that no release's loss is infinite.
  double log_finite(bool upper) const { return upper ? finite_up_ : finite_low_; }
  double rounding() const;
  /// Relative error of all tilted masses together, from their exponentials.
  double tilt_error() const { return tilt_error_; }

 private:
  void multiply_by_transform(const TiltedMasses& masses, std::uint64_t count);
  void multiply_directly(const TiltedMasses& masses, std::uint64_t count);
  void fold(std::size_t k, std::complex<double> up, std::complex<double> low, std::uint64_t count,
            double negligible);
  void forget_the_dead();

  double step_, tilt_;
  std::size_t points_;
  bool direct_only_ = false;
  std::shared_ptr<const Fft> fft_;              // made when first needed
  std::vector<std::uint32_t> alive_;            // of frequencies 0 to n/2; the rest mirror them
  std::vector<std::complex<double>> up_, low_;  // at the alive ones
  double offset_ = 0, loss_error_ = 0;
  double log_mass_up_ = 0, log_mass_low_ = 0;
  double finite_up_ = 0, finite_low_ = 0;
  double error_ = 0;         // sum of the counts times the norms of the tilted masses
  double direct_error_ = 0;  // the same for sums taken directly, as a norm already
  double norm_ = 2;          // least of the norms
  double count_ = 0;
  double tilt_error_ = 0;
};

}  // namespace discreet
