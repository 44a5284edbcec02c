// Exact totals of every group, in one array: there may be millions.
#pragma once

#include <span>
#include <vector>

#include "base/saturating.h"

namespace discreet {

/// Of one group: features in the order of the release, and the number of units.
struct GroupTotals {
  std::span<const Int128> features;
  Int128 units = 0;
};

/// Which of them somebody reads.
struct TotalsRead {
  std::vector<bool> features;
  bool units = false;

  static TotalsRead all(std::size_t features) { return {std::vector<bool>(features, true), true}; }
};

class TotalsTable {
 public:
  TotalsTable(std::size_t groups, std::size_t features)
      : width_(features + 1), totals_(groups * width_) {}

  /// Groups that there are from now on; new ones hold nothing.
  void grow(std::size_t groups) {
    if (groups * width_ > totals_.size()) totals_.resize(groups * width_);
  }
  void add(std::size_t group, std::size_t feature, Int128 value) {
    totals_[group * width_ + feature] += value;
  }
  void add_units(std::size_t group, Int128 units) { totals_[group * width_ + width_ - 1] += units; }
  GroupTotals operator[](std::size_t group) const {
    const std::span<const Int128> row(totals_.data() + group * width_, width_);
    return {row.first(width_ - 1), row.back()};
  }

 private:
  std::size_t width_;
  std::vector<Int128> totals_;
};

}  // namespace discreet
