// What UnitRows holds: unit_rows.cc fills it while rows come in, unit_sums.cc adds up.
#pragma once

#include <atomic>
#include <mutex>

#include "base/parallel.h"
#include "engines/key_codes_internal.h"
#include "engines/row_store_internal.h"
#include "engines/unit_cells_internal.h"
#include "engines/unit_link_internal.h"
#include "engines/unit_names_internal.h"
#include "engines/unit_rows.h"

namespace discreet {

inline constexpr int kPartitionBits = 8;
inline constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;
inline constexpr std::uint32_t kTimesMax = 255;
// Of the memory allowed, what all threads' cells may take.
inline constexpr std::uint64_t kCellsShare = 2;

struct UnitRows::Lane {
  Lane(const UnitRowsShape& shape, std::size_t words)
      : codes(shape.keys.size(), shape.key_ranges), rows(kPartitions, words) {}
  KeyCodes codes;
  RowStore rows;
  std::optional<UnitCells> cells;  // what they take is not among the rows
  // For the chunk at hand.
  std::vector<std::uint32_t> groups, flags;
  const std::uint32_t* numbers = nullptr;  // by row, of units, where shape.owners has them
  std::vector<std::uint32_t> gathered;     // what numbers are, if rows do not follow each other
  std::span<const std::int64_t> owners;    // whose row each is, where it is not nobody's
  std::vector<std::int64_t> units;         // what owners are, if they are not in the chunk
  std::vector<std::uint8_t> nobodys;
  bool all_somebodys = false;
  std::vector<std::uint64_t*> places;
  std::vector<std::uint64_t> nowhere;  // where rows of nobody are written
};

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
  std::optional<CellLayout> layout;  // absent: all rows are kept
  std::optional<UnitBlocks> blocks;  // of all lanes, after load()
  std::atomic<std::uint64_t> bytes = 0;
  std::uint64_t rows = 0;

  Lane& lane(std::size_t number) {
    const std::lock_guard lock(mutex);
    while (lanes.size() <= number) {
      lanes.push_back(std::make_unique<Lane>(shape, words));
      if (layout) add_cells(*lanes.back());
    }
    return *lanes[number];
  }
  void add_cells(Lane& lane) const;
  bool take(const EngineChunk& chunk, Lane& lane);
  void mark(const EngineChunk& chunk, Lane& lane) const;
  bool find_owners(const EngineChunk& chunk, Lane& lane);
  bool find_numbers(const EngineChunk& chunk, Lane& lane) const;
  void spell_out_owners(std::size_t rows_of_chunk, Lane& lane) const;
  bool add_to_cells(const EngineChunk& chunk, Lane& lane);
  bool empty_full_cells(Lane& lane);
  void keep_cell(std::int64_t unit, std::uint64_t cell, std::uint32_t group, Lane& lane) const;
  void place(std::size_t rows_of_chunk, Lane& lane);
  bool settle();
  bool keep_within_memory(Lane& lane, std::uint64_t before);
  std::size_t rows_of(std::size_t partition) const;

  using Numbers = std::vector<std::vector<std::uint32_t>>;  // by lane, by its own number
  struct Output;
  struct Scratch;
  struct SortedRow;
  void add_up(std::size_t partition, const Numbers& numbers, const std::optional<GroupLimit>& limit,
              Scratch& scratch, Output& out) const;
  void add_up_cells(std::size_t block, const Numbers& numbers,
                    const std::optional<GroupLimit>& limit, Output& out) const;
  void add_features(std::span<const SortedRow> same, std::size_t first, Wholes& out) const;
  bool fits_64_bits() const;
  /// What a unit is called, whoever reads the rows: its groups are chosen by this.
  std::uint64_t name(std::int64_t unit) const {
    return static_cast<std::uint64_t>(
        shape.owners ? shape.owners->name(static_cast<std::uint32_t>(unit)) : unit);
  }
};

}  // namespace discreet
