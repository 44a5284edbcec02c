// The largest or smallest of whole numbers within a public range, by an exponential mechanism that
// fears overshooting more than falling short.
//
// For the maximum, with "above" = #{x > v} and "reach" = #{x >= v}, value v scores
//   -1/4 max(0, above - tau) - 3/4 max(0, tau - reach),
// and is drawn with chance proportional to exp(epsilon score). tau rows are let go above v, so that
// the many values beyond all data do not win by their number. Where epsilon is so large that they
// cannot win anyway, tau is one half: then the extreme itself is the only value without a penalty.
//
// Guarantee: epsilon-DP under add/remove, and of bounded range epsilon.
// Assumes:   one row per privacy unit; values outside the range are moved to its ends.
// Proof:     docs/proofs/quantile.md
#pragma once

#include "mechanisms/quantile.h"

namespace discreet {

enum class ExtremeSide { Minimum, Maximum };

class Extreme {
 public:
  /// `caution` c sets tau = ceil(c ln(size) / (0.75 epsilon)): more rows beyond the answer, fewer
  /// answers beyond the rows. From epsilon = 8 (ln(size) + 7) on it is at most one half.
  /// InvalidParameter: epsilon outside [2^-40, 2^20], caution not within [0, 100], or a bad range.
  static Result<Extreme> make(Epsilon epsilon, ExtremeSide side, IntegerRange range,
                              double caution = 1);
  /// The least epsilon (to a millionth) that leaves at most this many rows beyond the answer.
  static Result<Extreme> for_rows_beyond(double rows, double confidence, ExtremeSide side,
                                         IntegerRange range, double caution = 1);

  std::int64_t release(std::span<const std::int64_t> values, RandomSource& random) const;

  LossEvent loss() const;

  /// With this confidence at most this many rows lie beyond the answer, whatever the data.
  double rows_beyond_bound(double confidence) const;
  /// Rows given up on purpose.
  double tau() const { return static_cast<double>(twice_tau_) / 2; }

 private:
  Extreme(Epsilon epsilon, ExtremeSide side, IntegerRange range, std::uint64_t twice_tau)
      : epsilon_(epsilon),
        side_(side),
        range_(range),
        twice_tau_(twice_tau),
        powers_(exact_rational(epsilon.value()).value() / 8) {}

  Epsilon epsilon_;
  ExtremeSide side_;
  IntegerRange range_;
  std::uint64_t twice_tau_;
  ExpPowers powers_;  // distances are eight times the score
};

}  // namespace discreet
