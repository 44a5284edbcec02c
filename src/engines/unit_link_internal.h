// From a key to the privacy unit that it belongs to: the rows of the table a policy's link leads
// to, read once, so that the engine need not join every row to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engines/code_table.h"
#include "engines/engine.h"
#include "engines/raw_vector.h"
#include "engines/unit_names_internal.h"

namespace discreet {

class UnitLink {
 public:
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;  ///< key, unit

  /// From the rows (`link`, `unit`) of a statement. Nothing: as make(), or `link` is no whole
  /// number.
  static Result<std::optional<UnitLink>> load(Engine& engine, const std::string& sql,
                                              UnitTexts& texts);

  /// Never a unit's name: pairs with it cannot be held.
  static constexpr std::int64_t kNobody = INT64_MIN;

  /// Nothing: some key comes twice, so that a join would make two rows of one; or the name of
  /// nobody is somebody's.
  static std::optional<UnitLink> make(const std::vector<Pairs>& parts) {
    UnitLink link;
    std::size_t count = 0;
    std::int64_t lowest = INT64_MAX, highest = INT64_MIN;
    for (const Pairs& part : parts) {
      count += part.size();
      for (const auto& [key, unit] : part) {
        if (unit == kNobody) return std::nullopt;
        lowest = std::min(lowest, key);
        highest = std::max(highest, key);
      }
    }
    if (count == 0) return link;
    const std::uint64_t width =
        static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest);
    link.dense_ = width < kDenseWidth * count + 1024;
    if (link.dense_) {
      link.lowest_ = lowest;
      link.units_.assign(width + 1, kNobody);
    } else {
      std::size_t slots = 1024;
      while (slots < 2 * count) slots *= 2;
      link.slots_.assign(slots, {0, kNobody});
    }
    for (const Pairs& part : parts)
      for (const auto& [key, unit] : part)
        if (!link.add(key, unit)) return std::nullopt;
    return link;
  }

  void prefetch(std::int64_t key) const {
    if (dense_)
      __builtin_prefetch(units_.data() + std::min<std::uint64_t>(offset(key), units_.size() - 1));
    else if (!slots_.empty())
      __builtin_prefetch(&slots_[place(key)]);
  }
  /// kNobody: no row of that table has this key.
  std::int64_t unit(std::int64_t key) const {
    if (dense_) {
      const std::uint64_t at = offset(key);
      return at < units_.size() ? units_[at] : kNobody;
    }
    if (slots_.empty()) return kNobody;
    std::size_t at = place(key);
    for (; slots_[at].second != kNobody; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].first == key) return slots_[at].second;
    return kNobody;
  }

 private:
  static constexpr std::uint64_t kDenseWidth = 8;  // order numbers have gaps

  std::uint64_t offset(std::int64_t key) const {
    return static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(lowest_);
  }
  std::size_t place(std::int64_t key) const {
    return scatter(static_cast<std::uint64_t>(key)) & (slots_.size() - 1);
  }
  bool add(std::int64_t key, std::int64_t unit) {
    if (dense_) return std::exchange(units_[offset(key)], unit) == kNobody;
    std::size_t at = place(key);
    for (; slots_[at].second != kNobody; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].first == key) return false;
    slots_[at] = {key, unit};
    return true;
  }

  struct Slot {
    std::int64_t first, second;
  };
  bool dense_ = false;
  std::int64_t lowest_ = 0;
  RawVector<std::int64_t> units_;
  RawVector<Slot> slots_;
};

}  // namespace discreet
