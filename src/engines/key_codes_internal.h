// The groups one thread meets, numbered: each key column by itself, then pairs of numbers.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engines/code_table.h"
#include "engines/unit_rows.h"

namespace discreet {

class KeyCodes {
 public:
  using Ranges = std::vector<std::optional<UnitRowsShape::KeyRange>>;
  explicit KeyCodes(std::size_t keys, const Ranges& ranges = {})
      : columns_(keys), pairs_(keys > 1 ? keys - 1 : 0) {
    for (std::size_t key = 0; key < ranges.size(); ++key)
      if (ranges[key]) columns_[key].expect(*ranges[key]);
  }

  /// The group of every row of the chunk, whose keys are the columns from `first` on. `groups` is
  /// what the last call made, or empty.
  void number(const EngineChunk& chunk, std::size_t first, std::vector<std::uint32_t>& groups) {
    if (columns_.empty()) return groups.resize(chunk.size());  // all 0, as ever
    for (std::size_t key = 0; key < columns_.size(); ++key) {
      columns_[key].number(chunk, first + key, codes_);
      if (key == 0) {
        groups.swap(codes_);
        continue;
      }
      NumberCodes& pairs = pairs_[key - 1];
      for (std::size_t row = 0; row < groups.size(); ++row)
        groups[row] =
            pairs.of(static_cast<std::int64_t>(std::uint64_t{groups[row]} << 32 | codes_[row]));
    }
  }

  std::uint32_t size() const {
    if (columns_.empty()) return 1;
    return pairs_.empty() ? columns_[0].size() : pairs_.back().size();
  }
  /// The keys of groups 1, 2, ... where a key is one whole number, a date or a time; else nullptr.
  const std::vector<std::int64_t>* wholes() const {
    return columns_.size() == 1 ? columns_[0].wholes() : nullptr;
  }
  /// The number of every group; kDropped: it has none.
  std::vector<std::uint32_t> numbered(const UnitRows::Numbering& number,
                                      const UnitRows::ManyNumbering& number_many) const {
    std::vector<std::uint32_t> numbers(size());
    std::vector<EngineValue> of_group;
    const auto* at_once = number_many ? wholes() : nullptr;
    for (std::uint32_t group = 0; group < (at_once != nullptr ? 1 : size()); ++group)
      numbers[group] = keys(group, of_group) ? number(of_group).value_or(UnitRows::kDropped)
                                             : UnitRows::kDropped;
    if (at_once != nullptr) number_many(*at_once, std::span(numbers).subspan(1));
    return numbers;
  }
  /// False: no row has this group (the NULL of a single column that has none).
  bool keys(std::uint32_t group, std::vector<EngineValue>& out) const {
    out.resize(columns_.size());
    if (columns_.empty()) return true;
    for (std::size_t key = columns_.size(); --key > 0;) {
      const auto pair = static_cast<std::uint64_t>(pairs_[key - 1].value(group));
      out[key] = columns_[key].value(static_cast<std::uint32_t>(pair));
      group = static_cast<std::uint32_t>(pair >> 32);
    }
    out[0] = columns_[0].value(group);
    return group != 0 || columns_[0].has_null();
  }

