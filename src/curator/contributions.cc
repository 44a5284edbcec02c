#include "curator/contributions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>

#include "base/parallel.h"
#include "engines/unit_rows.h"
#include "random/uniform.h"

namespace discreet {
namespace {

// Units as numbers 0, 1, ...: by value, never by a hash alone, since two people taken for one would
// not be protected from each other's removal.
class UnitNumbers {
 public:
  std::uint32_t of(const EngineChunk& chunk, EngineType type, std::size_t row) {
    if (type == EngineType::Varchar) return number(texts_, std::string(chunk.varchar(0, row)));
    if (type == EngineType::HugeInt) {
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

// Rows that take more are put into a file meanwhile.
constexpr std::uint64_t kStreamedBytesMax = std::uint64_t{4} << 30;

// Keys that come as their places in a list, or from a range that is not too wide to be numbered;
// the next number is for all others.
std::optional<UnitRowsShape::KeyRange> key_range(const sql::Key& key, std::size_t codes) {
  constexpr std::uint64_t kWidest = 4096;
  if (codes > 0) return UnitRowsShape::KeyRange{1, static_cast<std::int64_t>(codes) + 1};
  const auto* range = std::get_if<sql::RangeKey>(&key.domain);
  if (range == nullptr || key.type.kind != sql::TypeKind::Integer || range->lower > range->upper ||
      static_cast<std::uint64_t>(range->upper) - static_cast<std::uint64_t>(range->lower) >=
          kWidest ||
      range->upper == INT64_MAX)
    return std::nullopt;
  return UnitRowsShape::KeyRange{range->lower, range->upper + 1};
}

// Nothing where a feature needs the different values of a unit.
std::optional<UnitRowsShape> streaming_shape(const sql::Release& release,
                                             const sql::StreamedRows& streamed) {
  if (streamed.sql.empty()) return std::nullopt;
  UnitRowsShape shape;
  shape.unit = "unit";
  for (std::size_t i = 0; i < release.keys.size(); ++i) {
    const sql::Key& key = release.keys[i];
    shape.keys.push_back(key.column);
    shape.key_ranges.push_back(key_range(key, streamed.codes[i].size()));
  }
  std::size_t conditions = 0;
  for (const sql::Feature& feature : release.features) {
    using Kind = sql::Feature::Kind;
    RowFeature made{RowFeature::Kind::Rows, feature.value.value_or(0), feature.second.value_or(0),
                    feature.condition};
    switch (feature.kind) {
      case Kind::Rows:
        break;
      case Kind::Count:
        made.kind = RowFeature::Kind::Count;
        break;
      case Kind::Sum:
        made.kind = RowFeature::Kind::Sum;
        break;
      case Kind::SumOfSquares:
        made.kind = RowFeature::Kind::SumOfProducts;
        made.second = made.value;
        break;
      case Kind::SumOfProducts:
        made.kind = RowFeature::Kind::SumOfProducts;
        made.power = feature.power;
        made.second_power = feature.second_power;
        break;
      case Kind::Distinct:
        return std::nullopt;
    }
    if (feature.condition) conditions = std::max(conditions, *feature.condition + 1);
    shape.features.push_back(made);
  }
  // A value that is only counted may be a text, and one that only a stream reads is not wanted.
  std::vector<std::optional<std::size_t>> place(release.values.size());
  for (RowFeature& feature : shape.features) {
    if (feature.kind == RowFeature::Kind::Rows) continue;
    for (std::size_t* value : {&feature.value, &feature.second}) {
      if (value == &feature.second && feature.kind != RowFeature::Kind::SumOfProducts) continue;
      if (release.values[*value].type.kind == sql::TypeKind::Text) return std::nullopt;
      if (!place[*value]) {
        place[*value] = shape.values.size();
        shape.values.push_back({"q" + std::to_string(*value + 1), release.values[*value].lower,
                                release.values[*value].upper, streamed.digits[*value]});
      }
      *value = *place[*value];
    }
    if (feature.kind != RowFeature::Kind::SumOfProducts) feature.second = feature.value;
  }
  for (std::size_t i = 0; i < conditions; ++i)
    shape.conditions.push_back("p" + std::to_string(i + 1));
  if (!UnitRows::fits(shape)) return std::nullopt;
  return shape;
}

// The statement by places, where whose rows they are is known already.
class PlacedRows {
 public:
  /// Nothing: it is not known, or not yet.
  static Result<std::optional<PlacedRows>> find(const sql::StreamedRows& streamed,
                                                const UnitRowsShape& shape, Engine& engine) {
    const auto& tables = streamed.owners_tables;
    const std::string state =
        streamed.placed_sql.empty() ? std::string() : engine.files_state(tables);
    if (state.empty()) return std::optional<PlacedRows>();
    const OwnersAsked asked{streamed.owners_sql,
                            streamed.owners_by_link ? streamed.link_sql : std::string(), tables};
    PlacedRows found(streamed, shape, engine, state);
    DISCREET_TRY(found.shape_.owners, engine.owners_kept()->find(engine, asked, state));
    if (!found.shape_.owners) return std::optional<PlacedRows>();
    return std::optional(std::move(found));
  }

  Result<std::optional<UnitRows>> rows() const {
    DISCREET_TRY(auto loaded,
                 UnitRows::load(engine_, streamed_.placed_sql, shape_, kStreamedBytesMax));
    return if_unchanged(std::move(loaded));
  }
  Result<std::optional<UnitTotals>> totals(const UnitRows::Numbering& number,
                                           const UnitRows::ManyNumbering& many) const {
    DISCREET_TRY(auto loaded, UnitTotals::load(engine_, streamed_.placed_sql, shape_, number, many,
                                               kStreamedBytesMax));
    return if_unchanged(std::move(loaded));
  }

 private:
  PlacedRows(const sql::StreamedRows& streamed, const UnitRowsShape& shape, Engine& engine,
             std::string state)
      : streamed_(streamed), shape_(shape), engine_(engine), state_(std::move(state)) {}
  /// Nothing: the files changed while they were read.
  template <class Loaded>
  std::optional<Loaded> if_unchanged(std::optional<Loaded> loaded) const {
    if (engine_.files_state(streamed_.owners_tables) != state_) loaded.reset();
    return loaded;
  }

  const sql::StreamedRows& streamed_;
  UnitRowsShape shape_;
  Engine& engine_;
  std::string state_;
};

// The groups of keys as the statement gives them: some come as their places in a list.
class GroupNumbers {
 public:
  GroupNumbers(const sql::Release& release, const sql::StreamedRows& streamed, Groups& groups)
      : release_(release), streamed_(streamed), groups_(groups) {}

  UnitRows::Numbering each() const {
    return [this](const std::vector<Cell>& keys) {
      return groups_.find(coded() ? named(keys) : keys);
    };
  }
  UnitRows::ManyNumbering many() const {
    if (coded()) return nullptr;
    return [this](const auto& keys, const auto& numbers) { groups_.find(keys, numbers); };
  }

 private:
  bool coded() const {
    return std::any_of(streamed_.codes.begin(), streamed_.codes.end(),
                       [](const auto& list) { return !list.empty(); });
  }
  std::vector<Cell> named(std::vector<Cell> keys) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto* code = std::get_if<std::int64_t>(&keys[i]);
      const auto& list = streamed_.codes[i];
      if (code == nullptr || list.empty()) continue;
      // No engine is trusted to keep within the list: what is not there is no group.
      const bool known = *code >= 1 && static_cast<std::size_t>(*code) <= list.size();
      keys[i] = known ? to_cell(list[static_cast<std::size_t>(*code) - 1], release_.keys[i].type)
                      : Cell();
    }
    return keys;
  }

  const sql::Release& release_;
  const sql::StreamedRows& streamed_;
  Groups& groups_;
};

// What the workers counted; one that had nothing to do has no counts.
template <class Count>
std::vector<Count> added_up(std::vector<std::vector<Count>> of_worker, std::size_t size) {
  std::vector<Count> all = std::move(of_worker.front());
  all.resize(size);
  for (std::size_t worker = 1; worker < of_worker.size(); ++worker)
    for (std::size_t i = 0; i < of_worker[worker].size(); ++i) all[i] += of_worker[worker][i];
  return all;
}

}  // namespace

template <class Features>
Result<Contributions> Contributions::gather(const sql::Release& release,
                                            const std::string& statement,
                                            std::size_t columns_after_keys, Groups& groups,
                                            Engine& engine, const Features& features) {
  DISCREET_TRY(EngineRows rows, engine.query(statement));
  const auto columns = rows.columns();
  const std::size_t keys = release.keys.size();
  Contributions loaded;
  UnitPartials& all = loaded.rows_;
  all.features = release.features.size();
  DISCREET_CHECK(columns.size() >= 1 + keys + columns_after_keys,
                 "the statement gives unit, keys, and what features are made of");

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
      features(*chunk, columns, row, values);
    }
  }

