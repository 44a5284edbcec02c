#include <algorithm>
#include <array>
#include <exception>
#include <numeric>

#include "base/parallel.h"
#include "engines/unit_rows_internal.h"

namespace discreet {
namespace {

constexpr std::uint64_t kRowsForThreads = 50'000;

}  // namespace

/// Where partials go. There is room for as many as there are rows or cells: memory that is not
/// touched costs nothing. Threads write to neighbouring ones all the time: each has cache lines of
/// its own.
struct alignas(128) UnitRows::State::Output {
  UnitPartials& all;
  std::size_t first;  // of its rows
  std::size_t size = 0;
  std::vector<std::size_t> ends{};  // one per unit that has groups; none where each has one row

  /// The next row's group, and where its numbers go.
  std::size_t add(std::uint32_t group) {
    const std::size_t row = first + size++;
    if (!all.groups.empty()) all.groups[row] = group;
    return row * all.features;
  }
  void end_unit() {
    if (!all.groups.empty()) ends.push_back(size);
  }
};

struct UnitRows::State::SortedRow {
  std::uint32_t group;
  std::uint32_t marks;  // flags and times
  const std::uint64_t* words;
};

/// What one thread needs to add up a partition, kept from one to the next: memory that is given
/// back and taken again costs more than the sums.
struct UnitRows::State::Scratch {
  NumberCodes units;
  struct Place {
    std::uint32_t unit, group;
  };
  RawVector<Place> places;  // of row after row, those without a group too
  RawVector<SortedRow> sorted;
  std::vector<std::span<const std::uint64_t>> blocks;
  std::vector<std::vector<std::uint64_t>> spilled;  // by lane
};

void UnitRows::State::add_features(std::span<const SortedRow> same, std::size_t first,
                                   Wholes& out) const {
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
    out.set(first++, total);
  }
}

std::vector<UInt128> most_of(const UnitRowsShape& shape, std::uint64_t rows) {
  std::vector<UInt128> most;
  for (const RowFeature& feature : shape.features) {
    const auto largest = [&](std::size_t value) {
      const RowValue& of = shape.values[value];
      return static_cast<UInt128>(std::max({Int128{1}, Int128{of.upper}, -Int128{of.lower}}));
    };
    UInt128 of_row = 1;
    if (feature.kind == RowFeature::Kind::Sum) of_row = largest(feature.value);
    if (feature.kind == RowFeature::Kind::SumOfProducts) return {};
    most.push_back(of_row * rows);
  }
  return most;
}

// Every number of a unit, whatever rows are its own.
bool UnitRows::State::fits_64_bits() const {
  Int128 largest = 1;
  for (const RowValue& value : shape.values)
    largest = std::max({largest, Int128{value.upper}, -Int128{value.lower}});
  return largest * Int128{rows} < Int128{1} << 62 &&
         std::none_of(shape.features.begin(), shape.features.end(), [](const RowFeature& feature) {
           return feature.kind == RowFeature::Kind::SumOfProducts;
         });
}

namespace {

/// Rows that were put into a file cannot be read back.
struct SpillLost : std::exception {};

}  // namespace

std::size_t UnitRows::State::rows_of(std::size_t partition) const {
  std::size_t count = 0;
  for (const auto& lane : lanes) count += lane->rows.rows(partition);
  return count;
}

void UnitRows::State::add_up(std::size_t partition, const Numbers& numbers,
                             const std::optional<GroupLimit>& limit, Scratch& scratch,
                             Output& out) const {
  using Row = SortedRow;
  // Number the units, then sort rows by unit: two passes over memory that is still near.
  const std::size_t count = rows_of(partition);
  if (count == 0) return;
  auto& [units, places, sorted, read, spilled] = scratch;
  units.clear();
  read.clear();
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
      read.push_back(block);
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
  for (const auto& block : read)
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
      keep_some(firsts, limit->most, keyed_hash(limit->key, name(units.value(unit)), 0));
    }
    for (const std::size_t first : firsts) {
      std::size_t end = first + 1;
      while (end < mine.size() && mine[end].group == mine[first].group) ++end;
      add_features(mine.subspan(first, end - first), out.add(mine[first].group), out.all.numbers);
    }
    if (!firsts.empty()) out.end_unit();
  }
}

namespace {

/// By place in a block: what all threads' cells there come to.
struct BlockSums {
  std::array<std::uint64_t, UnitCells::kBlockUnits * CellLayout::kSlotsMax> times, above;

