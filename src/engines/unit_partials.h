// What every unit adds to every group it is met in: one row of exact integers per unit and group.
//
// There may be 10^7 units, and getting memory costs more than adding up. So numbers take 64 bits
// where all are known to fit, and where every unit has one row, and all are of one group, only the
// numbers are kept.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "engines/raw_vector.h"

namespace discreet {

/// Whole numbers that lie side by side, in 64 or 128 bits each.
class WholesView {
 public:
  WholesView(std::span<const Int128> wide) : wide_(wide.data()), size_(wide.size()) {}
  WholesView(std::span<const std::int64_t> narrow) : narrow_(narrow.data()), size_(narrow.size()) {}

  std::size_t size() const { return size_; }
  Int128 operator[](std::size_t i) const {
    return narrow_ != nullptr ? Int128{narrow_[i]} : wide_[i];
  }

 private:
  const std::int64_t* narrow_ = nullptr;
  const Int128* wide_ = nullptr;
  std::size_t size_;
};

/// The same as an array of its own.
class Wholes {
 public:
  Wholes() = default;
  Wholes(std::size_t size, bool narrow) {
    narrow ? narrow_.resize(size) : wide_.resize(size);
    is_narrow_ = narrow;
  }
  explicit Wholes(RawVector<Int128> wide) : wide_(std::move(wide)) {}

  Int128 operator[](std::size_t i) const { return is_narrow_ ? Int128{narrow_[i]} : wide_[i]; }
  WholesView view(std::size_t first, std::size_t count) const {
    if (is_narrow_) return std::span(narrow_).subspan(first, count);
    return std::span(wide_).subspan(first, count);
  }
  /// All of them, if they have 64 bits each; else null.
  const std::int64_t* narrow() const { return is_narrow_ ? narrow_.data() : nullptr; }
  /// An array that is narrow must only be given what fits 64 bits.
  void set(std::size_t i, Int128 value) {
    if (is_narrow_)
      narrow_[i] = static_cast<std::int64_t>(value);
    else
      wide_[i] = value;
  }

 private:
  bool is_narrow_ = false;
  RawVector<std::int64_t> narrow_;
  RawVector<Int128> wide_;
};

/// Rows begin(u) .. end(u) - 1 belong to unit u; each is one group of it, rising. What lies between
/// units means nothing.
struct UnitPartials {
  std::size_t units = 0, features = 0;
  /// All three empty: row u is the one row of unit u, and of `only_group`.
  RawVector<std::size_t> begins, ends;
  RawVector<std::uint32_t> groups;
  std::uint32_t only_group = 0;
  Wholes numbers;  ///< features of row after row
  /// By feature, where it is known: the magnitudes of all rows' numbers add up to no more.
  std::vector<UInt128> most{};

  std::size_t begin(std::size_t unit) const { return begins.empty() ? unit : begins[unit]; }
  std::size_t end(std::size_t unit) const { return ends.empty() ? unit + 1 : ends[unit]; }
  std::uint32_t group(std::size_t row) const { return groups.empty() ? only_group : groups[row]; }
  WholesView values(std::size_t row) const { return numbers.view(row * features, features); }

  /// Keeps begins, ends and groups from here on: they can be changed then.
  void spell_out() {
    if (!begins.empty()) return;
    begins.resize(units);
    ends.resize(units);
    groups.assign(units, only_group);
    for (std::size_t unit = 0; unit < units; ++unit) {
      begins[unit] = unit;
      ends[unit] = unit + 1;
    }
  }
  void move_row(std::size_t from, std::size_t to) {
    if (!groups.empty()) groups[to] = groups[from];
    for (std::size_t f = 0; f < features; ++f)
      numbers.set(to * features + f, numbers[from * features + f]);
  }
};

}  // namespace discreet
