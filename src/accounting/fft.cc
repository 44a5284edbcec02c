#include "accounting/fft.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace discreet {
namespace {

using Complex = std::complex<double>;

// std::complex's product checks for NaN, which costs a third of the time here.
inline Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
inline Complex times_minus_i(Complex a) {
  return {a.imag(), -a.real()};
}

// One pass of Stockham's self-sorting algorithm: `groups` interleaved transforms of length 4 q.
void radix4(const Complex* in, Complex* out, const Complex* twiddles, std::size_t quarter,
            std::size_t stride) {
  for (std::size_t p = 0; p < quarter; ++p) {
    const Complex w1 = twiddles[p * stride];
    const Complex w2 = twiddles[2 * p * stride];
    const Complex w3 = twiddles[3 * p * stride];
    const Complex* a = in + stride * p;
    Complex* b = out + stride * 4 * p;
    for (std::size_t s = 0; s < stride; ++s) {
      const Complex x0 = a[s], x1 = a[s + stride * quarter];
      const Complex x2 = a[s + 2 * stride * quarter], x3 = a[s + 3 * stride * quarter];
      const Complex even = x0 + x2, odd = x0 - x2;
      const Complex even2 = x1 + x3, odd2 = times_minus_i(x1 - x3);
      b[s] = even + even2;
      b[s + stride] = times(odd + odd2, w1);
      b[s + 2 * stride] = times(even - even2, w2);
      b[s + 3 * stride] = times(odd - odd2, w3);
    }
  }
}

// The last pass where the length is an odd power of two; its twiddle factor is one.
void radix2(const Complex* in, Complex* out, std::size_t stride) {
  for (std::size_t s = 0; s < stride; ++s) {
    out[s] = in[s] + in[s + stride];
    out[s + stride] = in[s] - in[s + stride];
  }
}

}  // namespace

Fft::Fft(std::size_t length) : length_(length), twiddles_(length) {
  DISCREET_CHECK(length >= 2 && std::has_single_bit(length), "an FFT length is a power of two");
  // One octant is computed; the rest follows by symmetry.
  const double turn = 2 * std::numbers::pi / static_cast<double>(length);  // divided exactly
  if (length < 8) {
    for (std::size_t j = 0; j < length; ++j) {
      const double angle = turn * static_cast<double>(j);
      twiddles_[j] = {std::cos(angle), -std::sin(angle)};
    }
    return;
  }
  const std::size_t quarter = length / 4;
  for (std::size_t j = 0; j <= length / 8; ++j) {
    const double angle = turn * static_cast<double>(j);
    const double c = std::cos(angle), s = std::sin(angle);
    twiddles_[j] = {c, -s};
    twiddles_[quarter - j] = {s, -c};
  }
  for (std::size_t j = quarter; j < length; ++j)
    twiddles_[j] = times_minus_i(twiddles_[j - quarter]);
}

void Fft::transform(Complex* x) const {
  std::vector<Complex> scratch(length_);
  Complex* from = x;
  Complex* to = scratch.data();
  std::size_t remaining = length_, stride = 1;
  while (remaining >= 4) {
    radix4(from, to, twiddles_.data(), remaining / 4, stride);
    std::swap(from, to);
    remaining /= 4;
    stride *= 4;
  }
  if (remaining == 2) {
    radix2(from, to, stride);
    std::swap(from, to);
  }
  if (from != x) std::copy(from, from + length_, x);
}

void Fft::forward(std::span<Complex> x) const {
  DISCREET_CHECK(x.size() == length_, "the transform has another length");
  transform(x.data());
}

void Fft::inverse(std::span<Complex> x) const {
  DISCREET_CHECK(x.size() == length_, "the transform has another length");
  const double scale = 1.0 / static_cast<double>(length_);        // a power of two: exact
  for (Complex& v : x) v = {v.imag() * scale, v.real() * scale};  // swapping parts conjugates
  transform(x.data());
  for (Complex& v : x) v = {v.imag(), v.real()};
}

double Fft::error_bound(std::size_t length) {
  return 10 * 0x1p-53 * static_cast<double>(std::bit_width(length));
}

}  // namespace discreet
