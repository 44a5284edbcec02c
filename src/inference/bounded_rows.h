// Made-up rows within [-1, 1] of a given mean and spread, as the bootstrap needs them: their mean
// and the sum of squares around it.
//
// Bounded rows near an end of their range lean away from it, and a test that took them for normal
// would reject too often (7 % instead of 5 % for 30 exponential rows). How much they lean is not
// released. The rows here lean 1.3 times as much as the beta law of that mean and variance, about
// as exponential rows near the range's end do; levels were measured nearest to the nominal ones so
// (docs/inference.md). In the middle of the range this is as good as the normal law.
//
// Guarantee: none about privacy: it draws from released numbers only. Argument:
//            docs/proofs/inference.md
#pragma once

#include "inference/resample.h"

namespace discreet::inference {

struct DrawnRows {
  double mean, squares;  ///< squares: sum of squares around the mean
};

class BoundedRows {
 public:
  /// `spread2` is the variance, at most 1 - mean^2; at least two rows.
  BoundedRows(double rows, double mean, double spread2);

  DrawnRows draw(Resample& random) const;

 private:
  double rows_, mean_, spread2_;
  double skew_ = 0, tail_ = 2;  // third standardised moment; fourth less one
  double bend_ = 0;             // of the squares given the mean: (excess - skew^2) / 2
};

}  // namespace discreet::inference
