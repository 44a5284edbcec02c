// How far a noisy table is from independence: a sum of squares that hardly knows the margins.
//
// The gap of a cell, cell - p C - q R + p q N with p and q the chances of its row and column, is
// zero on average under independence whatever the number of rows, and linear in the noise. Its
// sampling has covariance N (diag p - p p') x (diag q - q q'), its noise
// s^2 (I - p 1')(I - 1 p') x (I - q 1')(I - 1 q'). Both are products over the margins, so turning
// each margin makes both diagonal at once, and every turned gap is divided by its own deviation.
// Without noise this is Pearson's sum. Pearson's sum with s^2 added under the line would depend on
// the margins, which noise hides: by a factor of two between even and lopsided ones.
//
// Guarantee: a function of released counts: post-processing.
// Argument:  docs/proofs/inference.md, "Counts"
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace discreet::inference {

/// Chances of the rows and columns; margins below half a row are taken as half a row.
struct Margins {
  std::vector<double> rows, columns;
};
Margins margins_of(std::span<const double> cells, std::size_t columns);

/// Chances of the cells, were rows and columns independent.
std::vector<double> products(const Margins& margins);

class TableScore {
 public:
  /// At the margins and the number of rows of `cells`, which have noise of variance `noise2`.
  TableScore(std::span<const double> cells, std::size_t columns, double noise2);

  /// Of a table of the same shape.
  double operator()(std::span<const double> cells) const;

 private:
  Margins margins_;
  std::vector<double> turn_rows_, turn_columns_;  // square, one less than the chances
  std::vector<double> variance_;                  // of the turned gaps
};

}  // namespace discreet::inference
