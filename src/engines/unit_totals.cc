#include "engines/unit_totals.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include "base/parallel.h"
#include "engines/key_codes_internal.h"
#include "engines/unit_cells_internal.h"

namespace discreet {
namespace {

// A thread has sums of its own for every group: not of so many that they are far away.
constexpr std::uint64_t kGroupsMax = 1 << 16;
constexpr std::uint64_t kRowsForThreads = 50'000;

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
  Lane(const UnitRowsShape& shape, const CellLayout& layout)
      : codes(shape.keys.size(), shape.key_ranges),
        cells(UnitCells::for_all(layout, shape.owners->units())) {}

  /// Rows one after the other.
  struct Run {
    const void* words;
    const std::uint32_t* numbers;  // of units
    std::size_t count;
  };
  KeyCodes codes;
  UnitCells cells;
  std::vector<Run> runs;
  Arena<std::uint32_t> narrow;
  Arena<std::uint64_t> wide;
  Arena<std::uint32_t> owners;  // numbers, where they do not lie one after the other in the owners'
  std::uint32_t least = UINT32_MAX, most = 0;  // of the codes that rows have
  std::vector<std::uint32_t> group_of;         // by code, after load(); kDropped: none
  // For the chunk at hand.
  std::vector<std::uint32_t> groups, gathered;
  std::vector<std::uint8_t> done;

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

