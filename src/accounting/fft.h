// The fast Fourier transform of power-of-two length, with a proved bound on its rounding error.
//
// Guarantee: in the Euclidean norm the computed transform is within error_bound() * ||exact|| of
// the
//            exact one, forward and inverse.
// Assumes:   IEEE doubles, round to nearest, no fused or reassociated arithmetic.
// Proof:     Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter on the FFT,
// with
//            twiddle factors correct to three units in the last place (a rounded angle, then the
//            C library's sine); radix-4 butterflies round less often than the radix-2 ones of the
//            theorem.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace discreet {

/// A plan for one length: its tables. Safe for concurrent use.
class Fft {
 public:
  /// `length` is a power of two, at least 2.
  explicit Fft(std::size_t length);

  std::size_t length() const { return length_; }
  /// e^{-2 pi i j / n} for j < n.
  std::span<const std::complex<double>> roots() const { return twiddles_; }
  /// X_k = sum_j x_j e^{-2 pi i jk / n}, in place.
  void forward(std::span<std::complex<double>> x) const;
  /// The inverse of forward, scaled by 1 / n, in place.
  void inverse(std::span<std::complex<double>> x) const;
  /// Relative error of one transform in the Euclidean norm.
  static double error_bound(std::size_t length);

 private:
  void transform(std::complex<double>* x) const;

  std::size_t length_;
  std::vector<std::complex<double>> twiddles_;  // e^{-2 pi i j / n} for j < n
};

}  // namespace discreet