 private:
  class Column {
   public:
    /// Numbers these in their order, so that a number tells its code.
    void expect(const UnitRowsShape::KeyRange& range) {
      lower_ = range.lower;
      for (std::int64_t value = range.lower; value <= range.upper; ++value)
        static_cast<void>(numbers_.of(value));
      expected_ = numbers_.size();
    }
    void number(const EngineChunk& chunk, std::size_t column, std::vector<std::uint32_t>& codes) {
      const std::size_t rows = chunk.size();
      codes.resize(rows);
      type_ = chunk.type(column);
      const auto each = [&](const auto& code) {
        if (!chunk.has_nulls(column)) {
          for (std::size_t row = 0; row < rows; ++row) codes[row] = 1 + code(row);
          return;
        }
        for (std::size_t row = 0; row < rows; ++row) {
          const bool null = chunk.is_null(column, row);
          has_null_ |= null;
          codes[row] = null ? 0 : 1 + code(row);
        }
      };
      switch (type_) {
        case EngineType::Int64:
        case EngineType::Date:
        case EngineType::Timestamp: {
          const auto values = chunk.int64s(column);
          if (!chunk.has_nulls(column) && are_expected(values)) {
            for (std::size_t row = 0; row < rows; ++row)
              codes[row] = 1 + static_cast<std::uint32_t>(values[row] - lower_);
            return;
          }
          if (!chunk.has_nulls(column))
            return numbers_.of_each(
                values, [&](std::size_t row, std::uint32_t code) { codes[row] = 1 + code; });
          return each([&](std::size_t row) { return numbers_.of(values[row]); });
        }
        case EngineType::HugeInt:
          return each(
              [&](std::size_t row) { return numbers_.of(saturate(chunk.int128(column, row))); });
        case EngineType::Bool: {
          const auto values = chunk.booleans(column);
          return each([&](std::size_t row) { return numbers_.of(values[row] != 0); });
        }
        case EngineType::Double: {
          const auto values = chunk.doubles(column);
          return each([&](std::size_t row) {
            // One zero and one NaN, as GROUP BY has it.
            const double value = std::isnan(values[row]) ? std::numeric_limits<double>::quiet_NaN()
                                 : values[row] == 0      ? 0.0
                                                         : values[row];
            return numbers_.of(std::bit_cast<std::int64_t>(value));
          });
        }
        case EngineType::Varchar:
          return each([&](std::size_t row) { return code_of(chunk.varchar(column, row)); });
      }
    }
    std::uint32_t size() const {
      return 1 + (type_ == EngineType::Varchar ? texts_.size() : numbers_.size());
    }
    bool has_null() const { return has_null_; }
    const std::vector<std::int64_t>* wholes() const {
      const bool whole =
          type_ != EngineType::Bool && type_ != EngineType::Double && type_ != EngineType::Varchar;
      return whole ? &numbers_.values() : nullptr;
    }
    EngineValue value(std::uint32_t code) const {
      if (code == 0) return std::monostate{};
      if (type_ == EngineType::Varchar) return texts_.value(code - 1);
      const std::int64_t number = numbers_.value(code - 1);
      if (type_ == EngineType::Bool) return number != 0;
      if (type_ == EngineType::Double) return std::bit_cast<double>(number);
      return number;
    }

   private:
    bool are_expected(std::span<const std::int64_t> values) const {
      // What is below is negative, and so is what is above: the two add up to a small number.
      const auto lower = static_cast<std::uint64_t>(lower_), last = lower + expected_ - 1;
      std::uint64_t outside = 0;
      for (const std::int64_t value : values)
        outside |= (static_cast<std::uint64_t>(value) - lower) |
                   (last - static_cast<std::uint64_t>(value));
      return expected_ > 0 && outside >> 63 == 0;
    }

    // Most keys are a few short words: those met last are found by their letters alone.
    std::uint32_t code_of(std::string_view text) {
      if (text.size() > 7) return texts_.of(text);
      std::uint64_t letters = text.size() + 1;
      for (const char letter : text) letters = letters << 8 | static_cast<unsigned char>(letter);
      Met& met = met_[scatter(letters) % met_.size()];
      if (met.letters != letters) met = {letters, texts_.of(text)};
      return met.code;
    }

    struct Met {
      std::uint64_t letters = 0;
      std::uint32_t code = 0;
    };
    std::array<Met, 64> met_{};
    EngineType type_ = EngineType::Int64;
    std::int64_t lower_ = 0;
    std::uint64_t expected_ = 0;  // so many numbers from `lower_` on have the first codes
    WholeCodes numbers_;
    TextCodes texts_;
    bool has_null_ = false;
  };

  std::vector<Column> columns_;
  std::vector<NumberCodes> pairs_;
  std::vector<std::uint32_t> codes_;
};

}  // namespace discreet
