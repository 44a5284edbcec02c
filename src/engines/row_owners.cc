#include "engines/row_owners.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "engines/code_table.h"
#include "engines/spare_memory.h"
#include "engines/unit_link_internal.h"
#include "engines/unit_names_internal.h"

namespace discreet {
namespace {

/// Rows that lie one after the other.
struct Run {
  std::int64_t place;
  RawVector<std::int64_t> units;  // UnitLink::kNobody: nobody's
};

/// All rows by their places. Nothing: as RowOwners::load().
Result<std::optional<std::vector<Run>>> read_runs(Engine& engine, const OwnersAsked& asked,
                                                  std::uint64_t rows_max) {
  using Runs = std::optional<std::vector<Run>>;
  UnitTexts texts;
  std::optional<UnitLink> link;
  if (!asked.link_sql.empty()) {
    DISCREET_TRY(link, UnitLink::load(engine, asked.link_sql, texts));
    if (!link) return Runs();
  }
  std::mutex mutex;
  std::vector<std::unique_ptr<std::vector<Run>>> lanes;
  std::atomic<std::uint64_t> rows = 0;
  const auto take = [&](const EngineChunk& chunk, std::size_t number) {
    if (chunk.type(0) != EngineType::Int64 || chunk.has_nulls(0)) return false;
    if (link && chunk.type(1) != EngineType::Int64) return false;
    const auto places = chunk.int64s(0);
    if (places[0] < 0 || !follow_each_other(places)) return false;
    std::vector<Run>* lane = nullptr;
    {
      const std::lock_guard lock(mutex);
      while (lanes.size() <= number) lanes.push_back(std::make_unique<std::vector<Run>>());
      lane = lanes[number].get();
    }
    lane->push_back({places[0], {}});
    auto& units = lane->back().units;
    units.resize(chunk.size());
    name_units(chunk, 1, texts, units);
    for (std::size_t row = 0; row < units.size(); ++row) {
      const bool is_null = chunk.is_null(1, row);
      if (!is_null && units[row] == UnitLink::kNobody) return false;
      if (is_null)
        units[row] = UnitLink::kNobody;
      else if (link)
        units[row] = link->unit(units[row]);
    }
    return (rows += chunk.size()) <= rows_max;
  };
  DISCREET_TRY(const VisitedRows visited, engine.visit(asked.sql, {"place", "unit"}, take));
  if (visited.stopped) return Runs();
  std::vector<Run> runs;
  for (const auto& lane : lanes) std::move(lane->begin(), lane->end(), std::back_inserter(runs));
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.place < b.place; });
  return Runs(std::move(runs));
}

std::size_t file_of(const Run& run) {
  return static_cast<std::size_t>(static_cast<std::uint64_t>(run.place) >> RowOwners::kRowBits);
}

/// Rows of every file. Nothing: some are left out, or there twice.
std::optional<std::vector<std::size_t>> sizes_of(const std::vector<Run>& runs) {
  std::vector<std::size_t> sizes;
  for (const Run& run : runs) {
    if (sizes.size() <= file_of(run)) sizes.resize(file_of(run) + 1);
    std::size_t& size = sizes[file_of(run)];
    const auto next = std::uint64_t{file_of(run)} << RowOwners::kRowBits | std::uint64_t{size};
    if (static_cast<std::uint64_t>(run.place) != next) return std::nullopt;
    size += run.units.size();
  }
  return sizes;
}

}  // namespace

