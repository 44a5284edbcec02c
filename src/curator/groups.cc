#include "curator/groups.h"

#include <algorithm>
#include <compare>
#include <cstring>

#include <fmt/format.h>

namespace discreet {
namespace {

// An injective encoding: a kind byte, then fixed-width bytes or length and text.
void encode(const Cell& cell, std::string& out) {
  out += static_cast<char>('0' + cell.index());
  if (const auto* flag = std::get_if<bool>(&cell)) {
    out += *flag ? '1' : '0';
  } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    out.append(reinterpret_cast<const char*>(whole), sizeof(*whole));
  } else if (const auto* number = std::get_if<double>(&cell)) {
    const double canonical = *number == 0 ? 0.0 : *number;  // -0 is 0
    out.append(reinterpret_cast<const char*>(&canonical), sizeof(canonical));
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    const std::uint64_t length = text->size();
    out.append(reinterpret_cast<const char*>(&length), sizeof(length));
    out += *text;
  }
}

void encode(const std::vector<Cell>& cells, std::string& out) {
  out.clear();
  for (const Cell& cell : cells) encode(cell, out);
}

std::string encode(const std::vector<Cell>& cells) {
  std::string out;
  encode(cells, out);
  return out;
}

const std::int64_t* only_whole_number(const std::vector<Cell>& keys) {
  return keys.size() == 1 ? std::get_if<std::int64_t>(&keys.front()) : nullptr;
}

// A total order: NaN has a place too.
bool before(const Cell& left, const Cell& right) {
  const auto *x = std::get_if<double>(&left), *y = std::get_if<double>(&right);
  return x != nullptr && y != nullptr ? std::strong_order(*x, *y) < 0 : left < right;
}

using Tuples =
    std::vector<std::vector<Cell>>;  // one position of the key list may hold several values

Result<Tuples> read_set(const sql::PublicKeySet& set, Engine& engine) {
  DISCREET_TRY(EngineRows rows, engine.query(set.sql));
  const auto columns = rows.columns();
  Tuples tuples;
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) return tuples;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      std::vector<Cell> tuple;
      for (std::size_t i = 0; i < columns.size(); ++i)
        tuple.push_back(read_cell(*chunk, columns[i].type, i, row));
      tuples.push_back(std::move(tuple));
    }
    if (tuples.size() > Groups::kGroupsMax)
      return Error{
          ErrorCode::Refused,
          "The public keys of this question span too many groups; group by fewer columns."};
  }
}

}  // namespace

Cell read_cell(const EngineChunk& chunk, EngineType type, std::size_t column, std::size_t row) {
  if (chunk.is_null(column, row)) return std::monostate{};
  switch (type) {
    case EngineType::Bool:
      return chunk.boolean(column, row);
    case EngineType::Int64:
    case EngineType::Date:
    case EngineType::Timestamp:
      return chunk.int64s(column)[row];
    case EngineType::HugeInt:
      return saturate(chunk.int128(column, row));
    case EngineType::Double:
      return chunk.doubles(column)[row];
    case EngineType::Varchar:
      return std::string(chunk.varchar(column, row));
  }
  fail_check("known type", "a column of a type that rows do not have");
}

Cell to_cell(const catalog::Literal& literal, sql::Type type) {
  if (const auto* flag = std::get_if<bool>(&literal)) return *flag;
  if (const auto* whole = std::get_if<std::int64_t>(&literal)) {
    if (type.kind == sql::TypeKind::Double) return static_cast<double>(*whole);
    if (type.kind == sql::TypeKind::Text) return std::to_string(*whole);
    return *whole;
  }
  if (const auto* number = std::get_if<double>(&literal)) return *number;
  if (const auto* text = std::get_if<std::string>(&literal)) return *text;
  if (const auto* date = std::get_if<catalog::Date>(&literal)) return std::int64_t{date->days};
  return std::get<catalog::Timestamp>(literal).micros;
}

std::uint32_t Groups::add(const std::vector<Cell>& keys) {
  const auto number = [&](std::uint32_t code, std::vector<std::uint32_t>& group_of) {
    if (code == group_of.size()) {
      group_of.push_back(static_cast<std::uint32_t>(size_++));
      cells_.insert(cells_.end(), keys.begin(), keys.end());
    }
    return group_of[code];
  };
  if (const auto* whole = only_whole_number(keys))
    return number(numbers_.of(*whole), group_of_number_);
  encode(keys, encoded_);
  return number(texts_.of(encoded_), group_of_text_);
}

