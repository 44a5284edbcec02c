#include <Eigen/Cholesky>
#include <numeric>

#include "learn/kinship_internal.h"
#include "learn/preconditioner_internal.h"

namespace discreet::learn {
namespace {

// Flat between .4 and .6 on ADULT and the NIST tables (docs/learning.md).
constexpr double kAlike = 0.5;

std::vector<double> inverse_along_line(const ColumnCoder& feature,
                                       std::span<const double> frequency, double scale,
                                       double damping) {
  const auto n = static_cast<Eigen::Index>(frequency.size());
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  Eigen::MatrixXd sum = damping * kinship(feature, frequency.size(), kAlike).llt().solve(one);
  for (Eigen::Index i = 0; i < n; ++i) sum(i, i) += scale * frequency[static_cast<std::size_t>(i)];
  const Eigen::MatrixXd inverse = sum.llt().solve(one);
  return {inverse.data(), inverse.data() + inverse.size()};  // symmetric: rows or columns
}

}  // namespace

Preconditioner::Preconditioner(const Coding& coding,
                               const std::vector<std::vector<double>>& frequency, double scale,
                               double damping)
    : frequency_(frequency), scale_(scale) {
  std::vector<double> room;
  for (std::size_t c = 0; c < frequency.size(); ++c) {
    const auto& f = frequency[c];
    const ColumnCoder& feature = coding.features()[c];
    Column column;
    if (along_line(feature, f.size()))
      column.inverse = inverse_along_line(feature, f, scale, damping);
    else
      for (const double share : f) column.inverse.push_back(1 / (scale * share + damping));
    column.pull = f;
    column.apply(column.pull, room);
    const double inner = scale * std::inner_product(f.begin(), f.end(), column.pull.begin(), 0.0);
    column.rest = 1 - inner;  // positive: inner < sum f <= 1
    coupling_ += inner / column.rest;
    columns_.push_back(std::move(column));
  }
}

void Preconditioner::Column::apply(std::span<double> x, std::vector<double>& room) const {
  const std::size_t n = x.size();
  if (inverse.size() == n) {
    for (std::size_t i = 0; i < n; ++i) x[i] *= inverse[i];
    return;
  }
  room.assign(x.begin(), x.end());
  for (std::size_t i = 0; i < n; ++i)
    x[i] = std::inner_product(room.begin(), room.end(), inverse.data() + i * n, 0.0);
}

void Preconditioner::solve(std::vector<std::vector<double>>& g, std::size_t stride,
                           std::size_t at) const {
  double along = 0;  // F^T B^-1 g
  std::vector<double> x, room;
  for (std::size_t c = 0; c < g.size(); ++c) {
    const auto& f = frequency_[c];
    const Column& column = columns_[c];
    x.resize(f.size());
    for (std::size_t b = 0; b < f.size(); ++b) x[b] = g[c][b * stride + at];
    const double lift =
        scale_ * std::inner_product(x.begin(), x.end(), column.pull.begin(), 0.0) / column.rest;
    column.apply(x, room);
    for (std::size_t b = 0; b < f.size(); ++b) {
      g[c][b * stride + at] = x[b] + lift * column.pull[b];
      along += f[b] * g[c][b * stride + at];
    }
  }
  const double lift = scale_ * along / coupling_;
  for (std::size_t c = 0; c < g.size(); ++c)
    for (std::size_t b = 0; b < frequency_[c].size(); ++b)
      g[c][b * stride + at] -= lift * columns_[c].pull[b] / columns_[c].rest;
}

}  // namespace discreet::learn
