#include "engines/unit_link_internal.h"

#include <memory>
#include <mutex>

namespace discreet {

Result<std::optional<UnitLink>> UnitLink::load(Engine& engine, const std::string& sql,
                                               UnitTexts& texts) {
  struct Lane {
    Pairs pairs;
    std::vector<std::int64_t> units;
  };
  std::mutex mutex;
  std::vector<std::unique_ptr<Lane>> lanes;
  const auto take = [&](const EngineChunk& chunk, std::size_t number) {
    if (chunk.type(0) != EngineType::Int64) return false;
    Lane* lane = nullptr;
    {
      const std::lock_guard lock(mutex);
      while (lanes.size() <= number) lanes.push_back(std::make_unique<Lane>());
      lane = lanes[number].get();
    }
    lane->units.resize(chunk.size());
    name_units(chunk, 1, texts, lane->units);
    const auto keys = chunk.int64s(0);
    for (std::size_t row = 0; row < chunk.size(); ++row)
      if (!chunk.is_null(0, row) && !chunk.is_null(1, row))
        lane->pairs.emplace_back(keys[row], lane->units[row]);
    return true;
  };
  DISCREET_TRY(const VisitedRows visited, engine.visit(sql, {"link", "unit"}, take));
  if (visited.stopped) return std::optional<UnitLink>();
  std::vector<Pairs> parts;
  for (const auto& lane : lanes) parts.push_back(std::move(lane->pairs));
  return make(parts);
}

}  // namespace discreet
