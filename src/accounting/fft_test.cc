#include "accounting/fft.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "support/seeded_random.h"

namespace discreet {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> noise(std::size_t n) {
  SeededRandom random(20261115 + n);
  std::vector<Complex> x(n);
  for (Complex& v : x)
    v = {static_cast<double>(random.bits64()) * 0x1p-64,
         static_cast<double>(random.bits64()) * 0x1p-64};
  return x;
}

TEST(FftTest, TransformsAgreeWithTheDefinitionWithinTheStatedError) {
  for (const std::size_t n : {2U, 4U, 8U, 32U, 256U, 512U}) {
    const Fft fft(n);
    const auto x = noise(n);
    auto fast = x;
    fft.forward(fast);
    long double error = 0, size = 0;
    for (std::size_t k = 0; k < n; ++k) {
      std::complex<long double> sum = 0;
      for (std::size_t j = 0; j < n; ++j)
        sum +=
            std::complex<long double>(x[j]) *
            std::polar(1.0L, -2 * std::numbers::pi_v<long double> *
                                 static_cast<long double>(j * k % n) / static_cast<long double>(n));
      error += std::norm(sum - std::complex<long double>(fast[k]));
      size += std::norm(sum);
    }
    EXPECT_LE(std::sqrt(error / size), Fft::error_bound(n)) << n;
  }
}

TEST(FftTest, TheInverseUndoesTheTransform) {
  for (const std::size_t n : {2U, 8U, 4096U, 8192U}) {
    const Fft fft(n);
    const auto x = noise(n);
    auto back = x;
    fft.forward(back);
    fft.inverse(back);
    double error = 0, size = 0;
    for (std::size_t j = 0; j < n; ++j) {
      error += std::norm(back[j] - x[j]);
      size += std::norm(x[j]);
    }
    EXPECT_LE(std::sqrt(error / size), 2 * Fft::error_bound(n)) << n;
  }
}

}  // namespace
}  // namespace discreet
