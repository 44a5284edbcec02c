#include "engines/unit_totals.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>

#include "base/parallel.h"
#include "engines/key_codes_internal.h"
#include "engines/unit_cells_internal.h"

namespace discreet {
namespace {

// A thread has sums of its own for every group: not of so many that they are far away.
constexpr std::uint64_t kGroupsMax = 1 << 16;
constexpr std::uint64_t kRowsForThreads = 50'000;

// Rows of nobody are added to a block of their own: no unit's number is in it.
constexpr std::int64_t kNobodysBlock = INT64_MIN;
constexpr std::uint32_t kInBlock = UnitCells::kBlockUnits - 1;

/// Room that is taken piece by piece and stays where it is.
template <class Word>
class Arena {
 public:
  /// At most kPiece.
  Word* take(std::size_t words) {
    if (pieces_.empty() || used_ + words > kPiece) {
      pieces_.emplace_back().resize(kPiece);
      used_ = 0;
    }
    return pieces_.back().data() + std::exchange(used_, used_ + words);
  }
  std::uint64_t bytes() const { return pieces_.size() * kPiece * sizeof(Word); }
  static constexpr std::size_t kPiece = PagePool::kPageBytes / sizeof(Word);

 private:
  std::vector<RawVector<Word>> pieces_;
  std::size_t used_ = 0;
};

/// A row: the code of its group, and its value above the lower bound from `code_bits` on.
template <class Word>
void put_rows(const std::vector<std::uint32_t>& codes, const std::int64_t* values,
              const CellLayout& layout, int code_bits, Word* rows) {
  if (values == nullptr)
    std::copy(codes.begin(), codes.end(), rows);
  else
    put_values(
        layout, {values, codes.size()}, code_bits,
        [&codes](std::size_t row) { return std::uint64_t{codes[row]}; }, rows);
}

}  // namespace

struct UnitTotals::Lane {
  Lane(const UnitRowsShape& shape, const CellLayout& layout, std::uint64_t bytes_max)
      : codes(shape.keys.size(), shape.key_ranges),
        cells(shape.owners ? UnitCells::for_all(layout, shape.owners->units())
                           : UnitCells(layout, bytes_max)) {
    if (!shape.owners) static_cast<void>(cells.code(kNobodysBlock));
  }

  /// Rows one after the other.
  struct Run {
    const void* words;
    const std::uint32_t* numbers;  // of units, as `cells` has them
    std::size_t count;
  };
  KeyCodes codes;
  UnitCells cells;
  std::vector<Run> runs;
  Arena<std::uint32_t> narrow;
  Arena<std::uint64_t> wide;
  Arena<std::uint32_t> owners;  // numbers that do not lie one after the other in shape.owners
  // After load(), without shape.owners: the first number of a block, by its code, in all lanes.
  std::vector<std::uint32_t> first_of;
  std::uint32_t least = UINT32_MAX, most = 0;  // of the codes that rows have
  std::vector<std::uint32_t> group_of;         // by code, after load(); kDropped: none
  // For the chunk at hand.
  std::vector<std::uint32_t> groups, gathered;
  std::vector<std::int64_t> names;

  std::uint64_t bytes() const {
    return narrow.bytes() + wide.bytes() + owners.bytes() +
           cells.full.capacity() * sizeof(UnitCells::Full);
  }
};

struct UnitTotals::State {
  UnitRowsShape shape;
  CellLayout layout;
  bool counts_rows = false;  // also those without a value
  bool is_wide = false;      // rows take 64 bits
  int code_bits = 0;
  std::uint64_t memory_max = 0, rows = 0;
  std::mutex mutex;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::atomic<std::uint64_t> bytes = 0;
  std::uint32_t units = 0;   // numbers in all lanes are below this,
  std::uint32_t nobody = 0;  // and this and its block are nobody's, where units have blocks

