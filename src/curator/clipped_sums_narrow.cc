// What ClippedSums measures and adds up under Laplace noise, where all of it is known to fit 64
// bits: the same integers as the long way.
#include <algorithm>
#include <mutex>

#include "base/parallel.h"
#include "curator/clipped_sums_internal.h"
#include "curator/clipping_internal.h"

namespace discreet {
namespace {

std::uint64_t magnitude_of(std::int64_t value) {
  return static_cast<std::uint64_t>(value < 0 ? -value : value);
}

std::uint64_t in_64_bits(UInt128 number) {
  return static_cast<std::uint64_t>(std::min<UInt128>(number, UINT64_MAX));
}

/// Sizes of 64 bits are above no bound that has more.
std::vector<std::uint64_t> in_64_bits(const std::vector<UInt128>& bounds) {
  std::vector<std::uint64_t> cut;
  for (const UInt128 bound : bounds)
    if (bound < UINT64_MAX) cut.push_back(static_cast<std::uint64_t>(bound));
  return cut;
}

}  // namespace

std::optional<ClippedSums::NarrowSums> ClippedSums::narrow(
    const Contributions& contributions) const {
  const UnitPartials& all = contributions.partials();
  NarrowSums found{all.numbers.narrow(), {}};
  if (found.numbers == nullptr || all.most.empty()) return std::nullopt;
  UInt128 size = 0;
  for (std::size_t sum = 0; sum < sums_.size(); ++sum) {
    const Measure& measure = measures_[sum];
    if (!measure.plain && !measure.moved) return std::nullopt;
    const std::size_t feature = measure.plain ? *measure.plain : *measure.moved;
    const std::size_t by = measure.plain ? feature : measure.by;
    const Int128 times = measure.plain ? 0 : measure.times;
    constexpr UInt128 kMost = UInt128{1} << 62;
    if (absolute(times) >= kMost || all.most[feature] >= kMost || all.most[by] >= kMost)
      return std::nullopt;
    const UInt128 most = all.most[feature] + absolute(times) * all.most[by];
    if (most >= kMost) return std::nullopt;
    size += size_of(most, sum);
    if (size >= kMost) return std::nullopt;
    found.sums.push_back({feature, by, static_cast<std::int64_t>(times)});
  }
  return found;
}

ClippedSums::Sizes ClippedSums::measure(const Contributions& contributions,
                                        const NarrowSums& narrow) const {
  const UnitPartials& all = contributions.partials();
  Sizes sizes{RawVector<std::uint64_t>(all.units), std::vector<std::int64_t>(bounds_.size())};
  const BoundsByWidth<std::uint64_t> bounds(in_64_bits(bounds_));
  std::mutex mutex;
  contributions.for_each_piece([&](std::size_t unit, std::size_t last, std::size_t) {
    std::vector<std::int64_t> just_above(bounds_.size() + 1);
    const std::size_t features = all.features, count = narrow.sums.size();
    const NarrowSum* const sums = narrow.sums.data();
    for (; unit < last; ++unit) {
      const std::int64_t* const first = narrow.numbers + all.begin(unit) * features;
      const std::int64_t* const end = narrow.numbers + all.end(unit) * features;
      std::uint64_t size = 0;
      for (std::size_t sum = 0; sum < count; ++sum) {
        const NarrowSum one = sums[sum];
        std::uint64_t magnitude = 0;
        std::int64_t total = 0;
        if (options_.one_group) {
          one.each(first, end, features, [&](std::int64_t value) { total += value; });
          magnitude = magnitude_of(total);
        } else {
          one.each(first, end, features,
                   [&](std::int64_t value) { magnitude += magnitude_of(value); });
        }
        size += static_cast<std::uint64_t>(size_of(magnitude, sum));
      }
      sizes.of_unit[unit] = size;
      ++just_above[bounds.below(size)];
    }
    const std::lock_guard lock(mutex);
    sizes.count(just_above);
  });
  return sizes;
}

std::vector<Int128> ClippedSums::add_up(const Contributions& contributions,
                                        const NarrowSums& narrow, std::size_t groups,
                                        const Sizes& sizes, UInt128 bound) const {
  const UnitPartials& all = contributions.partials();
  const std::size_t count = narrow.sums.size();
  constexpr std::size_t kCellsForThreads = std::size_t{1} << 20;
  const std::uint64_t most = in_64_bits(bound);
  struct Cells {  // by sum, by group
    std::vector<std::int64_t> whole;
    std::vector<Int128> clipped;  // of units above the bound, scaled
  };
  std::vector<Cells> of_worker(worker_count());
  contributions.for_each_piece(
      [&](std::size_t unit, std::size_t last, std::size_t worker) {
        auto& [whole, clipped] = of_worker[worker];
        whole.resize(groups * count);
        clipped.resize(groups * count);
        const std::size_t features = all.features;
        const std::uint32_t* const group_of =
            options_.one_group || all.groups.empty() ? nullptr : all.groups.data();
        const std::size_t only_group = options_.one_group ? 0 : all.only_group;
        for (; unit < last; ++unit) {
          const std::uint64_t size = sizes.of_unit[unit];
          if (size > most) [[unlikely]] {
            each_cell(contributions, unit, [&](std::uint32_t group, std::size_t sum, Int128 value) {
              clipped[sum * groups + group] +=
                  scaled_down(value * (Int128{1} << measures_[sum].fine), bound, size);
            });
            continue;
          }
          const std::size_t begin = all.begin(unit), end = all.end(unit);
          for (std::size_t row = begin; row < end; ++row) {
            const std::int64_t* const numbers = narrow.numbers + row * features;
            std::int64_t* cell = whole.data() + (group_of == nullptr ? only_group : group_of[row]);
            for (const NarrowSum& one : narrow.sums) {
              *cell += one.of(numbers);
              cell += groups;
            }
          }
        }
      },
      groups * count <= kCellsForThreads);
  std::vector<Int128> added(groups * count);
  for (const auto& [whole, clipped] : of_worker)
    for (std::size_t cell = 0; cell < whole.size(); ++cell)
      added[cell] += whole[cell] * (Int128{1} << measures_[cell / groups].fine) + clipped[cell];
  return added;
}

ClippedSums::Sizes ClippedSums::measure_values(const Contributions& contributions,
                                               const NarrowSums& narrow) const {
  Sizes sizes{{}, std::vector<std::int64_t>(bounds_.size())};
  std::vector<UInt128> within;
  for (const UInt128 bound : bounds_) within.push_back(value_within(bound));
  const BoundsByWidth<std::uint64_t> bounds(in_64_bits(within));
  std::mutex mutex;
  contributions.for_each_piece([&](std::size_t unit, std::size_t last, std::size_t) {
    std::vector<std::int64_t> just_above(bounds_.size() + 1);
    const std::size_t features = contributions.features();
    const NarrowSum one = narrow.sums.front();
    one.each(narrow.numbers + unit * features, narrow.numbers + last * features, features,
             [&](std::int64_t value) { ++just_above[bounds.below(magnitude_of(value))]; });
    const std::lock_guard lock(mutex);
    sizes.count(just_above);
  });
  return sizes;
}

std::vector<Int128> ClippedSums::add_up_values(const Contributions& contributions,
                                               const NarrowSums& narrow, std::size_t groups,
                                               UInt128 bound) const {
  const std::uint64_t within = in_64_bits(value_within(bound));
  const Int128 step = Int128{1} << measures_.front().fine;
  std::vector<Int128> added(groups);
  std::mutex mutex;
  contributions.for_each_piece([&](std::size_t unit, std::size_t last, std::size_t) {
    // Units of one row are of one group.
    const std::size_t group = options_.one_group || unit == last ? 0 : contributions.group(unit);
    const std::size_t features = contributions.features();
    const NarrowSum one = narrow.sums.front();
    std::int64_t whole = 0;
    Int128 clipped = 0;
    one.each(narrow.numbers + unit * features, narrow.numbers + last * features, features,
             [&](std::int64_t value) {
               if (magnitude_of(value) <= within) [[likely]]
                 whole += value;
               else
                 clipped += scaled_down(value * step, bound, size_of(magnitude_of(value), 0));
             });
    const std::lock_guard lock(mutex);
    added[group] += whole * step + clipped;
  });
  return added;
}

}  // namespace discreet
