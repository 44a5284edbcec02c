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

#include "engines/key_codes_internal.h"

namespace discreet {
namespace {

constexpr int kPartitionBits = 8;
constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;
constexpr std::size_t kBlockWords = 4096;  // 32 KiB a block
constexpr std::size_t kFlagsMax = 32;      // values and conditions of a row
constexpr std::uint64_t kRowsForThreads = 50'000;
constexpr std::uint32_t kDropped = UINT32_MAX;

std::size_t partition_of(std::int64_t unit) {
  // Other bits than the tables inside a partition use.
  std::uint64_t x = static_cast<std::uint64_t>(unit) * 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  return x >> (64 - kPartitionBits);
}

/// SipHash-1-3 (Aumasson, Bernstein 2012) of two words.
std::uint64_t keyed_hash(const std::array<std::uint64_t, 2>& key, std::uint64_t a,
                         std::uint64_t b) {
  std::uint64_t v0 = key[0] ^ 0x736f6d6570736575u, v1 = key[1] ^ 0x646f72616e646f6du;
  std::uint64_t v2 = key[0] ^ 0x6c7967656e657261u, v3 = key[1] ^ 0x7465646279746573u;
  const auto round = [&] {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  };
  for (const std::uint64_t word : {a, b, std::uint64_t{16} << 56}) {
    v3 ^= word;
    round();
    v0 ^= word;
  }
  v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

/// Numbers for units that are texts, the same on all threads.
class UnitTexts {
 public:
  std::int64_t number(std::string_view text) {
    const std::uint64_t hashed = TextCodes::hash(text);
    const std::size_t shard = hashed >> 58;
    const std::lock_guard lock(shards_[shard].mutex);
    return static_cast<std::int64_t>(std::uint64_t{shards_[shard].codes.of(text, hashed)} << 6 |
                                     shard);
  }

 private:
  struct Shard {
    std::mutex mutex;
    TextCodes codes;
  };
  std::array<Shard, 64> shards_;
};

/// Rows of one thread in one partition, in blocks. A row is: unit, group and flags, values.
struct RowBlocks {
  std::vector<std::unique_ptr<std::uint64_t[]>> blocks;
  std::size_t used = 0;  // words of the last block
  std::size_t rows = 0;
};

struct Lane {
  explicit Lane(std::size_t keys) : codes(keys), partitions(kPartitions) {}
  KeyCodes codes;
  std::vector<RowBlocks> partitions;
  // For the chunk at hand.
  std::vector<std::uint32_t> groups, flags;
  std::vector<std::uint64_t*> places;
  std::vector<std::uint64_t> nowhere;  // where rows of nobody are written
};

struct PartitionOutput {
  std::vector<std::size_t> ends;  // one per unit that has groups
  std::vector<std::uint32_t> group;
  RawVector<Int128> values;
};

std::size_t workers() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
}

struct SortedRow {
  std::uint32_t group;
  std::uint32_t flags;
  const std::uint64_t* words;
};

/// What one thread needs to add up a partition, kept from one to the next: memory that is given
/// back and taken again costs more than the sums.
struct Scratch {
  RawVector<std::uint32_t> unit_of;
  RawVector<SortedRow> unsorted, sorted;
};

/// Calls work(0, w), ..., work(count - 1, w) on a few threads, any order; w numbers the thread.
void for_each_parallel(std::size_t count, bool threads,
                       const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t helpers = threads ? workers() - 1 : 0;
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failed;
  std::mutex mutex;
  const auto loop = [&](std::size_t worker) {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i, worker);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failed = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < helpers; ++i) running.emplace_back(loop, i + 1);
    loop(0);
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace

struct UnitRows::State {
  UnitRowsShape shape;
  std::uint64_t memory_max = 0;
  std::size_t words = 2;  // of a row
  std::mutex mutex;
  std::vector<std::unique_ptr<Lane>> lanes;
  UnitTexts texts;
  std::atomic<std::uint64_t> bytes = 0;
  std::uint64_t rows = 0;

