// What each privacy unit adds to each group, put together while the engine streams its rows.
//
// The engine's threads hand rows over as they make them. Each thread numbers the groups it meets
// and appends the row to a partition chosen by its unit (or adds it to the unit's last row there);
// then every partition, small enough for the cache, is sorted by unit and added up by itself. Past
// a memory limit partitions go to a file. Counts and sums of small numbers, of units that lie close
// together and have few groups, are added up in place instead (unit_cells_internal.h).
// Guarantee: add_up() gives what GROUP BY unit, keys over the same rows gives, in exact integers;
//            with a limit, a uniformly chosen subset of every unit's groups.
// Assumes:   values are within 62 bits and a unit has fewer than 2^32 rows.
// Proof:     by test: both forms on random data are compared (unit_rows_test.cc).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engines/engine.h"
#include "engines/row_owners.h"
#include "engines/unit_partials.h"

namespace discreet {

/// A value as it crosses the engine: NULL, boolean, whole number (also days and microseconds),
/// number, text.
using EngineValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// One integer per unit and group.
struct RowFeature {
  enum class Kind {
    Rows,          ///< rows (where `condition` is true, if there is one)
    Count,         ///< rows where the value is not NULL
    Sum,           ///< of the value, over those
    SumOfProducts  ///< of the value and the second, to these powers, where both are not NULL
  } kind;
  std::size_t value = 0, second = 0;
  std::optional<std::size_t> condition{};
  int power = 1, second_power = 1;  ///< above 1 only for values below 2^17, so that all fits
};

/// A column of whole numbers, of a DECIMAL with this many digits, or of booleans. What lies outside
/// the bounds is moved to them.
struct RowValue {
  std::string column;
  std::int64_t lower, upper;
  int decimal_digits = 0;
};

/// The statement's columns in order: the unit (NULL: nobody's row, which is left out), keys,
/// values, conditions (BOOLEAN).
struct UnitRowsShape {
  std::string unit;
  std::vector<std::string> keys;
  std::vector<RowValue> values;
  std::vector<std::string> conditions;
  std::vector<RowFeature> features;
  /// By key, or empty: a whole number that is nearly always within these few.
  struct KeyRange {
    std::int64_t lower, upper;
  };
  std::vector<std::optional<KeyRange>> key_ranges{};
  /// How many groups there may be, where that is known without the rows.
  std::optional<std::uint64_t> groups_known{};
  /// Not empty: the first column is not the unit but a whole number that leads to it, and this
  /// statement's rows (`link`, `unit`) say where. Rows that lead nowhere are nobody's.
  std::string link_sql{};
  /// Not null: the first column is the row's place, and this tells whose it is.
  std::shared_ptr<const RowOwners> owners{};
};

/// At most this many groups of a unit, chosen by a keyed hash of it: the caller draws the key anew
/// for every question.
struct GroupLimit {
  std::uint64_t most;
  std::array<std::uint64_t, 2> key;
};

/// By feature: what the magnitudes of sums over disjoint parts of so many rows add up to at most.
std::vector<UInt128> most_of(const UnitRowsShape& shape, std::uint64_t rows);

class UnitRows {
 public:
  /// Reads all rows; what takes more than `memory_max` bytes is kept in a file without a name.
  /// Nothing: they have more values and conditions than a row of this form, or others than the
  /// shape says; a link leads to two units; there is no room for the file. The engine can still add
  /// up by itself.
  static Result<std::optional<UnitRows>> load(Engine& engine, const std::string& sql,
                                              UnitRowsShape shape, std::uint64_t memory_max);
  static bool fits(const UnitRowsShape& shape);

  UnitRows(UnitRows&&) noexcept;
  UnitRows& operator=(UnitRows&&) noexcept;
  ~UnitRows();

  /// `number` is asked once or a few times for every different tuple of keys; rows of a tuple
  /// without a number are dropped before groups are limited.
  using Numbering =
      std::function<std::optional<std::uint32_t>(const std::vector<EngineValue>& keys)>;
  /// The same for many keys at once, where a key is one whole number; kDropped: it has no number.
  using ManyNumbering =
      std::function<void(std::span<const std::int64_t> keys, std::span<std::uint32_t> numbers)>;
  static constexpr std::uint32_t kDropped = UINT32_MAX;
  /// Unavailable: rows that were put into a file cannot be read back.
  Result<UnitPartials> add_up(const Numbering& number, const std::optional<GroupLimit>& limit,
                              const ManyNumbering& number_many = nullptr) const;

 private:
  struct Lane;
  struct State;
  explicit UnitRows(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace discreet
