// The sums a release adds up, and how aggregates read them.
//
// An aggregate is a function of a few sums over rows: a count, a sum moved to the middle of its
// range, a second moment. Sums that several aggregates need are released once. Moving to the middle
// is exact: the engine returns count and sum, and sum(x - m) = sum(x) - m count holds in integers.
#pragma once

#include <optional>
#include <vector>

#include "base/saturating.h"
#include "curator/contributions.h"
#include "sql/question.h"

namespace discreet {

/// One released sum: a fixed linear combination of features, or "1 where the unit takes part".
struct Sum {
  struct Term {
    std::size_t feature;
    Int128 factor;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;                ///< empty: the unit itself, counted once per group
  std::optional<std::size_t> takes_part;  ///< ... if this feature of it is above zero
  Int128 row_max = 1;                     ///< the most one row can add, in absolute value
  bool bounded = true;                    ///< row_max is declared or proved, not merely technical
  double weight = 1;                      ///< more: this sum gets less of the noise

  bool counts_units() const { return terms.empty(); }
  /// What one row of partials adds.
  Int128 of(WholesView features) const {
    if (counts_units()) return !takes_part || features[*takes_part] > 0 ? 1 : 0;
    Int128 total = 0;
    for (const Term& term : terms) total += term.factor * features[term.feature];
    return total;
  }
};

/// The middle and half width of a value's range, in grid units.
struct Centre {
  std::int64_t middle = 0;
  std::int64_t half = 1;
  double grid_unit = 1;
  double below = 1, above = 1;  ///< from the middle to the ends of the range
};

/// Which sums an aggregate reads; indexes into SumPlan::sums.
struct SumUse {
  std::size_t aggregate;  ///< index into Release::aggregates
  std::size_t count = 0;
  std::optional<std::size_t> linear, square;  ///< of x, centred
  std::optional<std::size_t> linear_y, square_y, product;
  std::vector<std::size_t> bins;
  Centre x, y;
  bool raw = false;  ///< `linear` is the plain sum, not centred, and there is no count
};

struct SumPlan {
  std::vector<Sum> sums;
  std::vector<SumUse> uses;

  bool empty() const { return uses.empty(); }
};

/// All additive aggregates of the release that have no bounds per group asked for (those are
/// ClampedAggregate); streams are left to others.
SumPlan plan_sums(const sql::Release& release);

bool is_additive(const sql::AggregateKind& kind);

/// Whether no row takes away from the sum what another adds: what a unit adds to all groups then
/// says how much it adds.
bool is_of_one_sign(const sql::Release& release, const Sum& sum);

}  // namespace discreet