  Lane& lane(std::size_t number) {
    const std::lock_guard lock(mutex);
    while (lanes.size() <= number) lanes.push_back(std::make_unique<Lane>(shape.keys.size()));
    return *lanes[number];
  }
  bool take(const EngineChunk& chunk, Lane& lane);
  template <class UnitOf>
  void place(const EngineChunk& chunk, Lane& lane, const UnitOf& unit_of);
  std::uint64_t* new_row(RowBlocks& rows_of);
  PartitionOutput add_up(std::size_t partition,
                         const std::vector<std::vector<std::uint32_t>>& numbers,
                         const std::optional<GroupLimit>& limit, Scratch& scratch) const;
};

UnitRows::UnitRows(std::unique_ptr<State> state) : state_(std::move(state)) {}
UnitRows::UnitRows(UnitRows&&) noexcept = default;
UnitRows& UnitRows::operator=(UnitRows&&) noexcept = default;
UnitRows::~UnitRows() = default;

std::uint64_t* UnitRows::State::new_row(RowBlocks& rows_of) {
  if (rows_of.blocks.empty() || rows_of.used + words > kBlockWords) {
    rows_of.blocks.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(kBlockWords));
    rows_of.used = 0;
    bytes += kBlockWords * sizeof(std::uint64_t);
  }
  std::uint64_t* row = rows_of.blocks.back().get() + rows_of.used;
  rows_of.used += words;
  ++rows_of.rows;
  return row;
}

template <class UnitOf>
void UnitRows::State::place(const EngineChunk& chunk, Lane& lane, const UnitOf& unit_of) {
  lane.nowhere.resize(words);
  lane.places.resize(chunk.size());
  for (std::size_t row = 0; row < chunk.size(); ++row) {
    if (chunk.is_null(0, row)) {
      lane.places[row] = lane.nowhere.data();
      continue;
    }
    const std::int64_t unit = unit_of(row);
    std::uint64_t* place = new_row(lane.partitions[partition_of(unit)]);
    place[0] = static_cast<std::uint64_t>(unit);
    lane.places[row] = place;
  }
}

bool UnitRows::State::take(const EngineChunk& chunk, Lane& lane) {
  const std::size_t size = chunk.size(), first = 1 + shape.keys.size();
  lane.codes.number(chunk, 1, lane.groups);
  switch (chunk.type(0)) {
    case EngineType::Int64:
    case EngineType::Date:
    case EngineType::Timestamp: {
      const auto units = chunk.int64s(0);
      place(chunk, lane, [&](std::size_t row) { return units[row]; });
      break;
    }
    case EngineType::Varchar:
      place(chunk, lane, [&](std::size_t row) { return texts.number(chunk.varchar(0, row)); });
      break;
    case EngineType::HugeInt:
      place(chunk, lane, [&](std::size_t row) {
        const Int128 value = chunk.int128(0, row);
        return texts.number({reinterpret_cast<const char*>(&value), sizeof(value)});
      });
      break;
    case EngineType::Bool:
    case EngineType::Double:
      throw std::invalid_argument("a unit is a whole number, a date or a text");
  }
  lane.flags.assign(size, 0);
  for (std::size_t v = 0; v < shape.values.size(); ++v) {
    const std::size_t column = first + v;
    const RowValue& wanted = shape.values[v];
    if (chunk.decimal_digits(column) != wanted.decimal_digits) return false;
    const std::uint32_t flag = std::uint32_t{1} << v;
    const auto write = [&](const auto& value) {
      for (std::size_t row = 0; row < size; ++row)
        lane.places[row][2 + v] = static_cast<std::uint64_t>(value(row));
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
  for (std::size_t row = 0; row < size; ++row)
    lane.places[row][1] = std::uint64_t{lane.groups[row]} << 32 | lane.flags[row];
  return bytes <= memory_max;
}

bool UnitRows::fits(const UnitRowsShape& shape) {
  return shape.values.size() + shape.conditions.size() <= kFlagsMax;
}

Result<std::optional<UnitRows>> UnitRows::load(Engine& engine, const std::string& sql,
                                               UnitRowsShape shape, std::uint64_t memory_max) {
  if (!fits(shape)) return std::optional<UnitRows>();
  auto state = std::make_unique<State>();
  state->shape = std::move(shape);
  state->memory_max = memory_max;
  state->words = 2 + state->shape.values.size();
  std::vector<std::string> columns = {state->shape.unit};
  columns.insert(columns.end(), state->shape.keys.begin(), state->shape.keys.end());
  for (const RowValue& value : state->shape.values) columns.push_back(value.column);
  columns.insert(columns.end(), state->shape.conditions.begin(), state->shape.conditions.end());
  DISCREET_TRY(const VisitedRows visited,
               engine.visit(sql, columns, [&](const EngineChunk& chunk, std::size_t lane) {
                 return state->take(chunk, state->lane(lane));
               }));
  if (visited.stopped) return std::optional<UnitRows>();
  state->rows = visited.rows;
  return std::optional<UnitRows>(UnitRows(std::move(state)));
}

PartitionOutput UnitRows::State::add_up(std::size_t partition,
                                        const std::vector<std::vector<std::uint32_t>>& numbers,
                                        const std::optional<GroupLimit>& limit,
                                        Scratch& scratch) const {
  using Row = SortedRow;
  // Number the units, then sort rows by unit: two passes over memory that is still near.
  std::size_t count = 0;
  for (const auto& lane : lanes) count += lane->partitions[partition].rows;
  PartitionOutput out;
  if (count == 0) return out;
  NumberCodes units;
  auto& [unit_of, unsorted, sorted] = scratch;
  if (unit_of.size() < count) {
    unit_of.resize(count);
    unsorted.resize(count);
    sorted.resize(count);
  }
  std::size_t at = 0;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    const RowBlocks& from = lanes[l]->partitions[partition];
    std::size_t left = from.rows;
    for (const auto& block : from.blocks)
      for (std::size_t word = 0; left > 0 && word + words <= kBlockWords; word += words, --left) {
        const std::uint64_t* row = block.get() + word;
        const std::uint32_t group = numbers[l][row[1] >> 32];
        if (group == kDropped) continue;
        unit_of[at] = units.of(static_cast<std::int64_t>(row[0]));
        unsorted[at++] = {group, static_cast<std::uint32_t>(row[1]), row};
      }
  }
  count = at;
  std::vector<std::uint32_t> next(units.size() + std::size_t{1});
  for (std::size_t i = 0; i < count; ++i) ++next[unit_of[i] + std::size_t{1}];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<std::uint32_t> begin = next;
  for (std::size_t i = 0; i < count; ++i) sorted[next[unit_of[i]]++] = unsorted[i];

  const auto& features = shape.features;
  const auto by_group = [](const Row& a, const Row& b) { return a.group < b.group; };
  std::vector<std::pair<std::uint64_t, std::size_t>> ranked;  // hash, first row of the group
  std::vector<std::size_t> firsts;
  out.ends.reserve(units.size());
  out.values.reserve(
      (limit ? std::min<std::size_t>(count, units.size() * limit->most) : units.size()) *
      shape.features.size());
  out.group.reserve(limit ? std::min<std::size_t>(count, units.size() * limit->most) : count);
  for (std::uint32_t unit = 0; unit < units.size(); ++unit) {
    const std::span<Row> rows_of(sorted.data() + begin[unit], begin[unit + 1] - begin[unit]);
    if (rows_of.size() <= 16) {
      for (std::size_t i = 1; i < rows_of.size(); ++i)
        for (std::size_t j = i; j > 0 && rows_of[j].group < rows_of[j - 1].group; --j)
          std::swap(rows_of[j], rows_of[j - 1]);
    } else {
      std::sort(rows_of.begin(), rows_of.end(), by_group);
    }
    firsts.clear();
    for (std::size_t i = 0; i < rows_of.size(); ++i)
      if (i == 0 || rows_of[i].group != rows_of[i - 1].group) firsts.push_back(i);
    if (limit && firsts.size() > limit->most) {
      ranked.clear();
      for (const std::size_t first : firsts)
        ranked.emplace_back(keyed_hash(limit->key, static_cast<std::uint64_t>(units.value(unit)),
                                       rows_of[first].group),
                            first);
      const auto cut = ranked.begin() + static_cast<std::ptrdiff_t>(limit->most);
      std::nth_element(ranked.begin(), cut, ranked.end());
      firsts.clear();
      for (auto kept = ranked.begin(); kept != cut; ++kept) firsts.push_back(kept->second);
      std::sort(firsts.begin(), firsts.end());
    }
    for (const std::size_t first : firsts) {
      std::size_t end = first + 1;
      while (end < rows_of.size() && rows_of[end].group == rows_of[first].group) ++end;
      const auto same = rows_of.subspan(first, end - first);
      out.group.push_back(same.front().group);
      for (const RowFeature& feature : features) {
        Int128 total = 0;
        const auto value = [&](const Row& row, std::size_t v) {
          return static_cast<std::int64_t>(row.words[2 + v]);
        };
        const std::uint32_t has = std::uint32_t{1} << feature.value,
                            has_both = has | std::uint32_t{1} << feature.second;
        switch (feature.kind) {
          case RowFeature::Kind::Rows:
            if (!feature.condition) {
              total = std::ssize(same);
              break;
            }
            for (const Row& row : same)
              total += row.flags >> (shape.values.size() + *feature.condition) & 1;
            break;
          case RowFeature::Kind::Count:
            for (const Row& row : same) total += (row.flags & has) != 0;
            break;
          case RowFeature::Kind::Sum:
            for (const Row& row : same)
              if ((row.flags & has) != 0) total += value(row, feature.value);
            break;
          case RowFeature::Kind::SumOfProducts:
            for (const Row& row : same)
              if ((row.flags & has_both) == has_both)
                total += Int128{value(row, feature.value)} * value(row, feature.second);
            break;
        }
        out.values.push_back(total);
      }
    }
    if (!firsts.empty()) out.ends.push_back(out.group.size());
  }
  return out;
}

UnitPartials UnitRows::add_up(const Numbering& number,
                              const std::optional<GroupLimit>& limit) const {
  const State& s = *state_;
  std::vector<std::vector<std::uint32_t>> numbers;  // by lane, by its own number
  std::vector<EngineValue> keys;
  for (const auto& lane : s.lanes) {
    auto& of_lane = numbers.emplace_back();
    of_lane.reserve(lane->codes.size());
    for (std::uint32_t group = 0; group < lane->codes.size(); ++group)
      of_lane.push_back(lane->codes.keys(group, keys) ? number(keys).value_or(kDropped) : kDropped);
  }
  const bool threads = s.rows >= kRowsForThreads;
  std::vector<PartitionOutput> parts(kPartitions);
  std::vector<Scratch> scratch(workers());
  for_each_parallel(kPartitions, threads, [&](std::size_t i, std::size_t worker) {
    parts[i] = s.add_up(i, numbers, limit, scratch[worker]);
  });

  std::vector<std::size_t> first_unit(kPartitions + 1), first_row(kPartitions + 1);
  for (std::size_t i = 0; i < kPartitions; ++i) {
    first_unit[i + 1] = first_unit[i] + parts[i].ends.size();
    first_row[i + 1] = first_row[i] + parts[i].group.size();
  }
  const std::size_t features = s.shape.features.size();
  UnitPartials all;
  all.begin.resize(first_unit.back() + 1);
  all.group.resize(first_row.back());
  all.values.resize(first_row.back() * features);
  all.begin[0] = 0;
  for_each_parallel(kPartitions, threads, [&](std::size_t i, std::size_t) {
    for (std::size_t unit = 0; unit < parts[i].ends.size(); ++unit)
      all.begin[first_unit[i] + unit + 1] = first_row[i] + parts[i].ends[unit];
    std::copy(parts[i].group.begin(), parts[i].group.end(), all.group.data() + first_row[i]);
    std::copy(parts[i].values.begin(), parts[i].values.end(),
              all.values.data() + first_row[i] * features);
    parts[i] = {};
  });
  return all;
}

}  // namespace discreet
