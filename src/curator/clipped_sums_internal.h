// What both ways of clipping share: units of any numbers, and of those that have 64 bits.
#pragma once

#include "curator/clipped_sums.h"

namespace discreet {

/// Each thread has cells of its own, up to so many: not of millions of groups.
inline constexpr std::size_t kCellsForThreads = std::size_t{1} << 20;

/// A feature, and `times` another one; both lie in one row of numbers.
struct ClippedSums::NarrowSum {
  std::size_t feature, by;
  std::int64_t times;

  std::int64_t of(const std::int64_t* row) const { return row[feature] + times * row[by]; }
  /// Calls visit(value) for rows that lie `features` numbers apart.
  template <class Visit>
  void each(const std::int64_t* row, const std::int64_t* end, std::size_t features,
            const Visit& visit) const {
    for (; row < end; row += features) {
      __builtin_prefetch(row + kAhead);
      visit(times == 0 ? row[feature] : of(row));
    }
  }
  /// So many numbers further on are asked for: threads read what others wrote, one behind the
  /// other.
  static constexpr std::size_t kAhead = 128;
};

/// No sum of values or of their magnitudes, over whatever rows, leaves 62 bits.
struct ClippedSums::NarrowSums {
  const std::int64_t* numbers;  // of row after row
  std::vector<NarrowSum> sums;
};

template <class Visit>
void ClippedSums::each_cell(const Contributions& contributions, std::size_t unit,
                            const Visit& visit) const {
  const std::size_t begin = contributions.begin(unit), end = contributions.end(unit);
  for (std::size_t sum = 0; sum < sums_.size() && options_.one_group; ++sum) {
    Int128 total = 0;
    for (std::size_t row = begin; row < end; ++row)
      total += value_of(sum, contributions.values(row));
    visit(std::uint32_t{0}, sum, total);
  }
  if (options_.one_group) return;
  for (std::size_t row = begin; row < end; ++row)
    for (std::size_t sum = 0; sum < sums_.size(); ++sum)
      visit(contributions.group(row), sum, value_of(sum, contributions.values(row)));
}

// ceil(magnitude weight 2^kSizeBits / row_max), or itself where there is no row maximum.
// Whole rows and the rest apart, so that no product can overflow; nearly always all fits 64 bits,
// where a division is ten times cheaper.
inline UInt128 ClippedSums::size_of(UInt128 magnitude, std::size_t sum) const {
  if (!sums_[sum].bounded) return magnitude;
  const Measure& of = measures_[sum];
  if (of.narrow && magnitude >> 63 == 0) {
    const auto row = static_cast<std::uint64_t>(of.row_max),
               factor = static_cast<std::uint64_t>(of.factor),
               m = static_cast<std::uint64_t>(magnitude);
    if (m >> 42 == 0) return of.by_row_max.of(m * factor + row - 1);
    const std::uint64_t rows = of.by_row_max.of(m);
    return UInt128{rows} * factor + of.by_row_max.of((m - rows * row) * factor + row - 1);
  }
  return magnitude / of.row_max * of.factor +
         (magnitude % of.row_max * of.factor + of.row_max - 1) / of.row_max;
}

}  // namespace discreet