  // Counting sort by unit.
  all.units = numbers.count();
  all.ends.assign(all.units, 0);
  for (const std::uint32_t unit : unit_of_row) ++all.ends[unit];
  all.begins.resize(all.units);
  std::exclusive_scan(all.ends.begin(), all.ends.end(), all.begins.begin(), std::size_t{0});
  std::inclusive_scan(all.ends.begin(), all.ends.end(), all.ends.begin());
  std::vector<std::size_t> next(all.begins.begin(), all.begins.end());
  all.groups.resize(unit_of_row.size());
  RawVector<Int128> by_unit(values.size());
  for (std::size_t row = 0; row < unit_of_row.size(); ++row) {
    const std::size_t to = next[unit_of_row[row]]++;
    all.groups[to] = group_of_row[row];
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * all.features), all.features,
                by_unit.begin() + static_cast<std::ptrdiff_t>(to * all.features));
  }
  all.numbers = Wholes(std::move(by_unit));
  return loaded;
}

Result<Contributions> Contributions::load(const sql::Release& release, Groups& groups,
                                          Engine& engine, RandomSource& random,
                                          std::optional<std::uint64_t> groups_max, bool totals_do) {
  if (const auto& rows = release.over_files.rows; !rows.sql.empty()) {
    DISCREET_TRY(Engine * files, engine.over_files({release.over_files.tables,
                                                    {rows.sql, rows.linked_sql, rows.link_sql,
                                                     rows.placed_sql, rows.owners_sql}}));
    // Rows that cannot be read there are left to the engine whose they are.
    if (files != nullptr && files->check(rows.sql)) {
      auto loaded = load_streamed(release, rows, groups, *files, random, groups_max, totals_do);
      if (loaded && *loaded) return *std::move(*loaded);
    }
  }
  DISCREET_TRY(auto streamed, load_streamed(release, release.streamed, groups, engine, random,
                                            groups_max, totals_do));
  if (streamed) return *std::move(streamed);
  DISCREET_TRY(Contributions loaded, load_partials(release, groups, engine));
  if (groups_max) loaded.keep_groups(*groups_max, random);
  return loaded;
}

