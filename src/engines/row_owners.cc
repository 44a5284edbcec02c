#include "engines/row_owners.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "engines/code_table.h"
#include "engines/unit_link_internal.h"
#include "engines/unit_names_internal.h"

namespace discreet {
namespace {

/// Rows that lie one after the other.
struct Run {
  std::int64_t place;
  RawVector<std::int64_t> units;  // UnitLink::kNobody: nobody's
};

}  // namespace

Result<std::shared_ptr<const RowOwners>> RowOwners::load(Engine& engine, const OwnersAsked& asked,
                                                         std::uint64_t bytes_max) {
  const std::shared_ptr<const RowOwners> none;
  UnitTexts texts;
  std::optional<UnitLink> link;
  if (!asked.link_sql.empty()) {
    DISCREET_TRY(link, UnitLink::load(engine, asked.link_sql, texts));
    if (!link) return none;
  }
  std::mutex mutex;
  std::vector<std::unique_ptr<std::vector<Run>>> lanes;
  std::atomic<std::uint64_t> rows = 0;
  const auto take = [&](const EngineChunk& chunk, std::size_t number) {
    if (chunk.type(0) != EngineType::Int64 || chunk.has_nulls(0)) return false;
    if (link && chunk.type(1) != EngineType::Int64) return false;
    const auto places = chunk.int64s(0);
    if (!follow_each_other(places)) return false;
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
    return (rows += chunk.size()) * sizeof(std::uint32_t) <= bytes_max;
  };
  DISCREET_TRY(const VisitedRows visited, engine.visit(asked.sql, {"place", "unit"}, take));
  if (visited.stopped) return none;

  std::vector<Run> runs;
  for (const auto& lane : lanes) std::move(lane->begin(), lane->end(), std::back_inserter(runs));
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.place < b.place; });
  const std::shared_ptr<RowOwners> made(new RowOwners());
  // Every file's rows from its first on, none left out.
  std::int64_t lowest = INT64_MAX, highest = INT64_MIN;
  std::vector<std::size_t> sizes;
  for (const Run& run : runs) {
    const auto file = static_cast<std::size_t>(static_cast<std::uint64_t>(run.place) >> kRowBits);
    if (sizes.size() <= file) sizes.resize(file + 1);
    const auto row = static_cast<std::uint64_t>(run.place) & ((std::uint64_t{1} << kRowBits) - 1);
    if (run.place < 0 || row != sizes[file]) return none;
    sizes[file] += run.units.size();
    for (const std::int64_t unit : run.units) {
      if (unit == UnitLink::kNobody) continue;
      lowest = std::min(lowest, unit);
      highest = std::max(highest, unit);
    }
  }
  // Names that lie close together are numbers already.
  const std::uint64_t width =
      lowest > highest ? 0
                       : static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest);
  const bool close = width < 2 * visited.rows + 1024;
  constexpr std::uint64_t kUnitsMax = UINT32_MAX - 1;
  if (visited.rows >= kUnitsMax / 2) return none;
  NumberCodes numbers;
  made->lowest_ = lowest;
  made->files_.resize(sizes.size());
  for (std::size_t file = 0; file < sizes.size(); ++file) made->files_[file].reserve(sizes[file]);
  constexpr std::uint32_t kNobody = UINT32_MAX;
  for (Run& run : runs) {
    auto& out = made->files_[static_cast<std::uint64_t>(run.place) >> kRowBits];
    for (const std::int64_t unit : run.units)
      out.push_back(unit == UnitLink::kNobody ? kNobody
                    : close ? static_cast<std::uint32_t>(static_cast<std::uint64_t>(unit) -
                                                         static_cast<std::uint64_t>(lowest))
                            : numbers.of(unit));
    run.units = {};
  }
  if (lowest <= highest)
    made->units_ = close ? static_cast<std::uint32_t>(width + 1) : numbers.size();
  if (!close) made->names_ = numbers.values();
  for (auto& file : made->files_)
    for (std::uint32_t& unit : file)
      if (unit == kNobody) unit = made->units_;
  return std::shared_ptr<const RowOwners>(made);
}

std::uint64_t RowOwners::bytes() const {
  std::uint64_t total = names_.size() * sizeof(std::int64_t);
  for (const auto& file : files_) total += file.size() * sizeof(std::uint32_t);
  return total;
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