  /// Nothing of it is set: there is no form for these rows.
  bool find_form();
  Lane& lane(std::size_t number);
  bool take(const EngineChunk& chunk, Lane& lane);
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
  if (!shape.owners || shape.keys.empty() || !shape.groups_known ||
      *shape.groups_known > kGroupsMax)
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
  return UnitCells::bytes_for_all(layout, shape.owners->units()) * worker_count() <= memory_max / 2;
}

UnitTotals::Lane& UnitTotals::State::lane(std::size_t number) {
  const std::lock_guard lock(mutex);
  while (lanes.size() <= number) lanes.push_back(std::make_unique<Lane>(shape, layout));
  return *lanes[number];
}

bool UnitTotals::State::take(const EngineChunk& chunk, Lane& lane) {
  const std::size_t size = chunk.size(), column = 1 + shape.keys.size();
  if (size > Arena<std::uint64_t>::kPiece || chunk.type(0) != EngineType::Int64 ||
      chunk.has_nulls(0))
    return false;
  const std::int64_t* values = nullptr;
  if (layout.has_value) {
    if (chunk.decimal_digits(column) != shape.values[0].decimal_digits ||
        chunk.type(column) != EngineType::Int64)
      return false;
    values = chunk.int64s(column).data();
  }
  const std::uint64_t before = lane.bytes();
  const std::uint32_t* numbers = shape.owners->of_each(chunk.int64s(0), lane.gathered);
  if (numbers == nullptr) return false;
  const bool has_absent = layout.has_value && chunk.has_nulls(column);
  if (has_absent && counts_rows) return false;
  if (has_absent || numbers == lane.gathered.data()) {
    std::uint32_t* own = lane.owners.take(size);
    std::copy_n(numbers, size, own);
    // Nothing is added by a row without its value: it may be nobody's.
    for (std::size_t row = 0; row < size && has_absent; ++row)
      if (chunk.is_null(column, row)) own[row] = shape.owners->units();
    numbers = own;
  }
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
  lane.done.resize(size);
  UnitCells::Rows taken;
  taken.numbers = {numbers, size};
  taken.values = values;
  taken.done = lane.done;
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
  return std::optional<UnitTotals>(UnitTotals(std::move(state)));
}

UnitPartials UnitTotals::totals() const {
  const State& s = *state_;
  const std::size_t units = s.shape.owners->units(), features = s.shape.features.size();
  struct Total {
    std::uint64_t times, above;
  };
  RawVector<Total> all(units + 1);  // and nobody's
  const CellLayout by = s.layout;
  constexpr std::size_t kUnitsOfAPiece = 32 * UnitCells::kBlockUnits;
  for_each_parallel(units / kUnitsOfAPiece + 1, s.rows >= kRowsForThreads,
                    [&](std::size_t piece, std::size_t) {
                      const std::size_t first = piece * kUnitsOfAPiece,
                                        end = std::min(units + 1, first + kUnitsOfAPiece);
                      for (std::size_t unit = first; unit < end; ++unit) all[unit] = {0, 0};
                      for (const auto& lane : s.lanes)
                        for (std::size_t unit = first; unit < end; ++unit) {
                          const std::uint64_t cell = lane->cells.cell(unit);
                          all[unit].times += by.times(cell);
                          all[unit].above += by.above(cell);
                        }
                    });
  for (const auto& lane : s.lanes)
    for (const auto& [unit, cell, group] : lane->cells.full) {
      all[static_cast<std::size_t>(unit)].times += by.times(cell);
      all[static_cast<std::size_t>(unit)].above += by.above(cell);
    }
  // Rows of no group are in the cells too.
  for (const auto& lane : s.lanes) {
    const auto& groups = lane->group_of;
    if (lane->least > lane->most ||
        std::find(groups.begin() + lane->least, groups.begin() + lane->most + 1,
                  UnitRows::kDropped) == groups.begin() + lane->most + 1)
      continue;
    for (const Lane::Run& run : lane->runs)
      s.each_row(run, [&](std::uint64_t word, std::uint32_t unit) {
        if (s.group(*lane, word) != UnitRows::kDropped) return;
        --all[unit].times;
        all[unit].above -= word >> s.code_bits;
      });
  }
  UnitPartials made;
  made.units = units;
  made.features = features;
  const auto largest = std::max(Int128{s.layout.upper}, -Int128{s.layout.lower});
  made.numbers = Wholes(units * features, (largest + 1) * Int128{s.rows} < Int128{1} << 62);
  for (std::size_t unit = 0; unit < units; ++unit)
    for (std::size_t f = 0; f < features; ++f)
      made.numbers.set(unit * features + f,
                       s.feature(s.shape.features[f], all[unit].times, all[unit].above));
  return made;
}

UnitTotals::Split UnitTotals::split(const std::vector<bool>& apart, std::size_t groups) const {
  const State& s = *state_;
  const std::uint32_t nobody = s.shape.owners->units();
  std::vector<std::uint64_t> is_apart((nobody + std::uint64_t{64}) / 64);
  for (std::uint32_t unit = 0; unit <= nobody; ++unit)
    if (unit == nobody || apart[unit]) is_apart[unit / 64] |= std::uint64_t{1} << (unit % 64);
  struct Total {
    std::uint64_t times = 0, above = 0;
  };
  struct Row {
    std::uint32_t unit, group;
    std::uint64_t above;
  };
  std::vector<std::vector<Total>> totals(worker_count(), std::vector<Total>(groups + 1));
  std::vector<std::vector<Row>> rows(worker_count());
  s.each_run([&](const Lane& lane, const Lane::Run& run, std::size_t worker) {
    Total* const of_group = totals[worker].data();
    const std::uint32_t* const group_of = lane.group_of.data();
    const std::uint64_t codes = (std::uint64_t{1} << s.code_bits) - 1;
    const int code_bits = s.code_bits;
    s.each_row(run, [&](std::uint64_t word, std::uint32_t unit) {
      const std::size_t group = std::min<std::size_t>(group_of[word & codes], groups);
      if ((is_apart[unit / 64] >> (unit % 64) & 1) != 0) [[unlikely]] {
        if (unit != nobody && group < groups)
          rows[worker].push_back({unit, static_cast<std::uint32_t>(group), word >> code_bits});
        return;
      }
      ++of_group[group].times;
      of_group[group].above += word >> code_bits;
    });
  });

  Split made;
  const std::size_t features = s.shape.features.size();
  made.others.resize(features * groups);
  for (std::size_t f = 0; f < features; ++f)
    for (std::size_t group = 0; group < groups; ++group)
      for (const auto& of_worker : totals)
        made.others[f * groups + group] +=
            s.feature(s.shape.features[f], of_worker[group].times, of_worker[group].above);

  std::vector<Row> all;
  for (const auto& of_worker : rows) all.insert(all.end(), of_worker.begin(), of_worker.end());
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