Result<std::optional<Contributions>> Contributions::load_streamed(
    const sql::Release& release, const sql::StreamedRows& streamed, Groups& groups, Engine& engine,
    RandomSource& random, std::optional<std::uint64_t> groups_max, bool totals_do) {
  auto shape = streaming_shape(release, streamed);
  if (!shape) return std::optional<Contributions>();
  if (groups.is_public()) shape->groups_known = groups.size();
  const GroupNumbers numbers(release, streamed, groups);
  Contributions loaded;
  std::optional<UnitRows> rows;
  DISCREET_TRY(const auto placed, PlacedRows::find(streamed, *shape, engine));
  if (totals_do && !groups_max) {
    std::optional<UnitTotals> totals;
    if (placed) {
      DISCREET_TRY(totals, placed->totals(numbers.each(), numbers.many()));
    } else if (streamed.link_sql.empty() && engine.restarts_cheaply()) {
      DISCREET_TRY(totals, UnitTotals::load(engine, streamed.sql, *shape, numbers.each(),
                                            numbers.many(), kStreamedBytesMax));
    }
    if (totals) {
      loaded.totals_ = std::make_shared<const UnitTotals>(*std::move(totals));
      loaded.rows_ = loaded.totals_->totals();
      return std::optional(std::move(loaded));
    }
  }
  if (placed) {
    DISCREET_TRY(rows, placed->rows());
  }
  if (!rows && !streamed.link_sql.empty()) {
    shape->link_sql = streamed.link_sql;
    DISCREET_TRY(rows, UnitRows::load(engine, streamed.linked_sql, *shape, kStreamedBytesMax));
    shape->link_sql.clear();
  }
  if (!rows) {
    DISCREET_TRY(rows, UnitRows::load(engine, streamed.sql, *shape, kStreamedBytesMax));
  }
  if (!rows) return std::optional<Contributions>();
  std::optional<GroupLimit> limit;
  if (groups_max) limit = {*groups_max, {random.bits64(), random.bits64()}};
  DISCREET_TRY(loaded.rows_, rows->add_up(numbers.each(), limit, numbers.many()));
  loaded.groups_limit_ = groups_max.value_or(UINT64_MAX);
  return std::optional(std::move(loaded));
}

