// Sums of units whose numbers lie close together, added up at the unit's own place: a row costs one
// visit to memory, and nothing is kept of it.
//
// A unit has a few cells of 32 or 64 bits, one for each group it is met in: how many rows, the sum
// of their values above the lower bound, and the group. Most units are of one group: the first
// cells of a block's units lie side by side, so that the others need not be near. Where there are
// but a few groups, a unit has a cell for each (direct). A cell that is full is emptied into a
// list, from which its rows go elsewhere. Units with neighbouring numbers share a block; blocks are
// made as long as enough of their cells are used, so that scattered numbers take no more memory
// than a small part of what is allowed.
//
// Guarantee: add() takes a row whole or not at all; cells and the list hold the exact sums of the
//            rows taken.
// Assumes:   one thread adds; reading comes after.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engines/code_table.h"
#include "engines/raw_vector.h"
#include "engines/unit_rows.h"

namespace discreet {

/// How a cell lies in its bits, from below: rows, sum, group.
struct CellLayout {
  static constexpr std::size_t kSlotsMax = 8;
  std::size_t slots = 1;  ///< of a unit
  bool direct = false;    ///< they are of groups 1, 2, ...
  std::size_t bytes = 8;  ///< of a cell: 4 or 8
  int times_bits = 16, sum_bits = 48;
  bool has_value = false;
  std::int64_t lower = 0, upper = 0;

  /// Nothing: sums of this shape need more than a cell.
  static std::optional<CellLayout> of(const UnitRowsShape& shape);

  std::uint64_t times_max() const { return (std::uint64_t{1} << times_bits) - 1; }
  std::uint64_t times(std::uint64_t cell) const { return cell & times_max(); }
  /// Of the values above the lower bound.
  std::uint64_t above(std::uint64_t cell) const {
    return cell >> times_bits & ((std::uint64_t{1} << sum_bits) - 1);
  }
  /// Of the values themselves.
  std::int64_t sum(std::uint64_t cell) const {
    return static_cast<std::int64_t>(above(cell)) + static_cast<std::int64_t>(times(cell)) * lower;
  }
  std::uint32_t group(std::uint64_t cell, std::size_t slot) const {
    if (direct) return static_cast<std::uint32_t>(slot + 1);
    return slots == 1 ? 0 : static_cast<std::uint32_t>(cell >> (times_bits + sum_bits));
  }
  /// Where in its block a unit has the cell.
  std::size_t place(std::size_t unit_of_block, std::size_t slot) const;
  /// The cell at this place of a block; 0: it is empty.
  std::uint64_t read(const void* block, std::size_t place) const {
    return bytes == 4 ? static_cast<const std::uint32_t*>(block)[place]
                      : static_cast<const std::uint64_t*>(block)[place];
  }
  void clear(void* block, std::size_t place) const {
    if (bytes == 4)
      static_cast<std::uint32_t*>(block)[place] = 0;
    else
      static_cast<std::uint64_t*>(block)[place] = 0;
  }
  /// Of a block, as several threads have it: how many groups of units it may stand for.
  std::size_t room(std::span<void* const> of_lane) const;
};

/// Words that hold, over what low(i) has below bit `shift`, how far a value is above the lower
/// bound. Values are within bounds as a rule; then no order is asked of them, and several words are
/// made at once.
template <class Word, class Low>
inline void put_values(const CellLayout& layout, std::span<const std::int64_t> values, int shift,
                       const Low& low, Word* words) {
  const std::int64_t lower = layout.lower, upper = layout.upper;
  const auto above = [lower](std::int64_t value) {
    return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(lower);
  };
  const std::uint64_t width = above(upper);
  bool is_outside = false;
  // Bounds are within 2^30 of 0. Where they are less than that apart, a value of 32 bits that is
  // outside of them is so after wrapping too: its distance is negative, or above their width.
  if (sizeof(Word) == 4 && width < std::uint64_t{1} << 30) {
    const auto narrow_lower = static_cast<std::uint32_t>(lower);
    const auto narrow_width = static_cast<std::uint32_t>(width);
    std::uint32_t outside = 0, wide = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<std::uint32_t>(values[i]);
      const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(values[i]) >> 32);
      const std::uint32_t distance = value - narrow_lower;
      wide |= high ^ static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >> 31);
      outside |= distance | (narrow_width - distance);
      words[i] = static_cast<Word>(static_cast<std::uint32_t>(low(i)) | distance << shift);
    }
    is_outside = wide != 0 || outside >> 31 != 0;
  } else {
    std::uint64_t outside = 0;  // its highest bit: some value is below, or above
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t distance = above(values[i]);
      outside |= distance | (width - distance);
      words[i] = static_cast<Word>(low(i) | distance << shift);
    }
    is_outside = outside >> 63 != 0;
  }
  if (!is_outside) [[likely]]
    return;
  for (std::size_t i = 0; i < values.size(); ++i)
    words[i] = static_cast<Word>(low(i) | above(std::clamp(values[i], lower, upper)) << shift);
}