  std::int64_t sum(std::size_t place, const CellLayout& by) const {
    return static_cast<std::int64_t>(above[place]) +
           static_cast<std::int64_t>(times[place]) * by.lower;
  }
};

template <class Cell>
void add_cells(const void* cells, const CellLayout& by, std::size_t places, BlockSums& sums) {
  const auto times_max = static_cast<Cell>(by.times_max());
  const auto above_max = static_cast<Cell>((std::uint64_t{1} << by.sum_bits) - 1);
  const int shift = by.times_bits;
  const auto* cell = static_cast<const Cell*>(cells);
  for (std::size_t place = 0; place < places; ++place) {
    sums.times[place] += cell[place] & times_max;
    sums.above[place] += static_cast<Cell>(cell[place] >> shift) & above_max;
  }
}

BlockSums add_up_block(std::span<void* const> of_lane, const CellLayout& by) {
  const std::size_t places = UnitCells::kBlockUnits * by.slots;
  BlockSums sums;
  std::fill_n(sums.times.begin(), places, std::uint64_t{0});
  std::fill_n(sums.above.begin(), places, std::uint64_t{0});
  for (const void* cells : of_lane) {
    if (cells == nullptr) continue;
    if (by.bytes == 4)
      add_cells<std::uint32_t>(cells, by, places, sums);
    else
      add_cells<std::uint64_t>(cells, by, places, sums);
  }
  return sums;
}

}  // namespace

// One unit's cells of all lanes are its groups; those of one group are added up.
void UnitRows::State::add_up_cells(std::size_t block, const Numbers& numbers,
                                   const std::optional<GroupLimit>& limit, Output& out) const {
  struct Part {
    std::uint32_t group;
    std::uint64_t rows;
    std::int64_t sum;
  };
  const CellLayout by = *layout;
  const std::size_t slots = by.slots;
  const auto of_lane = blocks->cells(block);
  const auto put = [&](const Part& part) {
    std::size_t at = out.add(part.group);
    for (const RowFeature& feature : shape.features)
      out.all.numbers.set(
          at++, feature.kind == RowFeature::Kind::Sum ? Int128{part.sum} : Int128{part.rows});
  };
  if (slots == 1) {  // without keys: the one group
    const std::uint32_t group = numbers.front().front();
    if (group == kDropped || (limit && limit->most == 0)) return;
    const BlockSums sums = add_up_block(of_lane, by);
    for (std::size_t unit = 0; unit < UnitCells::kBlockUnits; ++unit) {
      if (sums.times[unit] == 0) continue;
      put({group, sums.times[unit], sums.sum(unit, by)});
      out.end_unit();
    }
    return;
  }
  std::vector<Part> parts;
  std::vector<std::size_t> kept;
  // Slots that stand for groups on all lanes alike, rising by group.
  std::vector<std::pair<std::uint32_t, std::size_t>> direct;
  for (std::size_t slot = 0; slot < slots && by.direct; ++slot)
    if (const std::uint32_t group = numbers.front()[by.group(0, slot)]; group != kDropped)
      direct.emplace_back(group, slot);
  std::sort(direct.begin(), direct.end());
  const bool apart =
      std::adjacent_find(direct.begin(), direct.end(), [](const auto& a, const auto& b) {
        return a.first == b.first;
      }) == direct.end();
  if (by.direct && apart && (!limit || limit->most >= direct.size())) {
    const BlockSums sums = add_up_block(of_lane, by);
    for (std::size_t unit = 0; unit < UnitCells::kBlockUnits; ++unit) {
      bool any = false;
      for (const auto& [group, slot] : direct) {
        const std::size_t place = by.place(unit, slot);
        if (sums.times[place] == 0) continue;
        any = true;
        put({group, sums.times[place], sums.sum(place, by)});
      }
      if (any) out.end_unit();
    }
    return;
  }
  // Rising by group; few, so that looking through them is the quickest.
  const auto add = [&](const Part& part) {
    auto at = parts.end();
    while (at != parts.begin() && (at - 1)->group >= part.group) --at;
    if (at == parts.end() || at->group != part.group) {
      parts.insert(at, part);
    } else {
      at->rows += part.rows;
      at->sum += part.sum;
    }
  };
  for (std::size_t unit = 0; unit < UnitCells::kBlockUnits; ++unit) {
    parts.clear();
    for (const auto& [group, slot] : direct) {
      Part whole{group, 0, 0};
      for (const void* cells : of_lane) {
        const std::uint64_t cell = by.read(cells, by.place(unit, slot));
        whole.rows += by.times(cell);
        whole.sum += by.sum(cell);
      }
      if (whole.rows > 0) add(whole);
    }
    for (std::size_t l = 0; l < of_lane.size() && !by.direct; ++l) {
      if (of_lane[l] == nullptr) continue;
      for (std::size_t slot = 0; slot < slots; ++slot) {
        const std::uint64_t cell = by.read(of_lane[l], by.place(unit, slot));
        if (cell == 0) break;
        const std::uint32_t group = numbers[l][by.group(cell, slot)];
        if (group != kDropped) add({group, by.times(cell), by.sum(cell)});
      }
    }
    if (parts.empty()) continue;
    if (limit && parts.size() > limit->most) {
      kept.resize(parts.size());
      std::iota(kept.begin(), kept.end(), std::size_t{0});
      const auto number = blocks->first_unit(block) + static_cast<std::int64_t>(unit);
      keep_some(kept, limit->most, keyed_hash(limit->key, name(number), 0));
      for (const std::size_t place : kept) put(parts[place]);
      if (kept.empty()) continue;
    } else {
      for (const Part& part : parts) put(part);
    }
    out.end_unit();
  }
}

