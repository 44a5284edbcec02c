// One release from plan to released table: how its epsilon is divided, which mechanisms run, what
// they are paid.
//
// make() sees no data: it can be priced, explained and refused. run() comes after the charge.
// Guarantee: run() is (epsilon, delta)-DP for the budget given, under add/remove of a privacy unit:
// the shares of the
//            parts (groups per unit, keys, sums, clamped aggregates, streams) add up to it
//            (sequential composition).
// Proof:     docs/proofs/release_job.md
#pragma once

#include <memory>

#include "curator/centred_sums.h"
#include "curator/clamped_aggregate.h"
#include "curator/direct_sums.h"
#include "curator/streams.h"
#include "curator/test_job.h"
#include "mechanisms/bound_search.h"
#include "mechanisms/partition_selection.h"

namespace discreet {

class TablesJob;

struct AggregateForecast {
  std::string mechanism;
  std::optional<double> error95;  ///< absent where it depends on a bound that is yet to be found
  bool depends_on_rows = false;   ///< error95 is for a group of 1,000 rows
  /// Instead: the error for every row of largest size that the bound, once found, lets a unit add.
  std::optional<double> error95_per_row = {};
};

/// Which groups leave is itself a release (and needs a delta): some key is private, or the
/// statement wants a least number of units in every group.
bool selects_groups(const sql::Release& release);

/// Gaussian noise may be better for some data: a delta, if the asker offers one, is of use.
bool may_be_gaussian(const sql::Release& release);

class ReleaseJob {
 public:
  /// Refused or InvalidParameter: this release cannot be made at this budget; the message says why
  /// and what to do. `errors`: quantiles are to come with theirs (streams.h).
  static Result<ReleaseJob> make(const sql::Release& release, ApproxDp budget, bool errors = false);

  Result<ReleasedTable> run(Engine& engine, RandomSource& random) const;

  /// What public tables hold suits the question; reads nothing else. Before anything is charged.
  Result<void> check_public(Engine& engine) const;
  /// What run() costs: at most the budget.
  LossEvent loss() const;
  std::vector<AggregateForecast> forecast() const;
  /// What EXPLAIN says besides: the errors of each grouping set.
  /// May read public tables through the engine, never private rows.
  std::vector<std::string> notes(Engine& engine) const;

 private:
  ReleaseJob() = default;
  void limit_groups();
  void find_centred_columns(const std::vector<std::size_t>& block);
  ClipOptions clip_options(const std::vector<Sum>& block) const;
  std::vector<std::optional<double>> clipped_errors_per_row() const;
  /// Has noise drawn while the engine runs, as far as its distributions and the number of groups
  /// are known before a row is read.
  Result<void> prepare_noise(const Groups& groups, NoiseAhead& ahead) const;
  Result<ReleasedTable> run_direct(Groups& groups, Engine& engine, RandomSource& random) const;
  Result<std::optional<TotalsTable>> known_totals(Engine& engine) const;
  Result<TotalsTable> engine_totals(Groups& groups, Engine& engine, RandomSource& random) const;
  /// Whether a private group with so many units may be named.
  bool is_selected(Int128 units, RandomSource& random) const;
  Result<TotalsTable> single_row_totals(Groups& groups, Engine& engine, RandomSource& random) const;
  Result<ReleasedTable> run_clipped(Groups& groups, Engine& engine, RandomSource& random) const;
  Result<void> release_clipped(const Contributions& contributions, std::size_t group_count,
                               RandomSource& random, ReleasedTable& out) const;
  Result<void> release_streams(Groups& groups, const std::vector<bool>* kept,
                               const std::vector<std::uint32_t>& order, Engine& engine,
                               RandomSource& random, ReleasedTable& out) const;

  const sql::Release* release_ = nullptr;
  ApproxDp budget_{Epsilon::zero(), Delta::zero()};
  SumPlan sums_;
  bool private_keys_ = false;
  Epsilon for_groups_ = Epsilon::zero(), for_keys_ = Epsilon::zero(), for_sums_ = Epsilon::zero();
  Delta keys_delta_ = Delta::zero(), sums_delta_ = Delta::zero();
  std::optional<std::uint64_t> groups_max_;      // known without looking
  std::optional<PartitionSelection> selection_;  // for groups_max_, or the most there may be
  std::optional<std::uint64_t> rows_max_;        // likewise
  std::vector<std::string> notices_;             // said with every answer
  std::vector<ClampedAggregate> clamped_;
  std::optional<DirectSums> direct_;
  bool enforce_single_row_ = false;               // declared by the policy, not proved by the plan
  std::vector<std::vector<std::size_t>> blocks_;  // clipped sums released together
  bool totals_do_ = false;  // of units, over all groups: for them (Contributions::load)
  // Of the block of bounded sums, those that are moved to a mean found privately, and the plan's
  // number of each.
  std::vector<CentredColumn> centred_;
  std::vector<std::size_t> centred_sums_;
  std::vector<TestJob> tests_;
  std::shared_ptr<const TablesJob> tables_;  // grouping sets: it does everything
  std::vector<StreamRelease> streams_;
  std::vector<std::size_t> stream_aggregates_;
};

}  // namespace discreet
