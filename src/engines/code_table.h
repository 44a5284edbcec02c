// Numbers for values in the order in which they come: 0, 1, 2, ...
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace discreet {

inline std::uint64_t scatter(std::uint64_t x) {
  x *= 0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio
  return x ^ (x >> 32);
}

/// Whole numbers, open addressing.
class NumberCodes {
 public:
  std::uint32_t of(std::int64_t value) {
    std::size_t at = scatter(static_cast<std::uint64_t>(value)) & mask_;
    while (slots_[at].code != kEmpty) {
      if (slots_[at].value == value) return slots_[at].code;
      at = (at + 1) & mask_;
    }
    return add(value, at);
  }
  /// For a value that will soon be asked for.
  void prefetch(std::int64_t value) const {
    __builtin_prefetch(&slots_[scatter(static_cast<std::uint64_t>(value)) & mask_]);
  }
  /// Forgets all; the memory stays.
  void clear() {
    if (values_.empty()) return;
    values_.clear();
    std::fill(slots_.begin(), slots_.end(), Slot{});
  }
  /// Without adding it.
  std::optional<std::uint32_t> find(std::int64_t value) const {
    std::size_t at = scatter(static_cast<std::uint64_t>(value)) & mask_;
    for (; slots_[at].code != kEmpty; at = (at + 1) & mask_)
      if (slots_[at].value == value) return slots_[at].code;
    return std::nullopt;
  }
  std::int64_t value(std::uint32_t code) const { return values_[code]; }
  const std::vector<std::int64_t>& values() const { return values_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(values_.size()); }

 private:
  static constexpr std::uint32_t kEmpty = UINT32_MAX;
  struct Slot {
    std::int64_t value = 0;
    std::uint32_t code = kEmpty;
  };

  std::uint32_t add(std::int64_t value, std::size_t at) {
    const std::uint32_t code = size();
    values_.push_back(value);
    slots_[at] = {value, code};
    if (values_.size() * 2 > slots_.size()) grow();
    return code;
  }
  void grow() {
    slots_.assign(slots_.size() * 4, Slot{});
    mask_ = slots_.size() - 1;
    for (std::uint32_t code = 0; code < values_.size(); ++code) {
      std::size_t at = scatter(static_cast<std::uint64_t>(values_[code])) & mask_;
      while (slots_[at].code != kEmpty) at = (at + 1) & mask_;
      slots_[at] = {values_[code], code};
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(256);
  std::size_t mask_ = 255;
  std::vector<std::int64_t> values_;
};

/// Whole numbers as keys are: those from 0 to a few millions are found by their place, in memory
/// that costs nothing until it is touched; others through a table.
class WholeCodes {
 public:
  std::uint32_t of(std::int64_t value) {
    if (is_small(value)) {
      std::uint32_t& place = small()[value];
      if (place == 0) place = add(value) + 1;
      return place - 1;
    }
    const std::uint32_t code = large_.of(value);
    if (code == code_of_large_.size()) code_of_large_.push_back(add(value));
    return code_of_large_[code];
  }
  /// Of many; `done(i, code)`.
  template <class Done>
  void of_each(std::span<const std::int64_t> values, const Done& done) {
    constexpr std::size_t kAhead = 32, kNear = 4096;  // so many are in the cache anyway
    const std::uint32_t* const places = small();
    for (std::size_t begin = 0; begin < values.size(); begin += kAhead) {
      const std::size_t end = std::min(values.size(), begin + kAhead);
      for (std::size_t i = begin; i < end && values_.size() > kNear; ++i) {
        if (is_small(values[i]))
          __builtin_prefetch(places + values[i]);
        else
          large_.prefetch(values[i]);
      }
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t place = is_small(values[i]) ? places[values[i]] : 0;
        done(i, place != 0 ? place - 1 : of(values[i]));
      }
    }
  }
  /// Without adding it.
  std::optional<std::uint32_t> find(std::int64_t value) const {
    if (is_small(value)) {
      const std::uint32_t place = small_ ? small_[static_cast<std::size_t>(value)] : 0;
      return place == 0 ? std::nullopt : std::optional(place - 1);
    }
    const auto code = large_.find(value);
    return code ? std::optional(code_of_large_[*code]) : std::nullopt;
  }
  std::int64_t value(std::uint32_t code) const { return values_[code]; }
  const std::vector<std::int64_t>& values() const { return values_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(values_.size()); }

 private:
  static constexpr std::int64_t kSmall = std::int64_t{1} << 22;
  static constexpr std::size_t kSmallBytes = kSmall * sizeof(std::uint32_t);
  struct Unmap {
    void operator()(std::uint32_t* memory) const { ::munmap(memory, kSmallBytes); }
  };
  static bool is_small(std::int64_t value) {
    return static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(kSmall);
  }
  std::uint32_t* small() {
    if (!small_) {
      // Not calloc(): it writes zeros where it has memory that was used before.
      void* pages =
          ::mmap(nullptr, kSmallBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (pages == MAP_FAILED) throw std::bad_alloc();
      small_.reset(static_cast<std::uint32_t*>(pages));
    }
    return small_.get();
  }
  std::uint32_t add(std::int64_t value) {
    values_.push_back(value);
    return size() - 1;
  }

  std::unique_ptr<std::uint32_t[], Unmap> small_;  // code + 1
  NumberCodes large_;
  std::vector<std::uint32_t> code_of_large_;
  std::vector<std::int64_t> values_;
};

/// Texts, by what they say and never by a hash alone.
class TextCodes {
 public:
  static std::uint64_t hash(std::string_view text) { return std::hash<std::string_view>()(text); }

  std::uint32_t of(std::string_view text) { return of(text, hash(text)); }
  std::uint32_t of(std::string_view text, std::uint64_t hashed) {
    std::size_t at = hashed & mask_;
    while (slots_[at].code != kEmpty) {
      if (slots_[at].hashed == hashed && texts_[slots_[at].code] == text) return slots_[at].code;
      at = (at + 1) & mask_;
    }
    const auto code = static_cast<std::uint32_t>(texts_.size());
    texts_.emplace_back(text);
    slots_[at] = {hashed, code};
    if (texts_.size() * 2 > slots_.size()) grow();
    return code;
  }
  /// Without adding it.
  std::optional<std::uint32_t> find(std::string_view text) const {
    const std::uint64_t hashed = hash(text);
    std::size_t at = hashed & mask_;
    for (; slots_[at].code != kEmpty; at = (at + 1) & mask_)
      if (slots_[at].hashed == hashed && texts_[slots_[at].code] == text) return slots_[at].code;
    return std::nullopt;
  }
  const std::string& value(std::uint32_t code) const { return texts_[code]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(texts_.size()); }

 private:
  static constexpr std::uint32_t kEmpty = UINT32_MAX;
  struct Slot {
    std::uint64_t hashed = 0;
    std::uint32_t code = kEmpty;
  };
  void grow() {
    std::vector<Slot> old(slots_.size() * 4);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.code == kEmpty) continue;
      std::size_t at = slot.hashed & mask_;
      while (slots_[at].code != kEmpty) at = (at + 1) & mask_;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(256);
  std::size_t mask_ = 255;
  std::deque<std::string> texts_;
};

}  // namespace discreet
