#include "engines/unit_rows.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <span>
#include <thread>
#include <unordered_map>

#include "base/parallel.h"
#include "engines/key_codes_internal.h"
#include "engines/row_store_internal.h"
#include "engines/unit_link_internal.h"
#include "engines/unit_names_internal.h"

namespace discreet {
namespace {

constexpr int kPartitionBits = 8;
constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;
// A row is: unit; group, flags and how many source rows it stands for; values. The last is 8 bits
// where the flags (values that are there and conditions that hold) leave them, else it is one.
constexpr std::size_t kFlagsMax = 32, kFlagsBesideTimes = 24;
constexpr std::uint32_t kTimesMax = 255;
constexpr std::int64_t kMergedMax = std::int64_t{1} << 52;  // 255 of them fit 62 bits
constexpr std::uint64_t kRowsForThreads = 50'000;

std::size_t partition_of(std::int64_t unit) {
  // Other bits than the tables inside a partition use.
  std::uint64_t x = static_cast<std::uint64_t>(unit) * 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  return x >> (64 - kPartitionBits);
}

struct Lane {
  Lane(std::size_t keys, std::size_t words) : codes(keys), rows(kPartitions, words) {}
  KeyCodes codes;
  RowStore rows;
  UnitLink::Pairs pairs;  // of the link's statement
  // For the chunk at hand.
  std::vector<std::uint32_t> groups, flags;
  std::vector<std::int64_t> units;
  std::vector<std::uint8_t> nobodys;
  std::vector<std::uint64_t*> places;
  std::vector<std::uint64_t> nowhere;  // where rows of nobody are written
};

/// Where a partition's partials go. There is room for as many as it has rows: memory that is not
/// touched costs nothing.
struct PartitionOutput {
  std::uint32_t* group;
  Int128* values;
  std::size_t size = 0;
  std::vector<std::size_t> ends{};  // one per unit that has groups
};

struct SortedRow {
  std::uint32_t group;
  std::uint32_t marks;  // flags and times
  const std::uint64_t* words;
};

/// What one thread needs to add up a partition, kept from one to the next: memory that is given
/// back and taken again costs more than the sums.
struct Scratch {
  NumberCodes units;
  struct Place {
    std::uint32_t unit, group;
  };
  RawVector<Place> places;  // of row after row, those without a group too
  RawVector<SortedRow> sorted;
  std::vector<std::span<const std::uint64_t>> blocks;
  std::vector<std::vector<std::uint64_t>> spilled;  // by lane
};

}  // namespace

struct UnitRows::State {
  UnitRowsShape shape;
  std::uint64_t memory_max = 0;
  std::size_t words = 2;  // of a row
  int times_bits = 0;
  bool merges = false;  // source rows of one unit, group and flags may share a row
  std::mutex mutex;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::optional<UnitLink> link;
  std::unique_ptr<SpillFile> file;
  UnitTexts texts;
  std::atomic<std::uint64_t> bytes = 0;
  std::uint64_t rows = 0;

