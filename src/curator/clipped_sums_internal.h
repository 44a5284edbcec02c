// What both ways of clipping share: units of any numbers, and of those that have 64 bits.
#pragma once

#include "curator/clipped_sums.h"

namespace discreet {

/// A feature, and `times` another one; both lie in one row of numbers.
struct ClippedSums::NarrowSum {
  std::size_t feature, by;
  std::int64_t times;

  std::int64_t of(const std::int64_t* row) const { return row[feature] + times * row[by]; }
  /// Calls visit(value) for rows that lie `features` numbers apart.
  template <class Visit>
  void each(const std::int64_t* row, const std::int64_t* end, std::size_t features,
            const Visit& visit) const {
    if (times == 0)
      for (; row < end; row += features) visit(row[feature]);
    else
      for (; row < end; row += features) visit(of(row));
  }
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
  const auto& [factor, row_max, fine, rows_max, narrow, plain, moved, by, times] = measures_[sum];
  if (narrow && magnitude >> 42 == 0) {
    const auto row = static_cast<std::uint64_t>(row_max);
    return (static_cast<std::uint64_t>(magnitude) * static_cast<std::uint64_t>(factor) + row - 1) /
           row;
  }
  if (narrow && magnitude >> 63 == 0) {
    const auto row = static_cast<std::uint64_t>(row_max), m = static_cast<std::uint64_t>(magnitude);
    const std::uint64_t rest = m % row * static_cast<std::uint64_t>(factor);
    return m / row * factor + (rest + row - 1) / row;
  }
  return magnitude / row_max * factor + (magnitude % row_max * factor + row_max - 1) / row_max;
}

}  // namespace discreet