Result<Contributions> Contributions::load_partials(const sql::Release& release, Groups& groups,
                                                   Engine& engine) {
  const std::size_t first = 1 + release.keys.size(), count = release.features.size();
  return gather(
      release, release.partials_sql, count, groups, engine,
      [&](const EngineChunk& chunk, const auto&, std::size_t row, auto& out) {
        for (std::size_t f = 0; f < count; ++f)
          out.push_back(chunk.is_null(first + f, row) ? Int128{0} : chunk.int128(first + f, row));
      });
}

Result<Contributions> Contributions::load_sample(const sql::Release& release,
                                                 std::uint64_t rows_max, Groups& groups,
                                                 Engine& engine, RandomSource& random) {
  const std::size_t first = 1 + release.keys.size(),
                    first_condition = first + release.values.size();
  // Different values cannot be added up: until the sample is drawn a row holds its value's number,
  // from 1, and 0 for none.
  std::map<Cell, Int128> numbers;
  const auto of_row = [&](const EngineChunk& chunk, const auto& columns, std::size_t row,
                          auto& out) {
    const auto q = [&](std::size_t value) { return chunk.int128(first + value, row); };
    const auto absent = [&](std::size_t column) { return chunk.is_null(column, row); };
    for (const sql::Feature& feature : release.features) {
      using Kind = sql::Feature::Kind;
      if (feature.kind == Kind::Rows) {
        const bool counts =
            !feature.condition || (!absent(first_condition + *feature.condition) &&
                                   chunk.boolean(first_condition + *feature.condition, row));
        out.push_back(counts ? 1 : 0);
        continue;
      }
      const std::size_t column = first + *feature.value;
      if (absent(column) || (feature.second && absent(first + *feature.second))) {
        out.push_back(0);
      } else if (feature.kind == Kind::Distinct) {
        const Cell cell = read_cell(chunk, columns[column].type, column, row);
        out.push_back(numbers.try_emplace(cell, std::ssize(numbers) + 1).first->second);
      } else if (feature.kind == Kind::Count) {
        out.push_back(1);
      } else if (feature.kind == Kind::Sum) {
        out.push_back(q(*feature.value));
      } else {
        const std::size_t other =
            feature.kind == Kind::SumOfProducts ? *feature.second : *feature.value;
        Int128 product = 1;
        for (int i = 0; i < feature.power; ++i) product *= q(*feature.value);
        for (int i = 0; i < feature.second_power; ++i) product *= q(other);
        out.push_back(product);
      }
    }
  };
  DISCREET_TRY(Contributions loaded,
               gather(release, release.rows_sql, release.values.size(), groups, engine, of_row));
  loaded.keep_rows(rows_max, random);
  loaded.add_up_groups(release);
  loaded.groups_limit_ = rows_max;
  return loaded;
}

// One row for each group of a unit, as the engine's statement would have it.
void Contributions::add_up_groups(const sql::Release& release) {
  UnitPartials added;
  added.units = units();
  added.features = features();
  RawVector<Int128> totals;
  for (std::size_t unit = 0; unit < units(); ++unit) {
    std::map<std::uint32_t, std::vector<std::size_t>> rows_of;
    for (std::size_t row = begin(unit); row < end(unit); ++row) rows_of[group(row)].push_back(row);
    added.begins.push_back(added.groups.size());
    for (const auto& [number, rows] : rows_of) {
      added.groups.push_back(number);
      for (std::size_t f = 0; f < features(); ++f) {
        std::set<Int128> different;
        Int128 sum = 0;
        for (const std::size_t row : rows) {
          sum += values(row)[f];
          if (values(row)[f] != 0) different.insert(values(row)[f]);
        }
        const bool is_distinct = release.features[f].kind == sql::Feature::Kind::Distinct;
        totals.push_back(is_distinct ? Int128{std::ssize(different)} : sum);
      }
    }
    added.ends.push_back(added.groups.size());
  }
  added.numbers = Wholes(std::move(totals));
  rows_ = std::move(added);
}

