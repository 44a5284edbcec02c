// Arithmetic of clipping: magnitudes, sizes beside bounds, and scaling down to a bound.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rational.h"
#include "base/saturating.h"

namespace discreet {

inline UInt128 absolute(Int128 value) {
  return value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
}

inline BigInt to_big(UInt128 value) {
  return (BigInt(static_cast<std::uint64_t>(value >> 64)) << 64) |
         static_cast<std::uint64_t>(value);
}

// floor(value * bound / size), towards zero; bound < size.
inline Int128 scaled_down(Int128 value, UInt128 bound, UInt128 size) {
  UInt128 product = 0;
  UInt128 magnitude = absolute(value);
  if (!__builtin_mul_overflow(magnitude, bound, &product)) {
    magnitude = product / size;
  } else {
    const BigInt exact = to_big(magnitude) * to_big(bound) / to_big(size);
    magnitude = (UInt128{static_cast<std::uint64_t>(exact >> 64)} << 64) |
                static_cast<std::uint64_t>(exact & ((BigInt(1) << 64) - 1));
  }
  return value < 0 ? -static_cast<Int128>(magnitude) : static_cast<Int128>(magnitude);
}

inline int width_of(UInt128 number) {
  const auto high = static_cast<std::uint64_t>(number >> 64);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number)));
}

inline int width_of(std::uint64_t number) {
  return static_cast<int>(std::bit_width(number));
}

/// Rising bounds by how many bits numbers have: of each width there are few, and how many is the
/// same for all numbers, so that nothing waits for a guess.
template <class Number>
class BoundsByWidth {
 public:
  explicit BoundsByWidth(std::vector<Number> bounds) : bounds_(std::move(bounds)) {
    for (std::size_t width = 1; width < first_.size(); ++width) {
      const auto first = std::lower_bound(bounds_.begin(), bounds_.end(), Number{1} << (width - 1));
      first_[width] = static_cast<std::size_t>(first - bounds_.begin());
    }
    for (std::size_t width = 1; width < first_.size(); ++width) {
      const std::size_t next = width + 1 < first_.size() ? first_[width + 1] : bounds_.size();
      of_width_ = std::max(of_width_, next - first_[width]);
    }
    count_ = bounds_.size();
    // None is above these.
    bounds_.insert(bounds_.end(), std::max(of_width_, kUsual), static_cast<Number>(-1));
  }
  std::size_t size() const { return count_; }
  /// How many bounds `size` is above.
  std::size_t below(Number size) const {
    const std::size_t first = first_[static_cast<std::size_t>(width_of(size))];
    if (of_width_ <= kUsual)
      return first + (bounds_[first] < size ? 1 : 0) + (bounds_[first + 1] < size ? 1 : 0);
    std::size_t above = first;
    for (std::size_t i = 0; i < of_width_; ++i) above += bounds_[first + i] < size ? 1 : 0;
    return above;
  }

 private:
  std::vector<Number> bounds_;
  std::array<std::size_t, 8 * sizeof(Number) + 1> first_{};  // of no less width
  std::size_t of_width_ = 0;                                 // at most
  std::size_t count_ = 0;
  static constexpr std::size_t kUsual = 2;  // of a width; one that is larger is above no number
};

/// Counts numbers by how many bounds they are above. Most are above as many as the one before: they
/// are counted in turns, so that no count waits for the last.
template <class Number>
class CountAbove {
 public:
  explicit CountAbove(const BoundsByWidth<Number>& bounds)
      : bounds_(bounds), counts_(kTurns * (bounds.size() + 1)) {}
  void add(Number size) {
    ++counts_[bounds_.below(size) * kTurns + turn_];
    turn_ = (turn_ + 1) % kTurns;
  }
  /// By number of bounds.
  std::vector<std::int64_t> counts() const {
    std::vector<std::int64_t> all(counts_.size() / kTurns);
    for (std::size_t i = 0; i < counts_.size(); ++i) all[i / kTurns] += counts_[i];
    return all;
  }

 private:
  static constexpr std::size_t kTurns = 4;
  const BoundsByWidth<Number>& bounds_;
  std::vector<std::int64_t> counts_;
  std::size_t turn_ = 0;
};

}  // namespace discreet
