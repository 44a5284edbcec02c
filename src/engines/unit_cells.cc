#include "engines/unit_cells_internal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "engines/page_pool.h"

namespace discreet {
namespace {

// In large pages: cells are visited in no order, and small pages would each have to be found.
constexpr std::size_t kSlabBytes = 8 * PagePool::kPageBytes;
constexpr std::size_t kSlots = 4, kDirectMax = CellLayout::kSlotsMax;
constexpr int kGroupBits = 24;  // of a wide cell
// Narrow cells are worth it as long as they are not full after a few rows.
constexpr int kTimesBitsMin = 4;
// So many blocks are made without asking (of one slot; with more, fewer); later ones as long as
// this many cells are used for each.
constexpr std::uint64_t kFreeBlocks = 8192, kCellsPerBlock = 32;
constexpr std::int64_t kSmallBlocks = 1 << 16;

}  // namespace

std::optional<CellLayout> CellLayout::of(const UnitRowsShape& shape) {
  if (!shape.conditions.empty() || shape.values.size() > 1) return std::nullopt;
  if (std::any_of(shape.features.begin(), shape.features.end(), [](const RowFeature& feature) {
        return feature.kind == RowFeature::Kind::SumOfProducts;
      }))
    return std::nullopt;
  CellLayout layout;
  const bool has_keys = !shape.keys.empty();
  int range_bits = 0;
  if (!shape.values.empty()) {
    layout.has_value = true;
    layout.lower = shape.values[0].lower;
    layout.upper = shape.values[0].upper;
    // 2^32 values must fit 62 bits.
    constexpr std::int64_t kBoundMax = std::int64_t{1} << 30;
    if (layout.lower < -kBoundMax || layout.upper > kBoundMax) return std::nullopt;
    range_bits =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(layout.upper - layout.lower)));
  }
  if (has_keys) layout.slots = kSlots;
  if (shape.owners && shape.keys.size() == 1 && !shape.key_ranges.empty() && shape.key_ranges[0]) {
    const auto& [lower, upper] = *shape.key_ranges[0];
    const auto groups = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower) + 1;
    layout.direct = groups > 1 && groups <= kDirectMax;
    if (layout.direct) layout.slots = groups;
  }
  // As many rows as values above the lower bound: both parts are full at the same time. Groups have
  // room for as many again that are not in the domain.
  const auto bits_of = [](std::uint64_t number) {
    return static_cast<int>(std::bit_width(number));
  };
  const int group_bits = !has_keys || layout.direct ? 0
                         : shape.groups_known       ? bits_of(2 * *shape.groups_known + 1)
                                                    : 32;
  const int times_bits = (32 - group_bits - range_bits) / 2;
  if (times_bits >= kTimesBitsMin) {
    layout.bytes = 4;
    layout.times_bits = times_bits;
    layout.sum_bits = 32 - group_bits - times_bits;
    return layout;
  }
  if (has_keys && !layout.direct) {
    layout.times_bits = 8;
    layout.sum_bits = 64 - kGroupBits - layout.times_bits;
  }
  // times_max() values above the lower bound must fit the sum.
  if (range_bits + layout.times_bits > layout.sum_bits) return std::nullopt;
  return layout;
}

namespace {

template <class Cell>
std::size_t used_cells(std::span<void* const> of_lane, std::size_t cells, bool one_group) {
  std::size_t used = 0;
  std::array<Cell, UnitCells::kBlockUnits> any{};
  for (const void* block : of_lane) {
    if (block == nullptr) continue;
    const auto* lane = static_cast<const Cell*>(block);
    // Where there is one group, it is the same one.
    if (one_group)
      for (std::size_t place = 0; place < any.size(); ++place) any[place] |= lane[place];
    else
      for (std::size_t place = 0; place < cells; ++place) used += lane[place] != 0;
  }
  for (const Cell cell : any) used += cell != 0;
  return used;
}

}  // namespace

std::size_t CellLayout::room(std::span<void* const> of_lane) const {
  const std::size_t cells = UnitCells::kBlockUnits * slots;
  return bytes == 4 ? used_cells<std::uint32_t>(of_lane, cells, slots == 1)
                    : used_cells<std::uint64_t>(of_lane, cells, slots == 1);
}

