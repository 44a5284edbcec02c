#include "engines/unit_cells_internal.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace discreet {
namespace {

// Pages of 2 MiB: cells are visited in no order, and small pages would each have to be found.
constexpr std::size_t kSlabBytes = std::size_t{2} << 20;
constexpr std::size_t kSlots = 4;
constexpr int kGroupBits = 24;
// So many blocks are made without asking (of one slot; with more, fewer); later ones as long as
// this many cells are used for each.
constexpr std::uint64_t kFreeBlocks = 8192, kCellsPerBlock = 32;

}  // namespace

std::optional<CellLayout> CellLayout::of(const UnitRowsShape& shape) {
  if (!shape.conditions.empty() || shape.values.size() > 1) return std::nullopt;
  if (std::any_of(shape.features.begin(), shape.features.end(), [](const RowFeature& feature) {
        return feature.kind == RowFeature::Kind::SumOfProducts;
      }))
    return std::nullopt;
  CellLayout layout;
  if (!shape.keys.empty()) {
    layout.slots = kSlots;
    layout.times_bits = 8;
    layout.sum_bits = 64 - kGroupBits - layout.times_bits;
  }
  if (shape.values.empty()) return layout;
  layout.has_value = true;
  layout.lower = shape.values[0].lower;
  layout.upper = shape.values[0].upper;
  // times_max() values above the lower bound must fit the sum, and 2^32 of them 62 bits.
  constexpr std::int64_t kBoundMax = std::int64_t{1} << 30;
  if (layout.lower < -kBoundMax || layout.upper > kBoundMax) return std::nullopt;
  const auto range = static_cast<std::uint64_t>(layout.upper - layout.lower);
  const auto range_bits = static_cast<int>(std::bit_width(range));
  if (range_bits + layout.times_bits > layout.sum_bits) return std::nullopt;
  return layout;
}

std::uint64_t* UnitCells::make_block(std::int64_t number) {
  const std::size_t words = kBlockUnits * layout_.slots;
  if (cells_.size() >= kFreeBlocks / layout_.slots + used_ / kCellsPerBlock ||
      (cells_.size() + 1) * words * sizeof(std::uint64_t) > bytes_max_)
    return nullptr;
  if (free_words_ < words) {
    void* memory = std::aligned_alloc(kSlabBytes, kSlabBytes);
    if (memory == nullptr) throw std::bad_alloc();
    slabs_.emplace_back(memory);
    ::madvise(memory, kSlabBytes, MADV_HUGEPAGE);  // where the machine has them
    free_ = static_cast<std::uint64_t*>(memory);
    free_words_ = kSlabBytes / sizeof(std::uint64_t);
  }
  std::uint64_t* block = free_;
  free_ += words;
  free_words_ -= words;
  std::fill_n(block, words, std::uint64_t{0});
  static_cast<void>(numbers_.of(number));
  cells_.push_back(block);
  return block;
}

inline std::uint64_t* UnitCells::place(std::int64_t unit) {
  const std::int64_t number = unit >> kBlockBits;
  const auto code = numbers_.find(number);
  std::uint64_t* block = code ? cells_[*code] : make_block(number);
  if (block == nullptr) return nullptr;
  return block + (static_cast<std::uint64_t>(unit) % kBlockUnits) * layout_.slots;
}

std::size_t UnitCells::add(const Rows& rows) {
  const std::size_t count = rows.units.size();
  places_.resize(count);
  // Far ahead of the sums, so that memory is there by then.
  for (std::size_t row = 0; row < count; ++row) {
    places_[row] = rows.done[row] != 0 ? nullptr : place(rows.units[row]);
    __builtin_prefetch(places_[row], 1);
  }
  const CellLayout layout = layout_;
  const std::uint64_t times_max = layout.times_max();
  const int above = layout.times_bits + layout.sum_bits;
  std::size_t left = 0;
  for (std::size_t row = 0; row < count; ++row) {
    if (rows.done[row] != 0) continue;
    std::uint64_t* cell = places_[row];
    if (cell == nullptr || (rows.has_value != nullptr && (rows.has_value[row] & 1) == 0)) {
      ++left;
      continue;
    }
    std::uint64_t added = 1;
    if (layout.has_value) {
      const std::int64_t value = std::clamp(rows.values[row], layout.lower, layout.upper);
      added += static_cast<std::uint64_t>(value - layout.lower) << layout.times_bits;
    }
    bool taken = false;
    if (layout.slots == 1) {
      taken = (*cell & times_max) != times_max;
      used_ += *cell == 0;
      if (taken) *cell += added;
    } else if (const std::uint64_t group = rows.groups[row]; group >> (64 - above) == 0) {
      for (std::size_t slot = 0; slot < layout.slots && !taken; ++slot, ++cell) {
        if (*cell == 0) {
          *cell = group << above | added;
          ++used_;
          taken = true;
        } else if (*cell >> above == group) {
          if ((*cell & times_max) == times_max) break;
          *cell += added;
          taken = true;
        }
      }
    }
    rows.done[row] = taken;
    left += !taken;
  }
  return left;
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