// The domain is a product of factors: each listed or ranged key by itself, each public set as a
// whole.
Result<Groups> Groups::make(const sql::Release& release, Engine& engine) {
  Groups groups;
  groups.width_ = release.keys.size();
  struct Factor {
    std::vector<std::size_t> positions;
    Tuples tuples;
  };
  std::vector<Factor> factors;
  for (std::size_t set = 0; set < release.public_key_sets.size(); ++set) {
    DISCREET_TRY(Tuples tuples, read_set(release.public_key_sets[set], engine));
    Factor factor{{}, std::move(tuples)};
    const std::size_t width = factor.tuples.empty() ? 0 : factor.tuples.front().size();
    factor.positions.assign(width, 0);
    for (std::size_t key = 0; key < release.keys.size(); ++key)
      if (const auto* from = std::get_if<sql::PublicSetKey>(&release.keys[key].domain);
          from && from->set == set)
        if (from->column < width) factor.positions[from->column] = key;
    factors.push_back(std::move(factor));
  }
  for (std::size_t key = 0; key < release.keys.size(); ++key) {
    const sql::Key& k = release.keys[key];
    groups.public_ = groups.public_ && k.is_public();
    if (k.is_public()) groups.public_positions_.push_back(key);
    Factor factor{{key}, {}};
    if (const auto* listed = std::get_if<sql::ListedKey>(&k.domain)) {
      for (const auto& value : listed->values) factor.tuples.push_back({to_cell(value, k.type)});
    } else if (const auto* range = std::get_if<sql::RangeKey>(&k.domain)) {
      if (range->upper - range->lower >= static_cast<std::int64_t>(kGroupsMax))
        return Error{
            ErrorCode::Refused,
            fmt::format("The range of {} has too many values to group by; group by a coarser one.",
                        k.text)};
      for (std::int64_t v = range->lower; v <= range->upper; ++v) factor.tuples.push_back({v});
    } else {
      continue;
    }
    factors.push_back(std::move(factor));
  }

  Tuples product = {std::vector<Cell>(release.keys.size())};
  for (const Factor& factor : factors) {
    if (product.size() * factor.tuples.size() > kGroupsMax)
      return Error{
          ErrorCode::Refused,
          "The public keys of this question span too many groups; group by fewer columns."};
    Tuples wider;
    for (const auto& tuple : product)
      for (const auto& part : factor.tuples) {
        wider.push_back(tuple);
        for (std::size_t i = 0; i < factor.positions.size(); ++i)
          wider.back()[factor.positions[i]] = part[i];
      }
    product = std::move(wider);
  }
  if (groups.public_) {
    for (const auto& tuple : product) groups.add(tuple);
  } else if (!groups.public_positions_.empty()) {
    for (const auto& tuple : product) {
      std::vector<Cell> part;
      for (const std::size_t position : groups.public_positions_) part.push_back(tuple[position]);
      groups.public_domain_.emplace(encode(part), true);
    }
  }
  return groups;
}

bool Groups::in_domain(const std::vector<Cell>& keys) const {
  if (public_positions_.empty()) return true;
  std::vector<Cell> part;
  for (const std::size_t position : public_positions_) part.push_back(keys[position]);
  return public_domain_.count(encode(part)) > 0;
}

std::optional<std::uint32_t> Groups::find(const std::vector<Cell>& keys) {
  if (public_) {
    const auto group = [](std::optional<std::uint32_t> code, const auto& group_of) {
      return code ? std::optional(group_of[*code]) : std::nullopt;
    };
    if (const auto* whole = only_whole_number(keys))
      return group(numbers_.find(*whole), group_of_number_);
    encode(keys, encoded_);
    return group(texts_.find(encoded_), group_of_text_);
  }
  if (!in_domain(keys)) return std::nullopt;
  return add(keys);
}

void Groups::find(std::span<const std::int64_t> keys, std::span<std::uint32_t> groups) {
  DISCREET_CHECK(width_ == 1, "single keys are asked for where there is one");
  if (public_) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto code = numbers_.find(keys[i]);
      groups[i] = code ? group_of_number_[*code] : kAbsent;
    }
    return;
  }
  // Most of them will be new where none is known.
  if (size_ == 0) {
    group_of_number_.reserve(keys.size());
    cells_.reserve(keys.size());
  }
  numbers_.of_each(keys, [&](std::size_t i, std::uint32_t code) {
    if (code == group_of_number_.size()) {
      group_of_number_.push_back(static_cast<std::uint32_t>(size_++));
      cells_.emplace_back(keys[i]);
    }
    groups[i] = group_of_number_[code];
  });
}

void Groups::sort_by_keys(std::vector<std::uint32_t>& groups) const {
  std::sort(groups.begin(), groups.end(), [&](std::uint32_t left, std::uint32_t right) {
    const auto a = keys(left), b = keys(right);
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), before);
  });
}

}  // namespace discreet
