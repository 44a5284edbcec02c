// What each privacy unit adds to each group, in exact integers: the rows of a release's engine
// statement, gathered by unit. Everything that bounds a unit's influence works on this.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "curator/groups.h"
#include "random/random_source.h"

namespace discreet {

class Contributions {
 public:
  /// Runs `release.partials_sql`. Rows outside the public domain are dropped.
  static Result<Contributions> load(const sql::Release& release, Groups& groups, DuckDb& engine);

  std::size_t units() const { return begin_.size() - 1; }
  std::size_t features() const { return features_; }
  /// Rows of a unit are begin(u) .. begin(u + 1) - 1; each is one group of it.
  std::size_t begin(std::size_t unit) const { return begin_[unit]; }
  std::uint32_t group(std::size_t row) const { return group_[row]; }
  std::span<const Int128> values(std::size_t row) const {
    return {values_.data() + row * features_, features_};
  }
  std::size_t rows() const { return group_.size(); }

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
  template <class Keep>
  void filter(const Keep& keep);

  std::size_t features_ = 0;
  std::uint64_t groups_limit_ = UINT64_MAX;
  std::vector<std::size_t> begin_ = {0};
  std::vector<std::uint32_t> group_;
  std::vector<Int128> values_;
};

}  // namespace discreet
