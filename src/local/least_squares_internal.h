// The inverse of a small Gram matrix, by Cholesky.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace discreet::local {

/// Row-major, size by size. A direction the data say nothing about (two candidates with the same
/// filters everywhere) gets a ridge so small that only that direction feels it; its variance is
/// then reported as the huge number it is.
inline std::vector<double> inverse_of_gram(std::vector<double> gram, std::size_t size) {
  constexpr double kRidge = 1e-9;
  auto& l = gram;
  for (std::size_t j = 0; j < size; ++j) {
    l[j * size + j] += kRidge;
    for (std::size_t k = 0; k < j; ++k) l[j * size + j] -= l[j * size + k] * l[j * size + k];
    l[j * size + j] = std::sqrt(l[j * size + j] > kRidge * kRidge ? l[j * size + j] : kRidge);
    for (std::size_t i = j + 1; i < size; ++i) {
      for (std::size_t k = 0; k < j; ++k) l[i * size + j] -= l[i * size + k] * l[j * size + k];
      l[i * size + j] /= l[j * size + j];
    }
  }
  std::vector<double> inverse(size * size), column(size);
  for (std::size_t c = 0; c < size; ++c) {
    for (std::size_t i = 0; i < size; ++i) {
      column[i] = i == c ? 1 : 0;
      for (std::size_t k = 0; k < i; ++k) column[i] -= l[i * size + k] * column[k];
      column[i] /= l[i * size + i];
    }
    for (std::size_t i = size; i-- > 0;) {
      for (std::size_t k = i + 1; k < size; ++k) column[i] -= l[k * size + i] * column[k];
      column[i] /= l[i * size + i];
      inverse[i * size + c] = column[i];
    }
  }
  return inverse;
}

}  // namespace discreet::local
