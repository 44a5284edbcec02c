// The groups of a question: tuples of key values, numbered.
//
// Public keys span a domain that is known without looking at rows: every group of it is answered,
// and rows with other keys are dropped. Where a key is private the groups are those found in the
// data, and partition selection decides which may be named.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "engines/code_table.h"
#include "engines/unit_rows.h"
#include "sql/question.h"

namespace discreet {

using Cell = EngineValue;

class Groups {
 public:
  /// More public groups than this are refused: the answer would be mostly noise.
  static constexpr std::size_t kGroupsMax = 4'000'000;

  /// Spans the public domain; reads public key sets through the engine. Refused: too many groups.
  static Result<Groups> make(const sql::Release& release, Engine& engine);

  /// All keys are public: `size()` is known before any row is read.
  bool is_public() const { return public_; }
  std::size_t size() const { return size_; }
  std::span<const Cell> keys(std::size_t group) const {
    return {cells_.data() + group * width_, width_};
  }

  /// The group of a row, or nothing if its public keys lie outside their domains. New groups are
  /// made only where some key is private.
  std::optional<std::uint32_t> find(const std::vector<Cell>& keys);
  /// The same for many single whole numbers at once; kAbsent where there is no group.
  static constexpr std::uint32_t kAbsent = UnitRows::kDropped;
  void find(std::span<const std::int64_t> keys, std::span<std::uint32_t> groups);

  /// By kind of cell, then by value. Private groups are numbered as rows happened to arrive, which
  /// tells about rows: their order is not for release, this one is.
  void sort_by_keys(std::vector<std::uint32_t>& groups) const;

 private:
  Groups() = default;
  std::uint32_t add(const std::vector<Cell>& keys);
  bool in_domain(const std::vector<Cell>& keys) const;

  bool public_ = true;
  std::size_t width_ = 0, size_ = 0;
  std::vector<Cell> cells_;  // width_ for every group
  // A single whole number is looked up as such, everything else by its encoding; both tables number
  // what they hold by themselves, so they are kept with the group each number stands for.
  WholeCodes numbers_;
  TextCodes texts_;
  std::vector<std::uint32_t> group_of_number_, group_of_text_;
  std::string encoded_;  // of the tuple at hand
  // With a private key: the admissible tuples of the public ones, encoded; empty where there are
  // none.
  std::vector<std::size_t> public_positions_;
  std::unordered_map<std::string, bool> public_domain_;
};

/// One row of one column of a chunk.
Cell read_cell(const EngineChunk& chunk, EngineType type, std::size_t column, std::size_t row);
/// A constant of the policy as a key of this type arrives from the engine.
Cell to_cell(const catalog::Literal& literal, sql::Type type);

}  // namespace discreet
