#include "inference/table_score.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <numeric>

namespace discreet::inference {
namespace {

constexpr double kLeast = 0.5;  // rows of a margin

// Turns the gaps of all chances but the last, which tell the last: noise becomes the unit matrix
// and sampling of one row diagonal, `spread`.
struct Turned {
  std::vector<double> turn;  // square, row by row
  std::vector<double> spread;
};

Turned turned(std::span<const double> chances) {
  const auto n = static_cast<Eigen::Index>(chances.size()) - 1;
  const Eigen::Map<const Eigen::VectorXd> p(chances.data(), n);
  const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(n, n), ones = Eigen::MatrixXd::Ones(n, n);
  Eigen::MatrixXd sampling = -p * p.transpose();
  sampling.diagonal() += p;
  // The noise's rows are e_i - p_i 1, over all chances.
  const Eigen::MatrixXd noise = unit - p.asDiagonal() * ones - ones * p.asDiagonal() +
                                static_cast<double>(n + 1) * p * p.transpose();
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(sampling, noise);
  Turned made{std::vector<double>(static_cast<std::size_t>(n * n)), {}};
  // Its vectors stand in columns, column by column: as rows, row by row, they are the turn.
  Eigen::Map<Eigen::MatrixXd>(made.turn.data(), n, n) = solver.eigenvectors();
  for (const double one : solver.eigenvalues()) made.spread.push_back(std::max(0.0, one));
  return made;
}

}  // namespace

Margins margins_of(std::span<const double> cells, std::size_t columns) {
  Margins m{std::vector<double>(cells.size() / columns), std::vector<double>(columns)};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    m.rows[i / columns] += cells[i];
    m.columns[i % columns] += cells[i];
  }
  for (auto* margin : {&m.rows, &m.columns}) {
    double sum = 0;
    for (double& one : *margin) sum += one = std::max(one, kLeast);
    for (double& one : *margin) one /= sum;
  }
  return m;
}

std::vector<double> products(const Margins& margins) {
  std::vector<double> chances;
  for (const double row : margins.rows)
    for (const double column : margins.columns) chances.push_back(row * column);
  return chances;
}

TableScore::TableScore(std::span<const double> cells, std::size_t columns, double noise2)
    : margins_(margins_of(cells, columns)) {
  const double all = std::max(1.0, std::accumulate(cells.begin(), cells.end(), 0.0));
  Turned by_row = turned(margins_.rows), by_column = turned(margins_.columns);
  constexpr double kTiny = 1e-9;
  for (const double row : by_row.spread)
    for (const double column : by_column.spread)
      variance_.push_back(all * row * column + noise2 + kTiny);
  turn_rows_ = std::move(by_row.turn);
  turn_columns_ = std::move(by_column.turn);
}

double TableScore::operator()(std::span<const double> cells) const {
  const std::size_t columns = margins_.columns.size(), r = margins_.rows.size() - 1,
                    c = columns - 1;
  std::vector<double> rows(r + 1), sums(columns), half(r * c, 0.0);
  double all = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    rows[i / columns] += cells[i];
    sums[i % columns] += cells[i];
    all += cells[i];
  }
  for (std::size_t i = 0; i < r; ++i)
    for (std::size_t j = 0; j < c; ++j) {
      const double p = margins_.rows[i], q = margins_.columns[j];
      const double gap = cells[i * columns + j] - p * sums[j] - q * rows[i] + p * q * all;
      for (std::size_t k = 0; k < r; ++k) half[k * c + j] += turn_rows_[k * r + i] * gap;
    }
  double sum = 0;
  for (std::size_t i = 0; i < r; ++i)
    for (std::size_t j = 0; j < c; ++j) {
      double turned_gap = 0;
      for (std::size_t k = 0; k < c; ++k) turned_gap += turn_columns_[j * c + k] * half[i * c + k];
      sum += turned_gap * turned_gap / variance_[i * c + j];
    }
  return sum;
}

}  // namespace discreet::inference
