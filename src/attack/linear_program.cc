#include <vector>

#include <coin/ClpSimplex.hpp>

#include "attack/linear_program_internal.h"

namespace discreet::attack {

Eigen::VectorXf least_deviations(const Eigen::MatrixXf& a, const Eigen::VectorXf& y) {
  const auto n = static_cast<int>(a.cols()), m = static_cast<int>(a.rows());
  // Columns: the bits, then what each answer is above and below. Rows: a c - over + under = y.
  ClpSimplex program;
  program.setLogLevel(0);
  program.resize(m, 0);
  for (int row = 0; row < m; ++row) program.setRowBounds(row, y[row], y[row]);
  std::vector<int> rows;
  std::vector<double> values;
  for (int column = 0; column < n; ++column) {
    rows.clear();
    values.clear();
    for (int row = 0; row < m; ++row)
      if (a(row, column) != 0) {
        rows.push_back(row);
        values.push_back(a(row, column));
      }
    program.addColumn(static_cast<int>(rows.size()), rows.data(), values.data(), 0, 1, 0);
  }
  for (int row = 0; row < m; ++row)
    for (const double sign : {-1.0, 1.0}) program.addColumn(1, &row, &sign, 0, COIN_DBL_MAX, 1);
  program.dual();
  Eigen::VectorXf bits(a.cols());
  const double* solution = program.primalColumnSolution();
  for (int column = 0; column < n; ++column) bits[column] = static_cast<float>(solution[column]);
  return bits;
}

}  // namespace discreet::attack