void UnitCells::GiveBack::operator()(void* slab) const {
  PagePool::give(slab, kSlabBytes);
}

void* UnitCells::make_block(std::int64_t number) {
  const std::size_t bytes = kBlockUnits * layout_.slots * layout_.bytes;
  if (cells_.size() >= kFreeBlocks / layout_.slots + used_ / kCellsPerBlock ||
      (cells_.size() + 1) * bytes > bytes_max_)
    return nullptr;
  if (free_bytes_ < bytes) {
    slabs_.emplace_back(PagePool::take(kSlabBytes));
    free_ = static_cast<char*>(slabs_.back().get());
    free_bytes_ = kSlabBytes;
  }
  void* block = std::memset(free_, 0, bytes);
  free_ += bytes;
  free_bytes_ -= bytes;
  static_cast<void>(numbers_.of(number));
  cells_.push_back(block);
  if (number >= 0 && number < kSmallBlocks) {
    if (small_.size() <= static_cast<std::size_t>(number))
      small_.resize(std::bit_ceil(static_cast<std::size_t>(number) + 1));
    small_codes_.resize(small_.size());
    small_[static_cast<std::size_t>(number)] = block;
    small_codes_[static_cast<std::size_t>(number)] = static_cast<std::uint32_t>(cells_.size());
  }
  return block;
}

inline void* UnitCells::find_block(std::int64_t number) {
  if (static_cast<std::uint64_t>(number) < small_.size()) [[likely]]
    if (void* block = small_[static_cast<std::size_t>(number)]; block != nullptr) [[likely]]
      return block;
  void* block = this->block(number);
  return block != nullptr ? block : make_block(number);
}

UnitCells UnitCells::for_all(const CellLayout& layout, std::uint64_t units) {
  UnitCells made(layout, bytes_for_all(layout, units));
  made.all_.resize(made.bytes_max_);
  std::memset(made.all_.data(), 0, made.all_.size());
  const std::size_t block = kBlockUnits * layout.slots * layout.bytes;
  for (std::size_t at = 0; at < made.all_.size(); at += block) {
    static_cast<void>(made.numbers_.of(static_cast<std::int64_t>(at / block)));
    made.cells_.push_back(made.all_.data() + at);
  }
  return made;
}

std::optional<std::uint32_t> UnitCells::code(std::int64_t number) {
  if (const auto known = numbers_.find(number)) return *known;
  if (make_block(number) == nullptr) return std::nullopt;
  return static_cast<std::uint32_t>(cells_.size() - 1);
}

bool UnitCells::number(std::span<const std::int64_t> units, std::uint32_t* numbers) {
  for (std::size_t row = 0; row < units.size(); ++row) {
    const auto block = static_cast<std::uint64_t>(units[row] >> kBlockBits);
    std::uint32_t known = block < small_codes_.size() ? small_codes_[block] : 0;
    if (known == 0) [[unlikely]] {
      const auto found = code(static_cast<std::int64_t>(block));
      if (!found) return false;
      known = *found + 1;
    }
    numbers[row] = (known - 1) << kBlockBits |
                   static_cast<std::uint32_t>(static_cast<std::uint64_t>(units[row]) % kBlockUnits);
  }
  return true;
}

std::size_t UnitCells::add(const Rows& rows) {
  if (!rows.numbers.empty()) {
    const auto add_values = [&]<class Cell, Cells kCells>() {
      return rows.has_value == nullptr ? add_numbered<Cell, kCells, true>(rows)
                                       : add_numbered<Cell, kCells, false>(rows);
    };
    const auto add_cells = [&]<Cells kCells>() {
      return layout_.bytes == 4 ? add_values.operator()<std::uint32_t, kCells>()
                                : add_values.operator()<std::uint64_t, kCells>();
    };
    if (all_.empty()) return add_cells.operator()<Cells::OneInBlocks>();
    if (layout_.slots == 1) return add_cells.operator()<Cells::One>();
    return layout_.direct ? add_cells.operator()<Cells::Direct>()
                          : add_cells.operator()<Cells::Searched>();
  }
  if (layout_.slots == 1)
    return layout_.bytes == 4 ? add_to<std::uint32_t, false>(rows)
                              : add_to<std::uint64_t, false>(rows);
  return layout_.bytes == 4 ? add_to<std::uint32_t, true>(rows) : add_to<std::uint64_t, true>(rows);
}

