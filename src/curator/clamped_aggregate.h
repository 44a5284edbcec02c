// An aggregate with contribution_bounds_per_group => (lower, upper), as GoogleSQL means it.
//
// A unit's own count, sum or mean in a group is clamped to [lower, upper]; these are added up over
// units. With at most G groups a unit the sensitivity is known before any row is read, so the whole
// epsilon goes to noise:
//   COUNT, SUM  one sum, L1 sensitivity G max(|lower|, |upper|);
//   AVG         the mean of units' means: their sum, moved to the middle of the bounds, over the
//               number of units.
// Guarantee: epsilon-DP for the column over all groups, under add/remove of a unit.
// Assumes:   the contributions are grouped by unit and passed keep_groups(G) (checked: release()
//            looks at Contributions::groups_limit, which only keep_groups sets); groups are public
//            or already released.
// Proof:     docs/proofs/clipped_sums.md, "Known bounds"
#pragma once

#include <optional>

#include "base/rational.h"
#include "curator/contributions.h"
#include "curator/released.h"
#include "curator/sums.h"
#include "privacy/loss_event.h"

namespace discreet {

class NoiseAhead;

class ClampedAggregate {
 public:
  /// Refused: this kind of aggregate has no meaning under bounds per group. InvalidParameter: no
  /// value of the column lies within the bounds, or the noise would not fit 64 bits.
  static Result<ClampedAggregate> make(const sql::Release& release, std::size_t aggregate,
                                       Epsilon epsilon, std::uint64_t groups_max);

  /// Has the noise of so many groups drawn ahead.
  void prepare_noise(std::size_t groups, NoiseAhead& ahead) const;

  ReleasedColumn release(const Contributions& contributions, std::size_t groups,
                         RandomSource& random) const;

  std::size_t aggregate() const { return use_.aggregate; }
  LossEvent loss() const { return loss::Pure{epsilon_}; }
  /// Absent for AVG, whose error depends on how many units there are.
  std::optional<double> error95_before() const;

 private:
  ClampedAggregate(const sql::AggregateRelease& asked, Epsilon epsilon, std::uint64_t groups_max)
      : asked_(&asked), epsilon_(epsilon), groups_max_(groups_max) {}
  bool takes_part(WholesView features) const;
  /// Of one unit in one group, within [lower_, upper_] whatever the features hold.
  Int128 clamped(WholesView features) const;
  std::vector<double> noise_sd() const;

  const sql::AggregateRelease* asked_;
  Epsilon epsilon_;
  std::uint64_t groups_max_;
  std::optional<std::size_t> total_;     // the feature that is clamped; absent: the unit, as 1
  std::optional<std::size_t> presence_;  // the unit takes part where this feature is above zero
  bool is_mean_ = false;
  int mean_bits_ = 0;                   // means are in 2^-mean_bits_ of a grid unit
  std::int64_t lower_ = 0, upper_ = 0;  // in grid units (finer for means), both ends belong
  SumUse use_{};
  std::vector<Rational>
      rates_;  // of the noise: one sum; for means, the number of units and the sum
};

/// The aggregate is to be released by ClampedAggregate, and by nothing else.
bool has_bounds_per_group(const sql::AggregateRelease& aggregate);

}  // namespace discreet
