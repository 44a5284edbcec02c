// One quantile (the median, the 90th percentile) of whole numbers within a public range.
//
// A candidate v is judged by its rank error err(v): how far q n is from the ranks that v covers in
// the data, zero for a true quantile. v is drawn with chance proportional to exp(-epsilon err(v) /
// (2 max(q, 1 - q))). Neighbouring values with no data between them are equally good, so whole
// ranges are drawn first, weighted by their length, and a value uniformly inside.
//
// Guarantee: epsilon-DP under add/remove, and of bounded range epsilon (Durfee and Rogers 2019),
// which
//            composes better than epsilon-DP alone. Exact: no floating point touches the data.
// Assumes:   one row per privacy unit; values outside the range are moved to its ends.
// Proof:     docs/proofs/quantile.md
#pragma once

#include <cstdint>
#include <span>

#include "base/rational.h"
#include "privacy/loss_event.h"
#include "random/exp_powers.h"
#include "random/random_source.h"

namespace discreet {

/// The whole numbers from lower to upper, both included.
struct IntegerRange {
  std::int64_t lower, upper;

  std::uint64_t size() const {
    return static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower) + 1;
  }
  std::int64_t clamp(std::int64_t value) const {
    return value < lower ? lower : value > upper ? upper : value;
  }
};

/// InvalidParameter: upper below lower, or 2^62 values or more.
Result<void> check_range(IntegerRange range);
/// InvalidParameter: not within [1e-9, 1 - 1e-9]; the ends are extremes, see extreme.h.
Result<void> check_quantile(double q);

class Quantile {
 public:
  /// InvalidParameter: epsilon below 2^-40 or above 2^20, or as the checks above.
  static Result<Quantile> make(Epsilon epsilon, double q, IntegerRange range);
  /// The least epsilon whose rank error stays within `rows` with this confidence.
  static Result<Quantile> for_rank_error(double rows, double confidence, double q,
                                         IntegerRange range);

  /// The values may come in any order.
  std::int64_t release(std::span<const std::int64_t> values, RandomSource& random) const;

  LossEvent loss() const;

  /// With this confidence the released value's rank error is at most this many rows, whatever the
  /// data: 2 max(q, 1 - q) ln((size - 1) / (1 - confidence)) / epsilon.
  double rank_error_bound(double confidence) const;

  Epsilon epsilon() const { return epsilon_; }

 private:
  Quantile(Epsilon epsilon, double q, IntegerRange range);

  Epsilon epsilon_;
  double q_;
  IntegerRange range_;
  ExpPowers powers_;
};

/// The draw itself, for mechanisms built on it: `sorted` ascending and within the range, `powers`
/// from quantile_powers for the same q.
std::int64_t draw_quantile(std::span<const std::int64_t> sorted, IntegerRange range,
                           const Rational& q, const ExpPowers& powers, RandomSource& random);
ExpPowers quantile_powers(const Rational& q, const Rational& epsilon);

}  // namespace discreet