Result<std::shared_ptr<const RowOwners>> RowOwners::load(Engine& engine, const OwnersAsked& asked,
                                                         std::uint64_t bytes_max) {
  const std::uint64_t rows_max =
      std::min<std::uint64_t>(bytes_max / sizeof(std::uint32_t), UINT32_MAX / 4);
  DISCREET_TRY(auto runs, read_runs(engine, asked, rows_max));
  const auto sizes = runs ? sizes_of(*runs) : std::nullopt;
  if (!sizes) return std::shared_ptr<const RowOwners>();
  const std::shared_ptr<RowOwners> made(new RowOwners());
  std::int64_t lowest = INT64_MAX, highest = INT64_MIN;
  std::uint64_t rows = 0;
  for (const Run& run : *runs) {
    rows += run.units.size();
    for (const std::int64_t unit : run.units) {
      if (unit == UnitLink::kNobody) continue;
      lowest = std::min(lowest, unit);
      highest = std::max(highest, unit);
    }
  }
  const bool nobody = lowest > highest;
  const std::uint64_t width =
      nobody ? 0 : static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest);
  // By first appearance: rows that lie together are of units that lie together, at least where
  // units come in the same order again. Names that lie close together need no table of hashes.
  const bool close = width < 2 * rows + 1024;
  constexpr std::uint32_t kNobody = UINT32_MAX;
  std::vector<std::uint32_t> by_distance(close && !nobody ? width + 1 : 0, kNobody);
  NumberCodes by_name;
  const auto number = [&](std::int64_t unit) {
    if (unit == UnitLink::kNobody) return kNobody;
    if (!close) return by_name.of(unit);
    std::uint32_t& found =
        by_distance[static_cast<std::uint64_t>(unit) - static_cast<std::uint64_t>(lowest)];
    if (found == kNobody) {
      found = static_cast<std::uint32_t>(made->names_.size());
      made->names_.push_back(unit);
    }
    return found;
  };
  for (const std::size_t size : *sizes) made->files_.emplace_back().reserve(size);
  for (Run& run : *runs) {
    auto& out = made->files_[file_of(run)];
    for (const std::int64_t unit : run.units) out.push_back(number(unit));
    run.units = {};
  }
  if (!close) made->names_ = by_name.values();
  for (auto& file : made->files_) std::replace(file.begin(), file.end(), kNobody, made->units());
  // There may be as many units as rows.
  if (made->bytes() > bytes_max) return std::shared_ptr<const RowOwners>();
  return std::shared_ptr<const RowOwners>(made);
}

const std::uint32_t* RowOwners::of_each(std::span<const std::int64_t> places,
                                        std::vector<std::uint32_t>& gathered) const {
  if (follow_each_other(places)) return of(places[0], places.size());
  gathered.resize(places.size());
  for (std::size_t row = 0; row < places.size(); ++row) {
    const std::uint32_t* number = of(places[row], 1);
    if (number == nullptr) return nullptr;
    gathered[row] = *number;
  }
  return gathered.data();
}

std::uint64_t RowOwners::bytes() const {
  std::uint64_t total = names_.size() * sizeof(std::int64_t);
  for (const auto& file : files_) total += file.size() * sizeof(std::uint32_t);
  return total;
}

std::uint64_t OwnersKept::bytes_for_this_machine() {
  return spare_memory(std::uint64_t{1} << 30);
}

std::vector<OwnersKept::Kept>::iterator OwnersKept::of(const std::string& name) {
  return std::find_if(kept_.begin(), kept_.end(),
                      [&](const Kept& one) { return one.name == name; });
}

void OwnersKept::make_room() {
  const auto bytes = [&] {
    std::uint64_t total = 0;
    for (const Kept& one : kept_)
      if (one.owners) total += one.owners->bytes();
    return total;
  };
  while (kept_.size() > 1 && (kept_.size() > kKeptMax || bytes() > bytes_max_)) {
    const auto first =
        std::find_if(kept_.begin(), kept_.end(), [](const Kept& one) { return !one.is_read; });
    if (first == kept_.end()) return;
    kept_.erase(first);
  }
}

Result<std::shared_ptr<const RowOwners>> OwnersKept::find(Engine& engine, const OwnersAsked& asked,
                                                          const std::string& state) {
  const std::string name = asked.sql + "\n" + asked.link_sql + "\n" + state;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = of(name); found == kept_.end())
      kept_.push_back({name});
    else
      std::rotate(found, found + 1, kept_.end());
    make_room();
    Kept& mine = kept_.back();
    constexpr int kWorthIt = 2;
    if (mine.is_read || mine.asked >= kWorthIt) return mine.owners;
    if (++mine.asked < kWorthIt) return mine.owners;
    mine.is_read = true;
  }
  auto owners = RowOwners::load(engine, asked, bytes_max_);
  const bool holds = engine.files_state(asked.tables) == state;
  const std::lock_guard lock(mutex_);
  const auto found = of(name);
  found->is_read = false;
  if (!owners || !holds) {
    kept_.erase(found);
    if (owners) return std::shared_ptr<const RowOwners>();
    return owners.error();
  }
  found->owners = *owners;
  make_room();
  return owners;
}

}  // namespace discreet
