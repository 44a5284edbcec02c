#include "curator/contributions.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>

#include "random/uniform.h"

namespace discreet {
namespace {

// Units as numbers 0, 1, ...: by value, never by a hash alone, since two people taken for one would
// not be protected from each other's removal.
class UnitNumbers {
 public:
  std::uint32_t of(const DuckDbChunk& chunk, DuckDbType type, std::size_t row) {
    if (type == DuckDbType::Varchar) return number(texts_, std::string(chunk.varchar(0, row)));
    if (type == DuckDbType::HugeInt) {
      const Int128 value = chunk.int128(0, row);
      return number(texts_, std::string(reinterpret_cast<const char*>(&value), sizeof(value)));
    }
    return number(wholes_, chunk.int64s(0)[row]);
  }
  std::uint32_t count() const { return count_; }

 private:
  template <class Map, class Key>
  std::uint32_t number(Map& map, Key&& key) {
    const auto [at, is_new] = map.try_emplace(std::forward<Key>(key), count_);
    if (is_new) ++count_;
    return at->second;
  }
  std::unordered_map<std::int64_t, std::uint32_t> wholes_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::uint32_t count_ = 0;
};

}  // namespace

Result<Contributions> Contributions::load(const sql::Release& release, Groups& groups,
                                          DuckDb& engine) {
  DISCREET_TRY(DuckDbRows rows, engine.query(release.partials_sql));
  const auto columns = rows.columns();
  const std::size_t keys = release.keys.size();
  Contributions loaded;
  loaded.features_ = release.features.size();
  DISCREET_CHECK(columns.size() == 1 + keys + loaded.features_,
                 "partials are unit, keys, features");

  UnitNumbers numbers;
  std::vector<std::uint32_t> unit_of_row, group_of_row;
  std::vector<Int128> values;
  std::vector<Cell> tuple(keys);
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) break;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      if (chunk->is_null(0, row))
        continue;  // nobody's row: it has no unit to protect, and is not answered
      for (std::size_t key = 0; key < keys; ++key)
        tuple[key] = read_cell(*chunk, columns[1 + key].type, 1 + key, row);
      const auto group = groups.find(tuple);
      if (!group) continue;
      unit_of_row.push_back(numbers.of(*chunk, columns[0].type, row));
      group_of_row.push_back(*group);
      for (std::size_t f = 0; f < loaded.features_; ++f)
        values.push_back(chunk->is_null(1 + keys + f, row) ? Int128{0}
                                                           : chunk->int128(1 + keys + f, row));
    }
  }

  // Counting sort by unit.
  loaded.begin_.assign(numbers.count() + std::size_t{1}, 0);
  for (const std::uint32_t unit : unit_of_row) ++loaded.begin_[unit + std::size_t{1}];
  std::partial_sum(loaded.begin_.begin(), loaded.begin_.end(), loaded.begin_.begin());
  std::vector<std::size_t> next(loaded.begin_.begin(), loaded.begin_.end() - 1);
  loaded.group_.resize(unit_of_row.size());
  loaded.values_.resize(values.size());
  for (std::size_t row = 0; row < unit_of_row.size(); ++row) {
    const std::size_t to = next[unit_of_row[row]]++;
    loaded.group_[to] = group_of_row[row];
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * loaded.features_),
                loaded.features_,
                loaded.values_.begin() + static_cast<std::ptrdiff_t>(to * loaded.features_));
  }
  return loaded;
}

template <class Keep>
void Contributions::filter(const Keep& keep) {
  std::size_t to = 0;
  std::size_t from = 0;
  for (std::size_t unit = 0; unit + 1 < begin_.size(); ++unit) {
    const std::size_t end = begin_[unit + 1];
    for (; from < end; ++from) {
      if (!keep(unit, from)) continue;
      group_[to] = group_[from];
      std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(from * features_), features_,
                  values_.begin() + static_cast<std::ptrdiff_t>(to * features_));
      ++to;
    }
    begin_[unit + 1] = to;
  }
  group_.resize(to);
  values_.resize(to * features_);
}

void Contributions::keep_groups(std::uint64_t groups_max, RandomSource& random) {
  std::vector<bool> kept(rows(), true);
  std::vector<std::size_t> order;
  for (std::size_t unit = 0; unit < units(); ++unit) {
    const std::size_t count = begin_[unit + 1] - begin_[unit];
    if (count <= groups_max) continue;
    order.resize(count);
    std::iota(order.begin(), order.end(), begin_[unit]);
    // The first groups_max places of a uniform shuffle stay.
    for (std::size_t i = 0; i < groups_max; ++i)
      std::swap(order[i], order[i + uniform_below(count - i, random)]);
    for (std::size_t i = groups_max; i < count; ++i) kept[order[i]] = false;
  }
  filter([&](std::size_t, std::size_t row) { return kept[row]; });
  groups_limit_ = std::min(groups_limit_, groups_max);
}

void Contributions::keep_only(const std::vector<bool>& kept) {
  filter([&](std::size_t, std::size_t row) { return kept[group_[row]]; });
}

void Contributions::renumber(const std::vector<std::uint32_t>& number) {
  for (std::uint32_t& group : group_) group = number[group];
}

std::vector<std::int64_t> Contributions::units_above(std::span<const std::uint64_t> bounds) const {
  std::vector<std::int64_t> above(bounds.size());
  for (std::size_t unit = 0; unit < units(); ++unit) {
    const std::size_t count = begin_[unit + 1] - begin_[unit];
    for (std::size_t i = 0; i < bounds.size() && count > bounds[i]; ++i) ++above[i];
  }
  return above;
}

std::vector<std::uint64_t> Contributions::units_per_group(std::size_t groups) const {
  std::vector<std::uint64_t> units(groups);
  for (const std::uint32_t group : group_) ++units[group];  // a unit has at most one row per group
  return units;
}

}  // namespace discreet
