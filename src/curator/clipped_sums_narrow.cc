// What ClippedSums measures and adds up under Laplace noise, where all of it is known to fit 64
// bits: the same integers as the long way.
#include <algorithm>
#include <array>
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

// The sizes of units of so many sums (0: of any number), and their cells added up on the way.
template <std::size_t kSums, bool kAddsUp, bool kOneGroup>
void ClippedSums::measure_units(const Contributions& contributions, const NarrowSums& narrow,
                                std::size_t unit, std::size_t last, std::uint64_t* sizes,
                                CountAbove<std::uint64_t>& above, std::int64_t* whole) const {
  const UnitPartials& all = contributions.partials();
  const std::size_t features = all.features, count = kSums == 0 ? narrow.sums.size() : kSums;
  std::array<NarrowSum, kSums> few;
  std::copy_n(narrow.sums.begin(), kSums, few.begin());
  const NarrowSum* const sums = kSums == 0 ? narrow.sums.data() : few.data();
  const std::uint32_t* const group_of = all.groups.empty() ? nullptr : all.groups.data();
  std::array<std::int64_t, kSums> few_added;
  std::vector<std::int64_t> many_added(count - kSums);
  std::int64_t* const added = kSums == 0 ? many_added.data() : few_added.data();
  for (; unit < last; ++unit) {
    std::fill_n(added, count, 0);
    const std::size_t begin = all.begin(unit), end = all.end(unit);
    const std::int64_t* numbers = narrow.numbers + begin * features;
    for (std::size_t row = begin; row < end; ++row, numbers += features) {
      __builtin_prefetch(numbers + NarrowSum::kAhead);
      std::int64_t* const cells =
          whole + (group_of == nullptr ? all.only_group : group_of[row]) * count;
#pragma GCC unroll 4
      for (std::size_t sum = 0; sum < count; ++sum) {
        const std::int64_t value = sums[sum].of(numbers);
        // Where all groups are one, what counts is the total.
        added[sum] += kOneGroup ? value : static_cast<std::int64_t>(magnitude_of(value));
        if (kAddsUp && !kOneGroup) cells[sum] += value;
      }
    }
    std::uint64_t size = 0;
#pragma GCC unroll 4
    for (std::size_t sum = 0; sum < count; ++sum) {
      size += static_cast<std::uint64_t>(size_of(magnitude_of(added[sum]), sum));
      if (kAddsUp && kOneGroup) whole[sum] += added[sum];
    }
    sizes[unit] = size;
    above.add(size);
  }
}

ClippedSums::Measured ClippedSums::measure(const Contributions& contributions,
                                           const NarrowSums& narrow, std::size_t groups) const {
  const std::size_t cells = groups * narrow.sums.size();
  Measured measured{
      {RawVector<std::uint64_t>(contributions.units()), std::vector<std::int64_t>(bounds_.size())},
      std::vector<std::int64_t>(cells <= kCellsForThreads ? cells : 0)};
  const BoundsByWidth<std::uint64_t> bounds(in_64_bits(bounds_));
  std::vector<std::vector<std::int64_t>> of_worker(worker_count());
  std::mutex mutex;
  const auto each_piece = [&]<std::size_t kSums, bool kAddsUp, bool kOneGroup>() {
    contributions.for_each_piece([&](std::size_t unit, std::size_t last, std::size_t worker) {
      of_worker[worker].resize(measured.whole.size());
      CountAbove<std::uint64_t> above(bounds);
      measure_units<kSums, kAddsUp, kOneGroup>(contributions, narrow, unit, last,
                                               measured.sizes.of_unit.data(), above,
                                               of_worker[worker].data());
      const std::lock_guard lock(mutex);
      measured.sizes.count(above.counts());
    });
  };
  const auto of_sums = [&]<std::size_t kSums>() {
    if (options_.one_group) return each_piece.operator()<kSums, true, true>();
    if (measured.whole.empty()) return each_piece.operator()<kSums, false, false>();
    return each_piece.operator()<kSums, true, false>();
  };
  switch (narrow.sums.size()) {
    case 1:
      of_sums.operator()<1>();
      break;
    case 2:
      of_sums.operator()<2>();
      break;
    case 3:
      of_sums.operator()<3>();
      break;
    default:
      of_sums.operator()<0>();
  }
  for (const auto& whole : of_worker)
    for (std::size_t cell = 0; cell < whole.size(); ++cell) measured.whole[cell] += whole[cell];
  return measured;
}

// Of units that are not clipped nothing has to be read again where all cells are added up already.
std::vector<Int128> ClippedSums::add_up(const Contributions& contributions,
                                        const NarrowSums& narrow, std::size_t groups,
                                        const Measured& measured, UInt128 bound) const {
  const UnitPartials& all = contributions.partials();
  const std::size_t count = narrow.sums.size();
  const bool is_added_up = !measured.whole.empty();
  const std::uint64_t most = in_64_bits(bound);
  struct Cells {  // by group, by sum
    std::vector<std::int64_t> whole;
    std::vector<Int128> clipped;  // of units above the bound, scaled
  };
  std::vector<Cells> of_worker(worker_count());
  contributions.for_each_piece(
      [&](std::size_t unit, std::size_t last, std::size_t worker) {
        auto& [whole, clipped] = of_worker[worker];
        whole.resize(groups * count);
        clipped.resize(groups * count);
        for (; unit < last; ++unit) {
          const std::uint64_t size = measured.sizes.of_unit[unit];
          if (size > most) [[unlikely]] {
            each_cell(contributions, unit, [&](std::uint32_t group, std::size_t sum, Int128 value) {
              const std::size_t cell = group * count + sum;
              clipped[cell] += scaled_down(value * (Int128{1} << measures_[sum].fine), bound, size);
              if (is_added_up) whole[cell] -= static_cast<std::int64_t>(value);
            });
          } else if (!is_added_up) {
            for (std::size_t row = all.begin(unit); row < all.end(unit); ++row) {
              const std::size_t group = options_.one_group ? 0 : all.group(row);
              for (std::size_t sum = 0; sum < count; ++sum)
                whole[group * count + sum] +=
                    narrow.sums[sum].of(narrow.numbers + row * all.features);
            }
          }
        }
      },
      groups * count <= kCellsForThreads);
  std::vector<Int128> added(groups * count);  // by sum, by group
  const auto add = [&](const std::vector<std::int64_t>& whole) {
    for (std::size_t cell = 0; cell < whole.size(); ++cell)
      added[cell % count * groups + cell / count] +=
          whole[cell] * (Int128{1} << measures_[cell % count].fine);
  };
  add(measured.whole);
  for (const auto& [whole, clipped] : of_worker) {
    add(whole);
    for (std::size_t cell = 0; cell < clipped.size(); ++cell)
      added[cell % count * groups + cell / count] += clipped[cell];
  }
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
    CountAbove<std::uint64_t> above(bounds);
    const std::size_t features = contributions.features();
    const NarrowSum one = narrow.sums.front();
    one.each(narrow.numbers + unit * features, narrow.numbers + last * features, features,
             [&](std::int64_t value) { above.add(magnitude_of(value)); });
    const std::lock_guard lock(mutex);
    sizes.count(above.counts());
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