  Lane& lane(std::size_t number) {
    const std::lock_guard lock(mutex);
    while (lanes.size() <= number)
      lanes.push_back(std::make_unique<Lane>(shape.keys.size(), words));
    return *lanes[number];
  }
  Result<bool> load_link(Engine& engine);
  void name_units(const EngineChunk& chunk, std::size_t column, Lane& lane);
  bool take_link(const EngineChunk& chunk, Lane& lane);
  bool take(const EngineChunk& chunk, Lane& lane);
  bool find_owners(const EngineChunk& chunk, Lane& lane);
  void place(std::size_t rows_of_chunk, Lane& lane);
  bool keep_within_memory(Lane& lane, std::uint64_t before);
  std::size_t rows_of(std::size_t partition) const;
  void add_up(std::size_t partition, const std::vector<std::vector<std::uint32_t>>& numbers,
              const std::optional<GroupLimit>& limit, Scratch& scratch, PartitionOutput& out) const;
  void add_features(std::span<const SortedRow> same, Int128* out) const;
};

UnitRows::UnitRows(std::unique_ptr<State> state) : state_(std::move(state)) {}
UnitRows::UnitRows(UnitRows&&) noexcept = default;
UnitRows& UnitRows::operator=(UnitRows&&) noexcept = default;
UnitRows::~UnitRows() = default;

void UnitRows::State::name_units(const EngineChunk& chunk, std::size_t column, Lane& lane) {
  const std::size_t size = chunk.size();
  lane.units.resize(size);
  switch (chunk.type(column)) {
    case EngineType::Int64:
    case EngineType::Date:
    case EngineType::Timestamp: {
      const auto units = chunk.int64s(column);
      std::copy(units.begin(), units.end(), lane.units.begin());
      break;
    }
    case EngineType::Varchar:
      for (std::size_t row = 0; row < size; ++row)
        if (!chunk.is_null(column, row)) lane.units[row] = texts.number(chunk.varchar(column, row));
      break;
    case EngineType::HugeInt:
      for (std::size_t row = 0; row < size; ++row) {
        if (chunk.is_null(column, row)) continue;
        const Int128 value = chunk.int128(column, row);
        lane.units[row] = texts.number({reinterpret_cast<const char*>(&value), sizeof(value)});
      }
      break;
    case EngineType::Bool:
    case EngineType::Double:
      throw std::invalid_argument("a unit is a whole number, a date or a text");
  }
}

bool UnitRows::State::take_link(const EngineChunk& chunk, Lane& lane) {
  if (chunk.type(0) != EngineType::Int64) return false;
  name_units(chunk, 1, lane);
  const auto keys = chunk.int64s(0);
  for (std::size_t row = 0; row < chunk.size(); ++row)
    if (!chunk.is_null(0, row) && !chunk.is_null(1, row))
      lane.pairs.emplace_back(keys[row], lane.units[row]);
  return true;
}

// False: it leads to two units, or is no whole number.
Result<bool> UnitRows::State::load_link(Engine& engine) {
  DISCREET_TRY(const VisitedRows visited,
               engine.visit(shape.link_sql, {"link", "unit"},
                            [&](const EngineChunk& chunk, std::size_t number) {
                              return take_link(chunk, lane(number));
                            }));
  if (visited.stopped) return false;
  std::vector<UnitLink::Pairs> parts;
  for (const auto& one : lanes) parts.push_back(std::move(one->pairs));
  link = UnitLink::make(parts);
  return link.has_value();
}

// Whose row each is, or that it is nobody's.
bool UnitRows::State::find_owners(const EngineChunk& chunk, Lane& lane) {
  const std::size_t size = chunk.size();
  lane.nobodys.assign(size, 0);
  if (chunk.has_nulls(0))
    for (std::size_t row = 0; row < size; ++row) lane.nobodys[row] = chunk.is_null(0, row);
  if (!link) {
    name_units(chunk, 0, lane);
    return true;
  }
  if (chunk.type(0) != EngineType::Int64) return false;
  const auto keys = chunk.int64s(0);
  lane.units.resize(size);
  for (const std::int64_t key : keys) link->prefetch(key);
  for (std::size_t row = 0; row < size; ++row) {
    lane.units[row] = lane.nobodys[row] != 0 ? UnitLink::kNobody : link->unit(keys[row]);
    lane.nobodys[row] = lane.units[row] == UnitLink::kNobody;
  }
  return true;
}

// Rows that come one after the other often are one unit's, and of few groups.
void UnitRows::State::place(std::size_t rows_of_chunk, Lane& lane) {
  constexpr std::size_t kLookBack = 3;
  lane.nowhere.resize(words);
  lane.places.resize(rows_of_chunk);
  for (std::size_t row = 0; row < rows_of_chunk; ++row) {
    if (lane.nobodys[row] != 0) {
      lane.places[row] = lane.nowhere.data();
      continue;
    }
    const auto unit = static_cast<std::uint64_t>(lane.units[row]);
    const std::uint64_t marks =
        std::uint64_t{lane.groups[row]} << 32 | std::uint64_t{lane.flags[row]} << times_bits;
    const std::size_t partition = partition_of(lane.units[row]);
    std::uint64_t* found = nullptr;
    for (std::size_t back = 0; merges && back < kLookBack; ++back) {
      std::uint64_t* last = lane.rows.last(partition, back);
      if (last == nullptr || last[0] != unit) break;
      if ((last[1] & ~std::uint64_t{kTimesMax}) == marks && (last[1] & kTimesMax) < kTimesMax) {
        found = last;
        break;
      }
    }
    if (found == nullptr) {
      found = lane.rows.add(partition);
      found[0] = unit;
      found[1] = marks;
    }
    if (times_bits > 0) ++found[1];
    lane.places[row] = found;
  }
}

bool UnitRows::State::take(const EngineChunk& chunk, Lane& lane) {
  const std::size_t size = chunk.size(), first = 1 + shape.keys.size();
  lane.codes.number(chunk, 1, lane.groups);
  if (!find_owners(chunk, lane)) return false;
  lane.flags.assign(size, 0);
  for (std::size_t v = 0; v < shape.values.size(); ++v) {
    const std::size_t column = first + v;
    if (chunk.decimal_digits(column) != shape.values[v].decimal_digits) return false;
    const std::uint32_t flag = std::uint32_t{1} << v;
    if (!chunk.has_nulls(column)) {
      for (std::size_t row = 0; row < size; ++row) lane.flags[row] |= flag;
    } else {
      for (std::size_t row = 0; row < size; ++row)
        if (!chunk.is_null(column, row)) lane.flags[row] |= flag;
    }
  }
  for (std::size_t p = 0; p < shape.conditions.size(); ++p) {
    const std::size_t column = first + shape.values.size() + p;
    const std::uint32_t flag = std::uint32_t{1} << (shape.values.size() + p);
    const auto truths = chunk.booleans(column);
    for (std::size_t row = 0; row < size; ++row)
      if (!chunk.is_null(column, row) && truths[row] != 0) lane.flags[row] |= flag;
  }
  const std::uint64_t before = lane.rows.bytes();
  place(size, lane);
  for (std::size_t v = 0; v < shape.values.size(); ++v) {
    const std::size_t column = first + v;
    const RowValue& wanted = shape.values[v];
    const std::uint32_t flag = std::uint32_t{1} << v;
    const auto write = [&](const auto& value) {
      // What stands where a value is absent means nothing.
      if (!chunk.has_nulls(column)) {
        for (std::size_t row = 0; row < size; ++row)
          lane.places[row][2 + v] += static_cast<std::uint64_t>(value(row));
      } else {
        for (std::size_t row = 0; row < size; ++row)
          if ((lane.flags[row] & flag) != 0)
            lane.places[row][2 + v] += static_cast<std::uint64_t>(value(row));
      }
    };
    switch (chunk.type(column)) {
      case EngineType::Int64: {
        const auto values = chunk.int64s(column);
        write([&](std::size_t row) { return std::clamp(values[row], wanted.lower, wanted.upper); });
        break;
      }
      case EngineType::HugeInt:
        write([&](std::size_t row) {
          return static_cast<std::int64_t>(
              std::clamp<Int128>(chunk.int128(column, row), wanted.lower, wanted.upper));
        });
        break;
      case EngineType::Bool: {
        const auto values = chunk.booleans(column);
        write([&](std::size_t row) {
          return std::clamp<std::int64_t>(values[row] != 0, wanted.lower, wanted.upper);
        });
        break;
      }
      default:
        return false;
    }
  }
  return keep_within_memory(lane, before);
}

// The lane that finds the limit passed makes room with its own rows: the others need no lock.
bool UnitRows::State::keep_within_memory(Lane& lane, std::uint64_t before) {
  const std::uint64_t now = lane.rows.bytes();
  bytes += now - before;
  if (bytes <= memory_max) return true;
  {
    const std::lock_guard lock(mutex);
    if (!file) file = SpillFile::open();
    if (!file) return false;
  }
  bytes -= now;
  return lane.rows.spill(*file);
}

bool UnitRows::fits(const UnitRowsShape& shape) {
  return shape.values.size() + shape.conditions.size() <= kFlagsMax;
}

Result<std::optional<UnitRows>> UnitRows::load(Engine& engine, const std::string& sql,
                                               UnitRowsShape shape, std::uint64_t memory_max) {
  if (!fits(shape)) return std::optional<UnitRows>();
  auto state = std::make_unique<State>();
  state->shape = std::move(shape);
  const UnitRowsShape& wanted = state->shape;
  state->memory_max = memory_max;
  state->words = 2 + wanted.values.size();
  const bool has_room = wanted.values.size() + wanted.conditions.size() <= kFlagsBesideTimes;
  state->times_bits = has_room ? 8 : 0;
  state->merges =
      has_room &&
      std::all_of(wanted.values.begin(), wanted.values.end(),
                  [](const RowValue& value) {
                    return value.lower >= -kMergedMax && value.upper <= kMergedMax;
                  }) &&
      std::none_of(wanted.features.begin(), wanted.features.end(), [](const RowFeature& feature) {
        return feature.kind == RowFeature::Kind::SumOfProducts;
      });
  std::vector<std::string> columns = {wanted.unit};
  columns.insert(columns.end(), wanted.keys.begin(), wanted.keys.end());
  for (const RowValue& value : wanted.values) columns.push_back(value.column);
  columns.insert(columns.end(), wanted.conditions.begin(), wanted.conditions.end());
  if (!wanted.link_sql.empty()) {
    DISCREET_TRY(const bool leads, state->load_link(engine));
    if (!leads) return std::optional<UnitRows>();
  }
  DISCREET_TRY(const VisitedRows visited,
               engine.visit(sql, columns, [&](const EngineChunk& chunk, std::size_t lane) {
                 return state->take(chunk, state->lane(lane));
               }));
  if (visited.stopped) return std::optional<UnitRows>();
  state->rows = visited.rows;
  state->link.reset();
  return std::optional<UnitRows>(UnitRows(std::move(state)));
}

void UnitRows::State::add_features(std::span<const SortedRow> same, Int128* out) const {
  const auto times = [&](const SortedRow& row) {
    return times_bits > 0 ? Int128{row.marks & kTimesMax} : Int128{1};
  };
  const auto value = [&](const SortedRow& row, std::size_t v) {
    return static_cast<std::int64_t>(row.words[2 + v]);
  };
  for (const RowFeature& feature : shape.features) {
    Int128 total = 0;
    const auto flag = [&](std::size_t at) {
      return std::uint32_t{1} << (at + static_cast<std::size_t>(times_bits));
    };
    switch (feature.kind) {
      case RowFeature::Kind::Rows:
        for (const SortedRow& row : same)
          if (!feature.condition ||
              (row.marks & flag(shape.values.size() + *feature.condition)) != 0)
            total += times(row);
        break;
      case RowFeature::Kind::Count:
        for (const SortedRow& row : same)
          if ((row.marks & flag(feature.value)) != 0) total += times(row);
        break;
      case RowFeature::Kind::Sum:  // what is absent was not added
        for (const SortedRow& row : same) total += value(row, feature.value);
        break;
      case RowFeature::Kind::SumOfProducts: {
        const std::uint32_t both = flag(feature.value) | flag(feature.second);
        for (const SortedRow& row : same)
          if ((row.marks & both) == both) {
            Int128 product = Int128{value(row, feature.value)} * value(row, feature.second);
            for (int i = 1; i < feature.power; ++i) product *= value(row, feature.value);
            for (int i = 1; i < feature.second_power; ++i) product *= value(row, feature.second);
            total += product;
          }
        break;
      }
    }
    *out++ = total;
  }
}

namespace {

/// Rows that were put into a file cannot be read back.
struct SpillLost : std::exception {};

/// Keeps `most` of them, in their order: the first places of a shuffle that the seed decides, its
/// numbers made as by SplitMix64 (Steele, Lea, Flood 2014).
void keep_some(std::vector<std::size_t>& all, std::size_t most, std::uint64_t seed) {
  for (std::size_t i = 0; i < most; ++i) {
    std::uint64_t x = seed += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    std::swap(all[i], all[i + static_cast<std::size_t>((UInt128{x} * (all.size() - i)) >> 64)]);
  }
  all.resize(most);
  std::sort(all.begin(), all.end());
}

}  // namespace

std::size_t UnitRows::State::rows_of(std::size_t partition) const {
  std::size_t count = 0;
  for (const auto& lane : lanes) count += lane->rows.rows(partition);
  return count;
}

void UnitRows::State::add_up(std::size_t partition,
                             const std::vector<std::vector<std::uint32_t>>& numbers,
                             const std::optional<GroupLimit>& limit, Scratch& scratch,
                             PartitionOutput& out) const {
  using Row = SortedRow;
  // Number the units, then sort rows by unit: two passes over memory that is still near.
  const std::size_t count = rows_of(partition);
  if (count == 0) return;
  auto& [units, places, sorted, blocks, spilled] = scratch;
  units.clear();
  blocks.clear();
  if (places.size() < count) {
    places.resize(count);
    sorted.resize(count);
  }
  spilled.resize(lanes.size());
  std::vector<std::uint32_t> next(1);  // by unit: where its next row goes
  std::size_t at = 0;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    const auto take_block = [&](std::span<const std::uint64_t> block) {
      constexpr std::size_t kAhead = 16;
      const std::size_t ahead = kAhead * words;
      blocks.push_back(block);
      for (std::size_t word = 0; word < block.size(); word += words) {
        if (word + ahead < block.size())
          __builtin_prefetch(&numbers[l][block[word + ahead + 1] >> 32]);
        const std::uint64_t* row = &block[word];
        const std::uint32_t group = numbers[l][row[1] >> 32];
        places[at].group = group;
        if (group != kDropped) {
          const std::uint32_t unit = units.of(static_cast<std::int64_t>(row[0]));
          if (unit + std::size_t{1} == next.size()) next.push_back(0);
          ++next[unit + std::size_t{1}];
          places[at].unit = unit;
        }
        ++at;
      }
    };
    if (!lanes[l]->rows.read(partition, file.get(), spilled[l], take_block)) throw SpillLost();
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<std::uint32_t> begin = next;
  at = 0;
  for (const auto& block : blocks)
    for (std::size_t word = 0; word < block.size(); word += words) {
      const Scratch::Place& place = places[at++];
      if (place.group == kDropped) continue;
      const std::uint64_t* row = &block[word];
      sorted[next[place.unit]++] = {place.group, static_cast<std::uint32_t>(row[1]), row};
    }

  const auto by_group = [](const Row& a, const Row& b) { return a.group < b.group; };
  std::vector<std::size_t> firsts;
  out.ends.reserve(units.size());
  for (std::uint32_t unit = 0; unit < units.size(); ++unit) {
    const std::span<Row> mine(sorted.data() + begin[unit], begin[unit + 1] - begin[unit]);
    if (mine.size() <= 16) {
      for (std::size_t i = 1; i < mine.size(); ++i) {
        const Row moved = mine[i];
        std::size_t j = i;
        for (; j > 0 && moved.group < mine[j - 1].group; --j) mine[j] = mine[j - 1];
        mine[j] = moved;
      }
    } else {
      std::sort(mine.begin(), mine.end(), by_group);
    }
    firsts.clear();
    for (std::size_t i = 0; i < mine.size(); ++i)
      if (i == 0 || mine[i].group != mine[i - 1].group) firsts.push_back(i);
    if (limit && firsts.size() > limit->most) {
      keep_some(firsts, limit->most,
                keyed_hash(limit->key, static_cast<std::uint64_t>(units.value(unit)), 0));
    }
    for (const std::size_t first : firsts) {
      std::size_t end = first + 1;
      while (end < mine.size() && mine[end].group == mine[first].group) ++end;
      out.group[out.size] = mine[first].group;
      add_features(mine.subspan(first, end - first), out.values + out.size * shape.features.size());
      ++out.size;
    }
    if (!firsts.empty()) out.ends.push_back(out.size);
  }
}

Result<UnitPartials> UnitRows::add_up(const Numbering& number,
                                      const std::optional<GroupLimit>& limit,
                                      const ManyNumbering& number_many) const {
  const State& s = *state_;
  std::vector<std::vector<std::uint32_t>> numbers;  // by lane, by its own number
  std::vector<EngineValue> keys;
  for (const auto& lane : s.lanes) {
    auto& of_lane = numbers.emplace_back();
    if (const auto* wholes = number_many ? lane->codes.wholes() : nullptr) {
      of_lane.resize(lane->codes.size());
      of_lane[0] = lane->codes.keys(0, keys) ? number(keys).value_or(kDropped) : kDropped;
      number_many(*wholes, std::span(of_lane).subspan(1));
      continue;
    }
    of_lane.reserve(lane->codes.size());
    for (std::uint32_t group = 0; group < lane->codes.size(); ++group)
      of_lane.push_back(lane->codes.keys(group, keys) ? number(keys).value_or(kDropped) : kDropped);
  }
  const bool threads = s.rows >= kRowsForThreads;
  const std::size_t features = s.shape.features.size();
  std::vector<std::size_t> room(kPartitions + 1);
  for (std::size_t i = 0; i < kPartitions; ++i) room[i + 1] = room[i] + s.rows_of(i);
  UnitPartials all;
  all.group.resize(room.back());
  all.values.resize(room.back() * features);
  std::vector<PartitionOutput> parts;
  for (std::size_t i = 0; i < kPartitions; ++i)
    parts.push_back({all.group.data() + room[i], all.values.data() + room[i] * features});
  std::vector<Scratch> scratch(worker_count());
  try {
    for_each_parallel(kPartitions, threads, [&](std::size_t i, std::size_t worker) {
      s.add_up(i, numbers, limit, scratch[worker], parts[i]);
    });
  } catch (const SpillLost&) {
    return Error{ErrorCode::Unavailable, kStatementFailed};
  }
  std::size_t units = 0;
  for (const PartitionOutput& part : parts) units += part.ends.size();
  all.begin.reserve(units);
  all.end.reserve(units);
  for (std::size_t i = 0; i < kPartitions; ++i) {
    std::size_t begin = room[i];
    for (const std::size_t end : parts[i].ends) {
      all.begin.push_back(begin);
      all.end.push_back(room[i] + end);
      begin = room[i] + end;
    }
  }
  return all;
}

}  // namespace discreet