namespace {

/// One row with its value above the lower bound.
template <class Cell>
inline Cell one_row(const CellLayout& layout, std::int64_t value) {
  const std::int64_t clamped = std::clamp(value, layout.lower, layout.upper);
  return static_cast<Cell>(Cell{1} | static_cast<Cell>(clamped - layout.lower)
                                         << layout.times_bits);
}

/// The one of a unit's cells that this group has or can have, its first being given; none: nullptr.
template <class Cell>
inline Cell* cell_of(Cell* first, std::size_t unit_of_block, int above, std::uint64_t group) {
  const auto is_free = [&](Cell cell) { return cell == 0 || cell >> above == group; };
  if (is_free(*first)) [[likely]]
    return first;
  Cell* more = first + UnitCells::kBlockUnits + unit_of_block * (kSlots - 2);
  for (std::size_t slot = 0; slot < kSlots - 1; ++slot)
    if (is_free(more[slot])) return more + slot;
  return nullptr;
}

}  // namespace

template <class Cell, bool kHasKeys>
std::size_t UnitCells::add_to(const Rows& rows) {
  // Far enough ahead of the sums that memory is there by then, and not so far that it is gone
  // again.
  constexpr std::size_t kAhead = 64;
  std::array<Cell*, kAhead> places;
  const std::size_t count = rows.units.size();
  const CellLayout layout = layout_;
  const auto times_max = static_cast<Cell>(layout.times_max());
  const int above = layout.times_bits + layout.sum_bits;
  const std::uint64_t groups = std::uint64_t{1} << (8 * static_cast<int>(sizeof(Cell)) - above);
  std::size_t left = 0, used = 0;
  const auto place_of = [&](std::size_t row) -> Cell* {
    if (!rows.all && rows.done[row] != 0) return nullptr;
    const std::int64_t unit = rows.units[row];
    auto* block = static_cast<Cell*>(find_block(unit >> kBlockBits));
    return block == nullptr ? nullptr : block + static_cast<std::uint64_t>(unit) % kBlockUnits;
  };
  const auto fetch = [&](std::size_t row) {
    __builtin_prefetch(places[row % kAhead] = place_of(row), 1);
  };
  for (std::size_t row = 0; row < std::min(kAhead, count); ++row) fetch(row);
  for (std::size_t row = 0; row < count; ++row) {
    Cell* cell = places[row % kAhead];
    if (row + kAhead < count) fetch(row + kAhead);
    if (!rows.all && rows.done[row] != 0) continue;
    if (cell == nullptr || (rows.has_value != nullptr && (rows.has_value[row] & 1) == 0)) {
      ++left;
      continue;
    }
    const Cell added = layout.has_value ? one_row<Cell>(layout, rows.values[row]) : Cell{1};
    const std::uint64_t group = kHasKeys ? rows.groups[row] : 0;
    Cell empty = 0;
    if constexpr (kHasKeys) {
      cell = cell_of(cell, static_cast<std::uint64_t>(rows.units[row]) % kBlockUnits, above, group);
      if (group >= groups || cell == nullptr) {
        ++left;
        continue;
      }
      empty = static_cast<Cell>(group << above);
    }
    if ((*cell & times_max) == times_max) [[unlikely]]
      full.push_back(
          {rows.units[row], std::exchange(*cell, empty), static_cast<std::uint32_t>(group)});
    if (*cell == 0) {
      *cell = empty;
      ++used;
    }
    *cell += added;
    rows.done[row] = 1;
  }
  used_ += used;
  return left;
}

