// Whose row each row of a table's files is, by the row's place in them: read once, and kept for the
// questions that come after.
//
// Which column says whose a row is does not change from question to question, and reading it takes
// longer than reading what is asked about.
// Guarantee: units have numbers 0, 1, ... in the order in which they first appear; rows of one
//            unit, and no others, have its number; rows of nobody have number units().
// Assumes:   the files stay as they were read: whoever uses this asks Engine::files_state() before
//            and after.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "engines/raw_vector.h"

namespace discreet {

/// Whether places are those of one row after the other.
inline bool follow_each_other(std::span<const std::int64_t> places) {
  std::uint64_t differs = 0;
  for (std::size_t row = 0; row < places.size(); ++row)
    differs |= static_cast<std::uint64_t>(places[row]) ^
               (static_cast<std::uint64_t>(places[0]) + std::uint64_t{row});
  return differs == 0;
}

class RowOwners {
 public:
  /// A place is the number of a file, and below kRowBits bits the number of a row in it.
  static constexpr int kRowBits = 32;

  /// Null: there are more rows and units than `bytes_max` holds, a row has no place or two rows
  /// have one, or units are of a kind that has no numbers; the rows can still be read with their
  /// units.
  static Result<std::shared_ptr<const RowOwners>> load(Engine& engine, const OwnersAsked& asked,
                                                       std::uint64_t bytes_max);

  /// Numbers of rows that lie one after the other, from this place on. Nothing: some do not exist.
  const std::uint32_t* of(std::int64_t place, std::size_t rows) const {
    const auto file = static_cast<std::uint64_t>(place) >> kRowBits;
    const auto row = static_cast<std::uint64_t>(place) & ((std::uint64_t{1} << kRowBits) - 1);
    if (file >= files_.size() || row + rows > files_[file].size()) return nullptr;
    return files_[file].data() + row;
  }

  /// Numbers of rows at these places, of which there is at least one: where they lie, or in
  /// `gathered`. Nothing: some do not exist.
  const std::uint32_t* of_each(std::span<const std::int64_t> places,
                               std::vector<std::uint32_t>& gathered) const;

  std::uint32_t units() const { return static_cast<std::uint32_t>(names_.size()); }
  /// What the rows themselves call the unit, where that is a whole number or a date.
  std::int64_t name(std::uint32_t unit) const { return names_[unit]; }
  std::uint64_t bytes() const;

 private:
  RowOwners() = default;

  std::vector<RawVector<std::uint32_t>> files_;
  std::vector<std::int64_t> names_;  // by number
};

/// The owners of several tables' rows, one for every statement and state of their files, within a
/// limit of memory. For all threads.
class OwnersKept {
 public:
  explicit OwnersKept(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  /// 1 GiB, four bytes for each row and eight for each unit; less on a machine of less than 8.
  /// While they are read they take up to five times as much.
  static std::uint64_t bytes_for_this_machine();

  /// Of files in this state. Reads them when they are asked for the second time: who asks one
  /// question and goes gains nothing. Null: not yet, or load() has none, or another thread reads
  /// them right now, or the files changed meanwhile.
  Result<std::shared_ptr<const RowOwners>> find(Engine& engine, const OwnersAsked& asked,
                                                const std::string& state);

 private:
  struct Kept {
    std::string name;  // statement and state
    int asked = 0;
    bool is_read = false;
    std::shared_ptr<const RowOwners> owners{};
  };
  std::vector<Kept>::iterator of(const std::string& name);
  void make_room();

  static constexpr std::size_t kKeptMax = 64;

  const std::uint64_t bytes_max_;
  std::mutex mutex_;
  std::vector<Kept> kept_;  // asked for last comes last
};

}  // namespace discreet