void Contributions::for_each_piece(
    const std::function<void(std::size_t, std::size_t, std::size_t)>& visit, bool threads) const {
  constexpr std::size_t kPieces = 64, kUnitsForThreads = 20'000;
  for_each_parallel(kPieces, threads && units() >= kUnitsForThreads,
                    [&](std::size_t piece, std::size_t worker) {
                      visit(units() * piece / kPieces, units() * (piece + 1) / kPieces, worker);
                    });
}

template <class Keep>
void Contributions::filter(const Keep& keep) {
  rows_.spell_out();
  for_each_piece([&](std::size_t unit, std::size_t last, std::size_t) {
    for (; unit < last; ++unit) {
      std::size_t to = begin(unit);
      for (std::size_t from = to; from < end(unit); ++from)
        if (keep(from)) rows_.move_row(from, to++);
      rows_.ends[unit] = to;
    }
  });
}

void Contributions::keep_groups(std::uint64_t groups_max, RandomSource& random) {
  keep_rows(groups_max, random);  // a unit has at most one row per group
  groups_limit_ = std::min(groups_limit_, groups_max);
}

void Contributions::keep_rows(std::uint64_t rows_max, RandomSource& random) {
  rows_.spell_out();
  std::vector<std::size_t> order;
  for (std::size_t unit = 0; unit < units(); ++unit) {
    const std::size_t first = begin(unit), count = end(unit) - first;
    if (count <= rows_max) continue;
    order.resize(count);
    std::iota(order.begin(), order.end(), first);
    // The first rows_max places of a uniform shuffle stay.
    for (std::size_t i = 0; i < rows_max; ++i)
      std::swap(order[i], order[i + uniform_below(count - i, random)]);
    order.resize(rows_max);
    std::sort(order.begin(), order.end());
    std::size_t to = first;
    for (const std::size_t from : order) rows_.move_row(from, to++);
    rows_.ends[unit] = to;
  }
}

void Contributions::keep_only(const std::vector<bool>& kept) {
  filter([&](std::size_t row) { return kept[group(row)]; });
}

void Contributions::renumber(const std::vector<std::uint32_t>& number) {
  rows_.spell_out();
  for_each_piece([&](std::size_t unit, std::size_t last, std::size_t) {
    for (; unit < last; ++unit)
      for (std::size_t row = begin(unit); row < end(unit); ++row)
        rows_.groups[row] = number[group(row)];
  });
}

std::vector<std::int64_t> Contributions::units_above(std::span<const std::uint64_t> bounds) const {
  std::vector<std::vector<std::int64_t>> of_worker(worker_count());
  for_each_piece([&](std::size_t unit, std::size_t last, std::size_t worker) {
    auto& above = of_worker[worker];
    above.resize(bounds.size());
    for (; unit < last; ++unit) {
      const std::size_t count = end(unit) - begin(unit);
      for (std::size_t i = 0; i < bounds.size() && count > bounds[i]; ++i) ++above[i];
    }
  });
  return added_up(std::move(of_worker), bounds.size());
}

std::vector<std::uint64_t> Contributions::units_per_group(std::size_t groups) const {
  // Each thread has counts of its own: not of many millions of groups.
  constexpr std::size_t kGroupsForThreads = std::size_t{1} << 22;
  std::vector<std::vector<std::uint64_t>> of_worker(worker_count());
  for_each_piece(
      [&](std::size_t unit, std::size_t last, std::size_t worker) {
        auto& found = of_worker[worker];
        found.resize(groups);
        for (; unit < last; ++unit)  // a unit has at most one row per group
          for (std::size_t row = begin(unit); row < end(unit); ++row) ++found[group(row)];
      },
      groups <= kGroupsForThreads);
  return added_up(std::move(of_worker), groups);
}

}  // namespace discreet
