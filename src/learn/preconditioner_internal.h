// A Newton step for one-hot rows whose columns are taken as independent, and whose neighbouring
// bins are taken to be a little alike. Reads released numbers only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "learn/coding.h"

namespace discreet::learn {

// Solves (q n E + damping K^-1) x = g, where E is the second moment of one-hot rows whose columns
// are independent: diag(f) + F F^T - blockdiag(f f^T), and K says how weights are expected to vary:
// each by itself, and, where a column's bins lie along a line, half of it together with its
// neighbours. Noise is rough along that line and what there is to learn mostly is not, so that a
// step keeps more of the one than of the other. Sherman and Morrison twice; the largest matrix is
// that of one column's bins.
class Preconditioner {
 public:
  /// `frequency` has the bins of each feature of `coding`, adding up to one; it must outlive this.
  Preconditioner(const Coding& coding, const std::vector<std::vector<double>>& frequency,
                 double scale, double damping);

  /// In place, for the coordinates [column][bin * stride + at].
  void solve(std::vector<std::vector<double>>& g, std::size_t stride, std::size_t at) const;

 private:
  // The inverse of q n diag(f) + damping K^-1 for one column, times its vector.
  struct Column {
    std::vector<double> inverse;  // a matrix by rows, or only its diagonal
    std::vector<double> pull;     // inverse f
    double rest = 1;              // 1 - q n f^T inverse f, positive

    void apply(std::span<double> x, std::vector<double>& room) const;
  };

  const std::vector<std::vector<double>>& frequency_;
  double scale_;
  std::vector<Column> columns_;
  double coupling_ = 1;
};

}  // namespace discreet::learn