template <class Cell, UnitCells::Cells kCells, bool kAllHaveValues>
std::size_t UnitCells::add_numbered(const Rows& rows) {
  constexpr std::size_t kAhead = 64, kPiece = 256, kNumbersAhead = 1024;
  constexpr std::size_t kLine = 64 / sizeof(std::uint32_t);
  auto* const all = reinterpret_cast<Cell*>(all_.data());
  const CellLayout layout = layout_;
  const auto times_max = static_cast<Cell>(layout.times_max());
  const int above = layout.times_bits + layout.sum_bits;
  const std::uint64_t groups = std::uint64_t{1} << (8 * static_cast<int>(sizeof(Cell)) - above);
  const std::size_t count = rows.numbers.size(), slots = layout.slots;
  const std::uint32_t* const numbers = rows.numbers.data();
  const std::uint32_t* const group_of = rows.groups.data();
  const std::uint32_t* const has_value = rows.has_value;
  void* const* const blocks = cells_.data();
  constexpr bool kOne = kCells == Cells::One || kCells == Cells::OneInBlocks;
  std::uint64_t used = 0;
  std::vector<std::size_t> left;
  std::array<Cell, kPiece> added;
  if (!layout.has_value) added.fill(1);
  const auto first_of = [&](std::size_t row) {
    const std::size_t number = numbers[row];
    if constexpr (kCells == Cells::One) return all + number;
    if constexpr (kCells == Cells::OneInBlocks)
      return static_cast<Cell*>(blocks[number >> kBlockBits]) + number % kBlockUnits;
    if constexpr (kCells == Cells::Direct) return all + number * slots;
    return all + number / kBlockUnits * kBlockUnits * kSlots + number % kBlockUnits;
  };
  const auto add_row = [&](std::size_t row, Cell one) {
    if (!kAllHaveValues && (has_value[row] & 1) == 0) {
      left.push_back(row);
      return;
    }
    Cell* cell = first_of(row);
    Cell empty = 0;
    const std::uint64_t group = kOne ? 0 : group_of[row];
    if constexpr (kCells == Cells::Direct) {
      cell = group - 1 < slots ? cell + (group - 1) : nullptr;
    } else if constexpr (kCells == Cells::Searched) {
      cell = group < groups ? cell_of(cell, numbers[row] % kBlockUnits, above, group) : nullptr;
      empty = static_cast<Cell>(group << above);
    }
    if (!kOne && cell == nullptr) [[unlikely]] {
      left.push_back(row);
      return;
    }
    Cell held = *cell;
    if (kCells == Cells::OneInBlocks) used += held == 0 ? 1 : 0;
    if (kCells == Cells::Searched && held == 0) held = empty;
    if ((held & times_max) == times_max) [[unlikely]]
      held = emptied(numbers[row], held, static_cast<std::uint32_t>(group), empty);
    *cell = held + one;
  };
  // Those that follow are fetched meanwhile.
  const std::size_t fetched = count > kAhead ? count - kAhead : 0;
  for (std::size_t row = 0; row < std::min(kAhead, count); ++row)
    __builtin_prefetch(first_of(row), 1);
  for (std::size_t begin = 0; begin < count; begin += kPiece) {
    const std::size_t end = std::min(count, begin + kPiece);
    // Of a table's units: they go on behind these rows.
    for (std::size_t line = 0; line < kPiece; line += kLine)
      __builtin_prefetch(numbers + begin + kNumbersAhead + line);
    if (layout.has_value)
      put_values(
          layout, {rows.values + begin, end - begin}, layout.times_bits,
          [](std::size_t) { return std::uint64_t{1}; }, added.data());
    std::size_t row = begin;
    for (; row < std::min(end, fetched); ++row) {
      __builtin_prefetch(first_of(row + kAhead), 1);
      add_row(row, added[row - begin]);
    }
    for (; row < end; ++row) add_row(row, added[row - begin]);
  }
  used_ += used;
  if (!left.empty()) {
    std::fill(rows.done.begin(), rows.done.end(), std::uint8_t{1});
    for (const std::size_t row : left) rows.done[row] = 0;
  }
  return left.size();
}

template <class Cell>
Cell UnitCells::emptied(std::uint32_t unit, Cell cell, std::uint32_t group, Cell empty) {
  full.push_back({std::int64_t{unit}, cell, group});
  return empty;
}

UnitBlocks::UnitBlocks(std::vector<const UnitCells*> lanes) : lanes_(lanes.size()) {
  WholeCodes all;
  for (const UnitCells* lane : lanes)
    for (const std::int64_t number : lane->blocks()) static_cast<void>(all.of(number));
  numbers_ = all.values();
  cells_.resize(numbers_.size() * lanes_);
  for (std::size_t block = 0; block < numbers_.size(); ++block)
    for (std::size_t lane = 0; lane < lanes_; ++lane)
      cells_[block * lanes_ + lane] = lanes[lane]->block(numbers_[block]);
}

}  // namespace discreet