Result<UnitPartials> UnitRows::add_up(const Numbering& number,
                                      const std::optional<GroupLimit>& limit,
                                      const ManyNumbering& number_many) const {
  const State& s = *state_;
  State::Numbers numbers;
  for (const auto& lane : s.lanes) numbers.push_back(lane->codes.numbered(number, number_many));
  const bool threads = s.rows >= kRowsForThreads;
  // Pieces of the blocks, then partitions.
  const std::size_t blocks = s.blocks ? s.blocks->size() : 0;
  constexpr std::size_t kPieces = 64;
  const auto first_block = [&](std::size_t piece) { return blocks * piece / kPieces; };
  std::vector<std::size_t> room(kPieces + kPartitions + 1);
  for_each_parallel(kPieces, threads, [&](std::size_t piece, std::size_t) {
    std::size_t used = 0;
    for (std::size_t block = first_block(piece); block < first_block(piece + 1); ++block)
      used += s.layout->room(s.blocks->cells(block));
    room[piece + 1] = used;
  });
  for (std::size_t i = 0; i < kPartitions; ++i) room[kPieces + i + 1] = s.rows_of(i);
  std::partial_sum(room.begin(), room.end(), room.begin());
  const bool one_row_each = s.shape.keys.empty();
  UnitPartials all;
  all.features = s.shape.features.size();
  all.most = most_of(s.shape, s.rows);
  all.numbers = Wholes(room.back() * all.features, s.fits_64_bits());
  if (!one_row_each) all.groups.resize(room.back());
  std::vector<State::Output> parts;
  for (std::size_t i = 0; i + 1 < room.size(); ++i) parts.push_back({all, room[i]});
  std::vector<State::Scratch> scratch(worker_count());
  try {
    for_each_parallel(parts.size(), threads, [&](std::size_t i, std::size_t worker) {
      if (i >= kPieces) return s.add_up(i - kPieces, numbers, limit, scratch[worker], parts[i]);
      for (std::size_t block = first_block(i); block < first_block(i + 1); ++block)
        s.add_up_cells(block, numbers, limit, parts[i]);
    });
  } catch (const SpillLost&) {
    return Error{ErrorCode::Unavailable, kStatementFailed};
  }
  if (one_row_each) {
    if (!numbers.empty()) all.only_group = numbers.front().front();
    for (const State::Output& part : parts) {
      for (std::size_t row = 0; row < part.size && part.first != all.units; ++row)
        all.move_row(part.first + row, all.units + row);
      all.units += part.size;
    }
    return all;
  }
  for (const State::Output& part : parts) all.units += part.ends.size();
  all.begins.reserve(all.units);
  all.ends.reserve(all.units);
  for (const State::Output& part : parts) {
    std::size_t begin = part.first;
    for (const std::size_t end : part.ends) {
      all.begins.push_back(begin);
      all.ends.push_back(begin = part.first + end);
    }
  }
  return all;
}

}  // namespace discreet
