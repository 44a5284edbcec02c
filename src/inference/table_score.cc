#include "inference/table_score.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace discreet::inference {
namespace {

constexpr double kLeast = 0.5;  // rows of a margin

using Square = std::vector<double>;  // n x n, row by row

// Jacobi's rotations: `a` becomes diagonal, `vectors` holds the eigenvectors in its columns.
void diagonalise(Square& a, Square& vectors, std::size_t n) {
  vectors.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  constexpr int kSweeps = 12;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double off = 0, on = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) (i == j ? on : off) += a[i * n + j] * a[i * n + j];
    if (off <= 1e-20 * on) return;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        if (a[i * n + j] == 0) continue;
        const double angle = std::atan2(2 * a[i * n + j], a[j * n + j] - a[i * n + i]) / 2;
        const double c = std::cos(angle), s = std::sin(angle);
        const auto rotate = [c, s](double& x, double& y) {
          const double old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (std::size_t k = 0; k < n; ++k) rotate(a[k * n + i], a[k * n + j]);
        for (std::size_t k = 0; k < n; ++k) rotate(a[i * n + k], a[j * n + k]);
        for (std::size_t k = 0; k < n; ++k) rotate(vectors[k * n + i], vectors[k * n + j]);
      }
  }
}

// Turns the gaps of all chances but the last, which tell the last: noise becomes the unit matrix
// and sampling of one row diagonal, `spread`.
struct Turned {
  Square turn;
  std::vector<double> spread;
};

Turned turned(std::span<const double> chances) {
  const std::size_t n = chances.size() - 1;
  const auto all = static_cast<double>(chances.size());
  Square l(n * n);  // Cholesky's factor of the noise, whose rows are e_i - p_i 1
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double p = chances[i], q = chances[j];
      double sum = (i == j ? 1.0 : 0.0) - p - q + all * p * q;
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / l[j * n + j];
    }
  const auto solve = [&](Square& x) {  // l^-1 x
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t i = 0; i < n; ++i) {
        double sum = x[i * n + c];
        for (std::size_t k = 0; k < i; ++k) sum -= l[i * n + k] * x[k * n + c];
        x[i * n + c] = sum / l[i * n + i];
      }
  };
  Square sampling(n * n), vectors, unit(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      sampling[i * n + j] = (i == j ? chances[i] : 0.0) - chances[i] * chances[j];
    unit[i * n + i] = 1;
  }
  solve(sampling);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) std::swap(sampling[i * n + j], sampling[j * n + i]);
  solve(sampling);
  diagonalise(sampling, vectors, n);
  solve(unit);
  Turned made{Square(n * n, 0.0), std::vector<double>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    made.spread[i] = std::max(0.0, sampling[i * n + i]);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j)
        made.turn[i * n + j] += vectors[k * n + i] * unit[k * n + j];
  }
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