  /// Nothing of it is set: there is no form for these rows.
  bool find_form();
  Lane& lane(std::size_t number);
  /// Whose rows they are. Null: it cannot be told.
  const std::uint32_t* find_numbers(const EngineChunk& chunk, Lane& lane);
  bool take(const EngineChunk& chunk, Lane& lane);
  void number_units();
  std::uint32_t unit(const Lane& lane, std::uint32_t number) const {
    return shape.owners ? number
                        : lane.first_of[number >> UnitCells::kBlockBits] | (number & kInBlock);
  }
  bool is_nobody(std::uint32_t unit) const {
    return shape.owners ? unit == nobody : unit <= kInBlock;
  }
  /// Calls visit(lane, run, worker) for all runs.
  template <class Visit>
  void each_run(const Visit& visit) const;
  /// Calls visit(row's word, unit's number) for the rows of a run.
  template <class Visit>
  void each_row(const Lane::Run& run, const Visit& visit) const;
  std::uint32_t group(const Lane& lane, std::uint64_t word) const {
    return lane.group_of[word & ((std::uint64_t{1} << code_bits) - 1)];
  }
  /// What a number of rows and the sum of their values above the lower bound come to.
  Int128 feature(const RowFeature& one, std::uint64_t times, std::uint64_t above) const {
    if (one.kind != RowFeature::Kind::Sum) return Int128{times};
    return Int128{above} + Int128{times} * layout.lower;
  }
};

UnitTotals::UnitTotals(std::unique_ptr<State> state) : state_(std::move(state)) {}
UnitTotals::UnitTotals(UnitTotals&&) noexcept = default;
UnitTotals& UnitTotals::operator=(UnitTotals&&) noexcept = default;
UnitTotals::~UnitTotals() = default;

bool UnitTotals::State::find_form() {
  if (shape.keys.empty() || !shape.groups_known || *shape.groups_known > kGroupsMax ||
      !shape.link_sql.empty())
    return false;
  // As cells of units without groups.
  UnitRowsShape whole = shape;
  whole.keys.clear();
  whole.key_ranges.clear();
  const auto found = CellLayout::of(whole);
  if (!found) return false;
  layout = *found;
  counts_rows =
      std::any_of(shape.features.begin(), shape.features.end(),
                  [](const RowFeature& one) { return one.kind == RowFeature::Kind::Rows; });
  // Room for as many codes again that stand for no group.
  code_bits = static_cast<int>(std::bit_width(2 * *shape.groups_known + 1));
  const auto width =
      static_cast<std::uint64_t>(layout.upper) - static_cast<std::uint64_t>(layout.lower);
  is_wide = code_bits + static_cast<int>(std::bit_width(width)) > 32;
  return !shape.owners ||
         UnitCells::bytes_for_all(layout, shape.owners->units()) * worker_count() <= memory_max / 2;
}

UnitTotals::Lane& UnitTotals::State::lane(std::size_t number) {
  const std::lock_guard lock(mutex);
  while (lanes.size() <= number)
    lanes.push_back(std::make_unique<Lane>(shape, layout, memory_max / (2 * worker_count())));
  return *lanes[number];
}

const std::uint32_t* UnitTotals::State::find_numbers(const EngineChunk& chunk, Lane& lane) {
  const std::size_t size = chunk.size(), column = 1 + shape.keys.size();
  const auto first = chunk.int64s(0);
  // Nothing is added by a row without its value: it may be nobody's.
  const bool has_absent = layout.has_value && chunk.has_nulls(column);
  const std::uint32_t* found = nullptr;
  if (shape.owners) {
    if (chunk.has_nulls(0)) return nullptr;
    found = shape.owners->of_each(first, lane.gathered);
    if (found == nullptr || (!has_absent && found != lane.gathered.data())) return found;
  }
  std::uint32_t* own = lane.owners.take(size);
  if (found != nullptr) {
    std::copy_n(found, size, own);
  } else {
    std::span<const std::int64_t> names = first;
    if (chunk.has_nulls(0)) {  // what stands where there is none means nothing
      lane.names.assign(first.begin(), first.end());
      for (std::size_t row = 0; row < size; ++row)
        if (chunk.is_null(0, row)) lane.names[row] = 0;
      names = lane.names;
    }
    if (!lane.cells.number(names, own)) return nullptr;
  }
  for (std::size_t row = 0; row < size; ++row)
    if ((has_absent && chunk.is_null(column, row)) || chunk.is_null(0, row))
      own[row] = shape.owners ? shape.owners->units() : 0;
  return own;
}

// Units that several lanes have get one number.
void UnitTotals::State::number_units() {
  if (shape.owners) {
    nobody = shape.owners->units();
    units = nobody + 1;
    return;
  }
  WholeCodes blocks;
  static_cast<void>(blocks.of(kNobodysBlock));
  for (const auto& lane : lanes)
    for (const std::int64_t block : lane->cells.blocks())
      lane->first_of.push_back(blocks.of(block) << UnitCells::kBlockBits);
  units = blocks.size() << UnitCells::kBlockBits;
}

bool UnitTotals::State::take(const EngineChunk& chunk, Lane& lane) {
  const std::size_t size = chunk.size(), column = 1 + shape.keys.size();
  if (size > Arena<std::uint64_t>::kPiece || chunk.type(0) != EngineType::Int64) return false;
  const std::int64_t* values = nullptr;
  if (layout.has_value) {
    if (chunk.decimal_digits(column) != shape.values[0].decimal_digits ||
        chunk.type(column) != EngineType::Int64)
      return false;
    values = chunk.int64s(column).data();
  }
  const bool has_absent = layout.has_value && chunk.has_nulls(column);
  if (has_absent && counts_rows) return false;
  const std::uint64_t before = lane.bytes();
  const std::uint32_t* numbers = find_numbers(chunk, lane);
  if (numbers == nullptr) return false;
  lane.codes.number(chunk, 1, lane.groups);
  std::uint32_t least = lane.least, most = lane.most;
  for (const std::uint32_t code : lane.groups) {
    least = std::min(least, code);
    most = std::max(most, code);
  }
  lane.least = least;
  lane.most = most;
  if (std::uint64_t{most} >> code_bits != 0) return false;
  const void* words = nullptr;
  if (is_wide) {
    std::uint64_t* made = lane.wide.take(size);
    put_rows(lane.groups, values, layout, code_bits, made);
    words = made;
  } else {
    std::uint32_t* made = lane.narrow.take(size);
    put_rows(lane.groups, values, layout, code_bits, made);
    words = made;
  }
  lane.runs.push_back({words, numbers, size});
  UnitCells::Rows taken;
  taken.numbers = {numbers, size};
  taken.values = values;
  if (lane.cells.add(taken) != 0) return false;
  return (bytes += lane.bytes() - before) <= memory_max / 2;
}

template <class Visit>
void UnitTotals::State::each_run(const Visit& visit) const {
  constexpr std::size_t kRunsOfAPiece = 16;
  std::vector<std::pair<const Lane*, std::size_t>> pieces;
  for (const auto& lane : lanes)
    for (std::size_t run = 0; run < lane->runs.size(); run += kRunsOfAPiece)
      pieces.emplace_back(lane.get(), run);
  for_each_parallel(pieces.size(), rows >= kRowsForThreads,
                    [&](std::size_t piece, std::size_t worker) {
                      const auto& [lane, first] = pieces[piece];
                      const std::size_t end = std::min(lane->runs.size(), first + kRunsOfAPiece);
                      for (std::size_t run = first; run < end; ++run)
                        visit(*lane, lane->runs[run], worker);
                    });
}

template <class Visit>
void UnitTotals::State::each_row(const Lane::Run& run, const Visit& visit) const {
  const auto* wide = static_cast<const std::uint64_t*>(run.words);
  const auto* narrow = static_cast<const std::uint32_t*>(run.words);
  if (is_wide)
    for (std::size_t row = 0; row < run.count; ++row) visit(wide[row], run.numbers[row]);
  else
    for (std::size_t row = 0; row < run.count; ++row)
      visit(std::uint64_t{narrow[row]}, run.numbers[row]);
}

Result<std::optional<UnitTotals>> UnitTotals::load(Engine& engine, const std::string& sql,
                                                   UnitRowsShape shape,
                                                   const UnitRows::Numbering& number,
                                                   const UnitRows::ManyNumbering& number_many,
                                                   std::uint64_t memory_max) {
  auto state = std::make_unique<State>();
  state->shape = std::move(shape);
  state->memory_max = memory_max;
  if (!state->find_form()) return std::optional<UnitTotals>();
  const UnitRowsShape& wanted = state->shape;
  std::vector<std::string> columns = {wanted.unit};
  columns.insert(columns.end(), wanted.keys.begin(), wanted.keys.end());
  for (const RowValue& value : wanted.values) columns.push_back(value.column);
  DISCREET_TRY(const VisitedRows visited,
               engine.visit(sql, columns, [&](const EngineChunk& chunk, std::size_t lane) {
                 return state->take(chunk, state->lane(lane));
               }));
  if (visited.stopped) return std::optional<UnitTotals>();
  state->rows = visited.rows;
  for (const auto& lane : state->lanes) lane->group_of = lane->codes.numbered(number, number_many);
  state->number_units();
  return std::optional<UnitTotals>(UnitTotals(std::move(state)));
}

UnitPartials UnitTotals::totals() const {
  const State& s = *state_;
  const std::size_t features = s.shape.features.size();
  struct Total {
    std::uint64_t times = 0, above = 0;
  };
  std::vector<Total> all(s.units);
  const CellLayout by = s.layout;
  for (const auto& lane : s.lanes) {
    // Blocks of one lane are of different units.
    const std::size_t blocks = lane->cells.blocks().size();
    constexpr std::size_t kBlocksOfAPiece = 32;
    for_each_parallel(
        blocks / kBlocksOfAPiece + 1, s.rows >= kRowsForThreads,
        [&](std::size_t piece, std::size_t) {
          const auto first = static_cast<std::uint32_t>(piece * kBlocksOfAPiece);
          for (auto code = first; code < std::min<std::size_t>(blocks, first + kBlocksOfAPiece);
               ++code) {
            const std::uint32_t begin = s.unit(*lane, code << UnitCells::kBlockBits);
            const void* cells = lane->cells.block_of(code);
            for (std::size_t i = 0;
                 i < std::min<std::size_t>(UnitCells::kBlockUnits, s.units - begin); ++i) {
              const std::uint64_t cell = by.read(cells, i);
              all[begin + i].times += by.times(cell);
              all[begin + i].above += by.above(cell);
            }
          }
        });
    for (const auto& [number, cell, group] : lane->cells.full) {
      Total& total = all[s.unit(*lane, static_cast<std::uint32_t>(number))];
      total.times += by.times(cell);
      total.above += by.above(cell);
    }
  }
  // Rows of no group are in the cells too.
  for (const auto& lane : s.lanes) {
    const auto& groups = lane->group_of;
    if (lane->least > lane->most ||
        std::find(groups.begin() + lane->least, groups.begin() + lane->most + 1,
                  UnitRows::kDropped) == groups.begin() + lane->most + 1)
      continue;
    for (const Lane::Run& run : lane->runs)
      s.each_row(run, [&](std::uint64_t word, std::uint32_t number) {
        if (s.group(*lane, word) != UnitRows::kDropped) return;
        Total& total = all[s.unit(*lane, number)];
        --total.times;
        total.above -= word >> s.code_bits;
      });
  }
  for (std::uint32_t unit = s.nobody; unit < s.units && s.is_nobody(unit); ++unit) all[unit] = {};
  UnitPartials made;
  made.units = s.units;
  made.features = features;
  made.most = most_of(s.shape, s.rows);
  const auto largest = std::max(Int128{s.layout.upper}, -Int128{s.layout.lower});
  made.numbers = Wholes(s.units * features, (largest + 1) * Int128{s.rows} < Int128{1} << 62);
  for (std::size_t unit = 0; unit < s.units; ++unit)
    for (std::size_t f = 0; f < features; ++f)
      made.numbers.set(unit * features + f,
                       s.feature(s.shape.features[f], all[unit].times, all[unit].above));
  return made;
}

UnitTotals::Split UnitTotals::split(const std::vector<bool>& apart, std::size_t groups) const {
  const State& s = *state_;
  std::vector<std::uint64_t> is_apart(s.units / 64 + 1);
  for (std::uint32_t unit = 0; unit < s.units; ++unit)
    if (s.is_nobody(unit) || apart[unit]) is_apart[unit / 64] |= std::uint64_t{1} << (unit % 64);
  struct Total {
    std::uint64_t times = 0, above = 0;
  };
  struct Row {
    std::uint32_t unit, group;
    std::uint64_t above;
  };
  std::vector<std::vector<Total>> totals(worker_count(), std::vector<Total>(groups + 1));
  std::vector<std::vector<Row>> rows(worker_count());
  const auto add_run = [&]<bool kOwners>(const Lane& lane, const Lane::Run& run,
                                         std::size_t worker) {
    Total* const of_group = totals[worker].data();
    const std::uint32_t* const group_of = lane.group_of.data();
    const std::uint32_t* const first_of = lane.first_of.data();
    const std::uint64_t codes = (std::uint64_t{1} << s.code_bits) - 1;
    const int code_bits = s.code_bits;
    s.each_row(run, [&](std::uint64_t word, std::uint32_t number) {
      const std::uint32_t unit =
          kOwners ? number : first_of[number >> UnitCells::kBlockBits] | (number & kInBlock);
      const std::size_t group = std::min<std::size_t>(group_of[word & codes], groups);
      if ((is_apart[unit / 64] >> (unit % 64) & 1) != 0) [[unlikely]] {
        if (!s.is_nobody(unit) && group < groups)
          rows[worker].push_back({unit, static_cast<std::uint32_t>(group), word >> code_bits});
        return;
      }
      ++of_group[group].times;
      of_group[group].above += word >> code_bits;
    });
  };
  s.each_run([&](const Lane& lane, const Lane::Run& run, std::size_t worker) {
    s.shape.owners ? add_run.operator()<true>(lane, run, worker)
                   : add_run.operator()<false>(lane, run, worker);
  });

  Split made;
  const std::size_t features = s.shape.features.size();
  made.others.resize(features * groups);
  for (std::size_t f = 0; f < features; ++f)
    for (std::size_t group = 0; group < groups; ++group)
      for (const auto& of_worker : totals)
        made.others[f * groups + group] +=
            s.feature(s.shape.features[f], of_worker[group].times, of_worker[group].above);

  std::vector<Row> all = std::move(rows.front());
  for (std::size_t worker = 1; worker < rows.size(); ++worker) {
    all.insert(all.end(), rows[worker].begin(), rows[worker].end());
    rows[worker] = {};
  }
  std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) {
    return a.unit != b.unit ? a.unit < b.unit : a.group < b.group;
  });
  UnitPartials& partials = made.apart;
  partials.features = features;
  partials.numbers = Wholes(all.size() * features, false);
  for (std::size_t row = 0; row < all.size();) {
    const std::uint32_t unit = all[row].unit;
    made.units.push_back(unit);
    partials.begins.push_back(partials.groups.size());
    while (row < all.size() && all[row].unit == unit) {
      const std::uint32_t group = all[row].group;
      Total total;
      for (; row < all.size() && all[row].unit == unit && all[row].group == group; ++row) {
        ++total.times;
        total.above += all[row].above;
      }
      const std::size_t at = partials.groups.size() * features;
      partials.groups.push_back(group);
      for (std::size_t f = 0; f < features; ++f)
        partials.numbers.set(at + f, s.feature(s.shape.features[f], total.times, total.above));
    }
    partials.ends.push_back(partials.groups.size());
  }
  partials.units = made.units.size();
  return made;
}

}  // namespace discreet
