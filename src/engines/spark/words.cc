#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "engines/chunk_internal.h"
#include "engines/spark/words_internal.h"

namespace discreet::spark {
namespace {

constexpr int kPartsBitsMax = 43;  // a million units fit above them

}  // namespace

double largest_size(std::string_view plan) {
  constexpr std::string_view kName = "sizeInBytes=", kPrefixes = "BKMGTPE";
  double largest = -1;
  for (std::size_t at = plan.find(kName); at != std::string_view::npos;
       at = plan.find(kName, at + 1)) {
    const std::string_view rest = plan.substr(at + kName.size());
    double number = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const auto unit = static_cast<std::size_t>(end - rest.data()) + 1;
    const auto power = unit < rest.size() ? kPrefixes.find(rest[unit]) : std::string_view::npos;
    if (failed != std::errc() || power == std::string_view::npos)
      return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::ldexp(number, 10 * static_cast<int>(power)));
  }
  return largest < 0 ? std::numeric_limits<double>::infinity() : largest;
}

std::optional<RowWord> RowWord::make(const std::vector<RemoteColumn>& columns) {
  if (columns.empty()) return std::nullopt;
  const std::string& type = columns[0].type;
  if (type != "long" && type != "integer" && type != "short" && type != "byte") return std::nullopt;
  RowWord word;
  word.unit_ = columns[0].name;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const std::string& of = columns[i].type;
    const int bytes = of == "byte" ? 1 : of == "short" ? 2 : of == "integer" ? 4 : 0;
    const bool is_flag = of == "boolean";
    if (bytes == 0 && !is_flag) return std::nullopt;
    const int bits = is_flag ? 2 : 8 * bytes + 1;
    word.parts_.push_back({columns[i].name, bits,
                           is_flag ? 0 : -(std::int64_t{1} << (8 * bytes - 1)), is_flag,
                           std::vector<std::int64_t>(is_flag ? 0 : kRowsMax),
                           std::vector<std::uint8_t>(is_flag ? kRowsMax : 0),
                           std::vector<std::uint64_t>(kRowsMax / 64)});
    word.bits_ += bits;
  }
  if (word.bits_ > kPartsBitsMax) return std::nullopt;
  word.units_.resize(kRowsMax);
  word.chunk_ = ChunkAccess::make_shared_memory();
  return word;
}

std::string RowWord::sql() const {
  std::string below;
  int left = bits_;
  for (const Part& part : parts_) {
    left -= part.bits;
    const std::string number =
        fmt::format("CAST({} AS {})", part.name, part.is_flag ? "INT" : "BIGINT");
    below += fmt::format(" | shiftleft(coalesce(CAST({} + {} AS BIGINT), CAST(0 AS BIGINT)), {})",
                         number, 1 - part.lowest, left);
  }
  return fmt::format(
      "CASE WHEN {0} BETWEEN 0 AND {1} THEN shiftleft(CAST({0} AS BIGINT), {2}){3} END", unit_,
      INT64_MAX >> bits_, bits_, below);
}

const EngineChunk& RowWord::put(std::span<const std::int64_t> words) {
  DISCREET_CHECK(words.size() <= kRowsMax, "so many words have room");
  ChunkAccess::resize(*chunk_, words.size(), 1 + parts_.size());
  for (std::size_t row = 0; row < words.size(); ++row) units_[row] = words[row] >> bits_;
  ChunkAccess::Column& unit = ChunkAccess::column(*chunk_, 0);
  unit.type = EngineType::Int64;
  unit.data = units_.data();
  int left = bits_;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    left -= part.bits;
    const auto number = [&](std::size_t row) {
      return words[row] >> left & ((std::int64_t{1} << part.bits) - 1);
    };
    std::int64_t any_null = 0;
    if (part.is_flag) {
      for (std::size_t row = 0; row < words.size(); ++row) {
        part.flags[row] = number(row) > 1;
        any_null |= number(row) == 0;
      }
    } else {
      for (std::size_t row = 0; row < words.size(); ++row) {
        part.wholes[row] = number(row) - 1 + part.lowest;
        any_null |= number(row) == 0;
      }
    }
    ChunkAccess::Column& column = ChunkAccess::column(*chunk_, 1 + i);
    column.type = part.is_flag ? EngineType::Bool : EngineType::Int64;
    column.data = part.is_flag ? static_cast<const void*>(part.flags.data()) : part.wholes.data();
    column.validity = nullptr;
    if (any_null == 0) continue;
    for (std::size_t row = 0; row < words.size(); ++row) {
      const std::uint64_t bit = std::uint64_t{1} << (row % 64);
      if (number(row) == 0)
        part.validity[row / 64] &= ~bit;
      else
        part.validity[row / 64] |= bit;
    }
    column.validity = part.validity.data();
  }
  return *chunk_;
}

}  // namespace discreet::spark
