// A Newton step for one-hot rows whose columns are taken as independent. Reads released numbers
// only.
#pragma once

#include <cstddef>
#include <vector>

namespace discreet::learn {

// Solves (q n E + damping I) x = g, where E is the second moment of one-hot rows whose columns are
// independent: diag(f) + F F^T - blockdiag(f f^T). Sherman and Morrison twice, no matrix.
class Preconditioner {
 public:
  Preconditioner(const std::vector<std::vector<double>>& frequency, double scale, double damping)
      : frequency_(frequency), scale_(scale) {
    double coupling = 0;
    for (const auto& f : frequency_) {
      std::vector<double> inverse(f.size());
      double inner = 0;
      for (std::size_t b = 0; b < f.size(); ++b) {
        inverse[b] = 1 / (scale * f[b] + damping);
        inner += scale * f[b] * f[b] * inverse[b];
      }
      inverse_.push_back(std::move(inverse));
      inner_.push_back(1 - inner);  // positive: inner < sum f <= 1
      coupling += inner / inner_.back();
    }
    coupling_ = 1 + coupling;
  }

  /// In place, for the coordinates [column][bin * stride + at].
  void solve(std::vector<std::vector<double>>& g, std::size_t stride, std::size_t at) const {
    double along = 0;  // F^T B^-1 g
    for (std::size_t c = 0; c < g.size(); ++c) {
      const auto& f = frequency_[c];
      double dot = 0;
      for (std::size_t b = 0; b < f.size(); ++b)
        dot += f[b] * inverse_[c][b] * g[c][b * stride + at];
      const double lift = scale_ * dot / inner_[c];
      for (std::size_t b = 0; b < f.size(); ++b) {
        double& x = g[c][b * stride + at];
        x = inverse_[c][b] * (x + lift * f[b]);
        along += f[b] * x;
      }
    }
    const double lift = scale_ * along / coupling_;
    for (std::size_t c = 0; c < g.size(); ++c)
      for (std::size_t b = 0; b < frequency_[c].size(); ++b)
        g[c][b * stride + at] -= lift * inverse_[c][b] * frequency_[c][b] / inner_[c];
  }

 private:
  const std::vector<std::vector<double>>& frequency_;
  double scale_;
  std::vector<std::vector<double>> inverse_;
  std::vector<double> inner_;
  double coupling_;
};

}  // namespace discreet::learn
