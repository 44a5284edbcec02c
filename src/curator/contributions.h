// What each privacy unit adds to each group, in exact integers: the rows of a release's engine
// statement, gathered by unit. Everything that bounds a unit's influence works on this.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/check.h"
#include "curator/groups.h"
#include "engines/unit_partials.h"
#include "engines/unit_totals.h"
#include "random/random_source.h"

namespace discreet {

class Contributions {
 public:
  /// All that the release's rows add up to. Rows outside the public domain are dropped, then groups
  /// over `groups_max` of a unit, chosen as keep_groups() does. The rows are added up here while
  /// they stream from the engine's files (`over_files`) or from the engine (`streamed`), or in the
  /// engine where they are too many or of another kind (partials_sql). With `totals_do` what is
  /// loaded may be totals(), which take less: nobody asks for a unit's groups unless it adds too
  /// much to all of them.
  static Result<Contributions> load(const sql::Release& release, Groups& groups, Engine& engine,
                                    RandomSource& random,
                                    std::optional<std::uint64_t> groups_max = std::nullopt,
                                    bool totals_do = false);
  /// By `release.partials_sql`, whatever the rows are: the form for engines that are far away.
  static Result<Contributions> load_partials(const sql::Release& release, Groups& groups,
                                             Engine& engine);
  /// The same from `release.rows_sql`, with at most `rows_max` rows of every unit, chosen uniformly
  /// among those in the public domain: max_rows_contributed.
  static Result<Contributions> load_sample(const sql::Release& release, std::uint64_t rows_max,
                                           Groups& groups, Engine& engine, RandomSource& random);

  /// Not null: row u is what unit u adds to all groups together, and this has the groups.
  const UnitTotals* totals() const { return totals_.get(); }

  std::size_t units() const { return rows_.units; }
  std::size_t features() const { return rows_.features; }
  /// Rows of a unit are begin(u) .. end(u) - 1; each is one group of it. There may be room between
  /// units.
  std::size_t begin(std::size_t unit) const { return rows_.begin(unit); }
  std::size_t end(std::size_t unit) const { return rows_.end(unit); }
  /// Row u is the one row of unit u.
  bool has_one_row_each() const { return rows_.begins.empty(); }
  std::uint32_t group(std::size_t row) const {
    DISCREET_CHECK(!totals_, "totals are of all groups");
    return rows_.group(row);
  }
  WholesView values(std::size_t row) const { return rows_.values(row); }
  /// All of the above in one, for whoever goes over millions of rows.
  const UnitPartials& partials() const { return rows_; }
  /// Calls visit(first unit, last unit + 1, worker) for pieces that make up all units, on
  /// worker_count() threads where there are many and `threads` allows it.
  void for_each_piece(const std::function<void(std::size_t, std::size_t, std::size_t)>& visit,
                      bool threads = true) const;

  /// Keeps at most `groups_max` groups of every unit, chosen uniformly and independently.
  void keep_groups(std::uint64_t groups_max, RandomSource& random);
  /// No unit has more groups than this; keep_groups() lowers it.
  std::uint64_t groups_limit() const { return groups_limit_; }
  /// Drops the rows of groups that are not kept.
  void keep_only(const std::vector<bool>& kept);

  /// Gives every group a new number; dropped groups must be gone.
  void renumber(const std::vector<std::uint32_t>& number);

  /// How many units have more than bounds[i] groups, for each i.
  std::vector<std::int64_t> units_above(std::span<const std::uint64_t> bounds) const;
  /// How many units each group has.
  std::vector<std::uint64_t> units_per_group(std::size_t groups) const;

 private:
  Contributions() = default;
  /// Nothing: the rows cannot be added up here.
  static Result<std::optional<Contributions>> load_streamed(const sql::Release& release,
                                                            const sql::StreamedRows& streamed,
                                                            Groups& groups, Engine& engine,
                                                            RandomSource& random,
                                                            std::optional<std::uint64_t> groups_max,
                                                            bool totals_do);
  /// `features(chunk, row, out)` appends the features of one row of the statement.
  template <class Features>
  static Result<Contributions> gather(const sql::Release& release, const std::string& statement,
                                      std::size_t columns_after_keys, Groups& groups,
                                      Engine& engine, const Features& features);
  template <class Keep>
  void filter(const Keep& keep);
  void keep_rows(std::uint64_t rows_max, RandomSource& random);
  void add_up_groups(const sql::Release& release);

  std::uint64_t groups_limit_ = UINT64_MAX;
  UnitPartials rows_;
  std::shared_ptr<const UnitTotals> totals_;
};

}  // namespace discreet
