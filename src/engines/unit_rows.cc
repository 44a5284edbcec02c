#include <algorithm>
#include <utility>

#include "engines/unit_rows_internal.h"

namespace discreet {
namespace {

// A row is: unit; group, flags and how many source rows it stands for; values. The last is 8 bits
// where the flags (values that are there and conditions that hold) leave them, else it is one.
constexpr std::size_t kFlagsMax = 32, kFlagsBesideTimes = 24;
constexpr std::int64_t kMergedMax = std::int64_t{1} << 52;  // 255 of them fit 62 bits

std::size_t partition_of(std::int64_t unit) {
  // Other bits than the tables inside a partition use.
  std::uint64_t x = static_cast<std::uint64_t>(unit) * 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  return x >> (64 - kPartitionBits);
}

}  // namespace

UnitRows::UnitRows(std::unique_ptr<State> state) : state_(std::move(state)) {}
UnitRows::UnitRows(UnitRows&&) noexcept = default;
UnitRows& UnitRows::operator=(UnitRows&&) noexcept = default;
UnitRows::~UnitRows() = default;

// Of the rows at these places. False: there are none.
bool UnitRows::State::find_numbers(const EngineChunk& chunk, Lane& lane) const {
  if (chunk.type(0) != EngineType::Int64 || chunk.has_nulls(0)) return false;
  lane.numbers = shape.owners->of_each(chunk.int64s(0), lane.gathered);
  return lane.numbers != nullptr;
}

void UnitRows::State::spell_out_owners(std::size_t rows_of_chunk, Lane& lane) const {
  lane.units.assign(lane.numbers, lane.numbers + rows_of_chunk);
  lane.owners = lane.units;
  for (std::size_t row = 0; row < rows_of_chunk; ++row)
    lane.nobodys[row] |= lane.numbers[row] == shape.owners->units();
}

// Whose row each is, or that it is nobody's.
bool UnitRows::State::find_owners(const EngineChunk& chunk, Lane& lane) {
  const std::size_t size = chunk.size();
  lane.nobodys.assign(size, 0);
  if (shape.owners) return find_numbers(chunk, lane);
  lane.all_somebodys = !link && !chunk.has_nulls(0);
  if (chunk.has_nulls(0))
    for (std::size_t row = 0; row < size; ++row) lane.nobodys[row] = chunk.is_null(0, row);
  if (!link) {
    if (chunk.type(0) == EngineType::Int64) {
      lane.owners = chunk.int64s(0);
      return true;
    }
    lane.units.resize(size);
    name_units(chunk, 0, texts, lane.units);
    lane.owners = lane.units;
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
  lane.owners = lane.units;
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
    const auto unit = static_cast<std::uint64_t>(lane.owners[row]);
    const std::uint64_t marks =
        std::uint64_t{lane.groups[row]} << 32 | std::uint64_t{lane.flags[row]} << times_bits;
    const std::size_t partition = partition_of(lane.owners[row]);
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

// Rows that cells take are nobody's from here on. True: none is left.
bool UnitRows::State::add_to_cells(const EngineChunk& chunk, Lane& lane) {
  const std::size_t size = chunk.size();
  UnitCells::Rows taken{.units = lane.owners,
                        .numbers = {},
                        .groups = lane.groups,
                        .done = lane.nobodys,
                        .all = lane.all_somebodys};
  if (shape.owners) {
    taken.units = {};
    taken.numbers = {lane.numbers, size};
  }
  if (layout->has_value) {
    const std::size_t column = 1 + shape.keys.size();
    if (chunk.type(column) != EngineType::Int64) return false;
    taken.values = chunk.int64s(column).data();
    if (chunk.has_nulls(column)) taken.has_value = lane.flags.data();
  }
  return lane.cells->add(taken) == 0;
}

// Cells that were full, as rows. False: there is no room for them.
bool UnitRows::State::empty_full_cells(Lane& lane) {
  if (lane.cells->full.empty()) return true;
  const std::uint64_t before = lane.rows.bytes();
  for (const auto& [unit, cell, group] : std::exchange(lane.cells->full, {}))
    if (!shape.owners || unit != std::int64_t{shape.owners->units()})
      keep_cell(unit, cell, group, lane);
  return keep_within_memory(lane, before);
}

// A cell's sums as rows.
void UnitRows::State::keep_cell(std::int64_t unit, std::uint64_t cell, std::uint32_t group,
                                Lane& lane) const {
  const std::uint64_t flags = layout->has_value ? std::uint64_t{1} << times_bits : 0;
  auto sum = static_cast<std::uint64_t>(layout->sum(cell));
  for (std::uint64_t times = layout->times(cell); times > 0;) {
    const std::uint64_t some = std::min<std::uint64_t>(times, kTimesMax);
    std::uint64_t* row = lane.rows.add(partition_of(unit));
    row[0] = static_cast<std::uint64_t>(unit);
    row[1] = std::uint64_t{group} << 32 | flags | some;
    if (layout->has_value) row[2] = std::exchange(sum, 0);
    times -= some;
  }
}

// A unit of which some rows did not fit its cells leaves them: it is added up from rows alone.
// False: there is no room for them.
bool UnitRows::State::settle() {
  std::vector<const UnitCells*> cells;
  for (const auto& one : lanes) {
    cells.push_back(&*one->cells);
    if (!shape.owners) continue;
    // Nobody's.
    const std::uint32_t unit = shape.owners->units();
    void* block = one->cells->block(unit >> UnitCells::kBlockBits);
    for (std::size_t slot = 0; slot < layout->slots; ++slot)
      layout->clear(block, layout->place(unit % UnitCells::kBlockUnits, slot));
  }
  blocks.emplace(std::move(cells));
  std::vector<std::int64_t> leaving;
  std::vector<std::uint64_t> spilled;
  for (const auto& one : lanes)
    for (std::size_t partition = 0; partition < kPartitions && blocks->size() > 0; ++partition)
      if (!one->rows.read(partition, file.get(), spilled,
                          [&](std::span<const std::uint64_t> block) {
                            for (std::size_t word = 0; word < block.size(); word += words)
                              leaving.push_back(static_cast<std::int64_t>(block[word]));
                          }))
        return false;
  for (const auto& one : lanes) {
    const std::uint64_t before = one->rows.bytes();
    for (const std::int64_t unit : leaving) {
      void* block = one->cells->block(unit >> UnitCells::kBlockBits);
      if (block == nullptr) continue;
      for (std::size_t slot = 0; slot < layout->slots; ++slot) {
        const std::size_t place =
            layout->place(static_cast<std::uint64_t>(unit) % UnitCells::kBlockUnits, slot);
        const std::uint64_t held = layout->read(block, place);
        if (held == 0) continue;
        keep_cell(unit, held, layout->group(held, slot), *one);
        layout->clear(block, place);
      }
    }
    if (!keep_within_memory(*one, before)) return false;
  }
  return true;
}

void UnitRows::State::add_cells(Lane& lane) const {
  if (shape.owners)
    lane.cells.emplace(UnitCells::for_all(*layout, shape.owners->units()));
  else
    lane.cells.emplace(*layout, memory_max / (kCellsShare * worker_count()));
}

// Which values are there, and which conditions hold.
void UnitRows::State::mark(const EngineChunk& chunk, Lane& lane) const {
  const std::size_t size = chunk.size(), first = 1 + shape.keys.size();
  lane.flags.assign(size, 0);
  for (std::size_t v = 0; v < shape.values.size(); ++v) {
    const std::size_t column = first + v;
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
}

bool UnitRows::State::take(const EngineChunk& chunk, Lane& lane) {
  const std::size_t size = chunk.size(), first = 1 + shape.keys.size();
  for (std::size_t v = 0; v < shape.values.size(); ++v)
    if (chunk.decimal_digits(first + v) != shape.values[v].decimal_digits) return false;
  if (!find_owners(chunk, lane)) return false;
  lane.codes.number(chunk, 1, lane.groups);
  // Cells of one value ask for its flag only where some have none.
  if (!lane.cells || (layout->has_value && chunk.has_nulls(first))) mark(chunk, lane);
  if (lane.cells) {
    const bool all = add_to_cells(chunk, lane);
    if (!empty_full_cells(lane)) return false;
    if (all) return true;
    mark(chunk, lane);
  }
  if (shape.owners) spell_out_owners(size, lane);
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
  state->layout = CellLayout::of(wanted);
  if (wanted.owners && state->layout &&
      UnitCells::bytes_for_all(*state->layout, wanted.owners->units()) >
          memory_max / (kCellsShare * worker_count()))
    state->layout.reset();
  std::vector<std::string> columns = {wanted.unit};
  columns.insert(columns.end(), wanted.keys.begin(), wanted.keys.end());
  for (const RowValue& value : wanted.values) columns.push_back(value.column);
  columns.insert(columns.end(), wanted.conditions.begin(), wanted.conditions.end());
  if (!wanted.link_sql.empty()) {
    DISCREET_TRY(state->link, UnitLink::load(engine, wanted.link_sql, state->texts));
    if (!state->link) return std::optional<UnitRows>();
  }
  DISCREET_TRY(const VisitedRows visited,
               engine.visit(sql, columns, [&](const EngineChunk& chunk, std::size_t lane) {
                 return state->take(chunk, state->lane(lane));
               }));
  if (visited.stopped) return std::optional<UnitRows>();
  state->rows = visited.rows;
  state->link.reset();
  if (state->layout && !state->settle()) return std::optional<UnitRows>();
  return std::optional<UnitRows>(UnitRows(std::move(state)));
}

}  // namespace discreet
