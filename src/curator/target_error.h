// An error instead of an epsilon: `target_error = '±50 at 95%'`.
//
// The error of counts and sums under known bounds is known before any row is read, so the least
// epsilon that reaches it can be found beforehand. Where an error depends on the data (an average,
// a bound that is yet to be found) nothing can be promised, and the question is refused.
// Guarantee: reads no data; the epsilon found is what the release is then charged.
#pragma once

#include <functional>
#include <string>

#include "curator/release_job.h"

namespace discreet {

struct TargetError {
  double half_width;         ///< in the column's own units
  double confidence = 0.95;  ///< of lying within it

  /// "±50 at 95%", "+-50", "0.5 at 99 %". InvalidParameter: something else.
  static Result<TargetError> parse(const std::string& text);
  std::string to_string() const;
};

/// Half the width of the interval of this confidence, from that of 95 %: never less than either the
/// normal or the Laplace law would give.
double at_confidence(double error95, double confidence);

/// The largest error of a release's aggregates at this budget. Refused: the error of one of them
/// depends on the data.
Result<double> error_at(const sql::Release& release, ApproxDp budget, double confidence);

/// The least epsilon (to a thousandth of itself) at which every aggregate of the release is within
/// the target. Refused as error_at(), or if no epsilon below 2^20 is enough.
Result<Epsilon> epsilon_for(const sql::Release& release, const TargetError& target, Delta delta);

}  // namespace discreet
