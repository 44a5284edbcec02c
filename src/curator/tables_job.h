// CUBE, ROLLUP and GROUPING SETS: all grouping sets of a release answered jointly.
//
// The keys are public, so every cell is known without looking at private rows. One plan
// (tables/plan.h) covers all sets; counts are then made non-negative and whole, and every coarser
// set is the sum of finer ones. Keys that come from a public table together, such as state, county
// and tract, are one hierarchy in the order in which they stand in GROUP BY: their rows are its
// leaves, and sets that hold the first few of them are its levels.
//
// Guarantee: run() is (epsilon, delta)-DP for the budget, under add/remove of a privacy unit; it is
//            rho-zCDP for the greatest rho that implies the budget, or the tables are for nine
//            tenths of epsilon, where a tenth finds how many rows of a unit count.
// Assumes:   as sql/question.h; no unit keeps more than `rows_max` rows (enforced by sampling).
// Proof:     docs/proofs/residual_tables.md, point 6 (several rows a unit); zCDP of the measures
//            adds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "curator/released.h"
#include "privacy/loss_event.h"
#include "random/random_source.h"
#include "tables/full_table.h"

namespace discreet {

class TablesJob {
 public:
  /// Refused: a private key, an aggregate that does not add up, a value without bounds, no delta,
  /// too many cells, keys of a public table that are not rolled up in order.
  static Result<TablesJob> make(const sql::Release& release, ApproxDp budget);

  Result<ReleasedTable> run(Groups& groups, Engine& engine, RandomSource& random) const;

  /// Reads public tables only: run() will not be refused for what they hold.
  Result<void> check_public_counts(Engine& engine) const;

  LossEvent loss() const;
  /// Half the width of a 95 % interval of aggregate `i` in grouping set `set`, known beforehand;
  /// nothing for averages, whose error depends on the number of rows, and for keys of public
  /// tables, whose rows are read later.
  std::optional<double> error95(std::size_t aggregate, std::size_t set) const;
  /// A line for each grouping set with the errors of its columns. Reads the public tables that list
  /// keys, no private row.
  std::vector<std::string> notes(Engine& engine) const;

 private:
  /// A sum over rows of sum - centre * count, each row's part within +-limit: in grid units.
  struct Measure {
    std::size_t feature;
    std::size_t count;  ///< the same as `feature` where there is no centre
    std::int64_t centre, limit;
    double unit;
    bool not_negative;
    Rho rho = Rho::zero();  ///< of its plan, for one record of one grid unit
  };
  struct Column {
    std::size_t measure;
    std::optional<std::size_t> count;  ///< averages: the measure of the rows
  };
  /// The axes and what they stand for. Plans are by measure.
  struct Layout {
    std::vector<tables::Axis> axes;
    std::vector<std::shared_ptr<const tables::Plan>> plans;
    std::vector<std::size_t> group_of;       ///< by cell; empty: the same number
    std::optional<tables::Invariant> known;  ///< numbers of rows that are public
  };
  struct Sums;

  TablesJob() = default;
  Result<void> find_factors();
  Result<void> find_rows_max();
  Result<void> find_measures();
  std::size_t measure(std::size_t feature, std::size_t count, bool centred);
  Result<void> share(std::uint64_t rows_max);
  Result<void> make_plans(Layout& layout) const;
  Result<Layout> layout_of(const Groups& groups) const;
  Result<ReleasedTable> find_and_run(Groups& groups, Engine& engine, RandomSource& random) const;
  tables::Marginal marginal(std::size_t set, std::span<const tables::Axis> axes) const;
  tables::Marginal planned(std::size_t set, std::span<const tables::Axis> axes) const;
  std::optional<double> error95(std::size_t aggregate, std::size_t set, const Layout& layout) const;
  std::string note(std::size_t set, const Layout* layout) const;
  bool is_ordered(std::size_t factor) const;
  /// Whether public numbers of rows are about it.
  bool counts_rows(const Measure& measure) const;
  bool is_known(const Measure& measure, const tables::Marginal& marginal,
                const Layout& layout) const;
  Result<tables::Invariant> read_counts(const sql::PublicCounts& counts, const Layout& layout,
                                        const Groups& groups, Engine& engine) const;
  /// Of public_total and public_counts together. Refused: they do not fit the keys or each other.
  Result<std::optional<tables::Invariant>> find_known(const Layout& layout, const Groups& groups,
                                                      Engine& engine) const;
  Result<std::vector<std::vector<std::int64_t>>> totals(const Layout& layout, Groups& groups,
                                                        Engine& engine, RandomSource& random) const;
  Result<std::vector<double>> base_table(const Measure& measure, const Layout& layout,
                                         std::shared_ptr<const tables::Plan> plan,
                                         std::vector<std::int64_t> exact,
                                         RandomSource& random) const;
  void append(const Sums& sums, std::size_t set, const Layout& layout, const Groups& groups,
              ReleasedTable& out) const;

  const sql::Release* release_ = nullptr;
  std::vector<std::vector<std::size_t>> factors_;    // keys of each axis, ascending
  std::optional<Layout> layout_;                     // where no public table has to be read first
  std::uint64_t rows_max_ = 1;                       // 0: to be found, with `search_` of the budget
  ApproxDp budget_{Epsilon::zero(), Delta::zero()};  // of the tables
  Epsilon search_ = Epsilon::zero();
  std::vector<Measure> measures_;
  std::vector<Column> columns_;  // by aggregate
  Rho rho_ = Rho::zero();
};

}  // namespace discreet