class UnitCells {
 public:
  static constexpr int kBlockBits = 9;
  static constexpr std::size_t kBlockUnits = std::size_t{1} << kBlockBits;

  /// Blocks take at most `bytes_max`.
  UnitCells(const CellLayout& layout, std::uint64_t bytes_max)
      : layout_(layout), bytes_max_(bytes_max) {}

  /// From the start for all units 0, ..., units - 1.
  static UnitCells for_all(const CellLayout& layout, std::uint64_t units);
  static std::uint64_t bytes_for_all(const CellLayout& layout, std::uint64_t units) {
    return (units / kBlockUnits + 1) * kBlockUnits * layout.slots * layout.bytes;
  }

  struct Rows {
    std::span<const std::int64_t> units;
    /// Instead of units: theirs of cells for_all(), else as number() gives them (one slot).
    std::span<const std::uint32_t> numbers;
    std::span<const std::uint32_t> groups;
    const std::int64_t* values = nullptr;      ///< where the layout has one
    const std::uint32_t* has_value = nullptr;  ///< lowest bit; absent: all have
    std::span<std::uint8_t> done;              ///< not 0: leave it; set for rows that were taken
    bool all = false;                          ///< none of `done` is set
  };
  /// How many rows are left to whoever can take them. With `numbers` all rows are tried, and `done`
  /// is written only if some are left.
  std::size_t add(const Rows& rows);

  /// Units by their places: the code of the block, that is, its place in blocks(), above
  /// kBlockBits. False: there is no room for the block of some.
  bool number(std::span<const std::int64_t> units, std::uint32_t* numbers);
  /// The code of a block of this number, which is made where it is not there. Nothing: no room.
  std::optional<std::uint32_t> code(std::int64_t number);

  struct Full {
    std::int64_t unit;
    std::uint64_t cell;
    std::uint32_t group;
  };
  /// Cells that were emptied since they were full; the caller takes them from here.
  std::vector<Full> full;

  const void* block_of(std::uint32_t code) const { return cells_[code]; }

  /// The number of every block: units number << kBlockBits and so on.
  const std::vector<std::int64_t>& blocks() const { return numbers_.values(); }
  /// The cells of a block, `slots` for every unit, empty ones 0; nullptr: there is none.
  void* block(std::int64_t number) const {
    const auto code = numbers_.find(number);
    return code ? cells_[*code] : nullptr;
  }

 private:
  template <class Cell, bool kHasKeys>
  std::size_t add_to(const Rows& rows);
  enum class Cells { One, OneInBlocks, Direct, Searched };
  template <class Cell, Cells kCells, bool kAllHaveValues>
  std::size_t add_numbered(const Rows& rows);
  template <class Cell>
  [[gnu::noinline, gnu::cold]] Cell emptied(std::uint32_t unit, Cell cell, std::uint32_t group,
                                            Cell empty);
  void* find_block(std::int64_t number);
  void* make_block(std::int64_t number);

  CellLayout layout_;
  std::uint64_t bytes_max_;
  WholeCodes numbers_;
  std::vector<void*> cells_;                // by code
  std::vector<void*> small_;                // by number, where that is small: the same
  std::vector<std::uint32_t> small_codes_;  // likewise: their codes and 1; 0: there is none
  RawVector<char> all_;                     // instead of slabs: blocks one behind the other
  std::uint64_t used_ = 0;                  // cells
  struct GiveBack {
    void operator()(void* slab) const;
  };
  std::vector<std::unique_ptr<void, GiveBack>> slabs_;
  char* free_ = nullptr;
  std::size_t free_bytes_ = 0;
};

inline std::size_t CellLayout::place(std::size_t unit_of_block, std::size_t slot) const {
  if (direct) return unit_of_block * slots + slot;
  return slot == 0 ? unit_of_block
                   : UnitCells::kBlockUnits + unit_of_block * (slots - 1) + slot - 1;
}

/// The blocks of several threads side by side.
class UnitBlocks {
 public:
  explicit UnitBlocks(std::vector<const UnitCells*> lanes);

  std::size_t size() const { return numbers_.size(); }
  std::int64_t first_unit(std::size_t block) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(numbers_[block])
                                     << UnitCells::kBlockBits);
  }
  /// By lane; nullptr where it has none.
  std::span<void* const> cells(std::size_t block) const {
    return std::span(cells_).subspan(block * lanes_, lanes_);
  }

 private:
  std::size_t lanes_;
  std::vector<std::int64_t> numbers_;
  std::vector<void*> cells_;
};

}  // namespace discreet
