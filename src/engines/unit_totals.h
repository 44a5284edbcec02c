// What every unit adds to all groups together, beside its rows in a few bytes each.
//
// A bound on what a unit adds to all groups needs its groups one by one only where it adds too
// much. So rows are not gathered by unit and group: units' totals are added up in place, rows are
// kept in the order in which they come, and when it is known which few units are to be taken apart,
// one more walk over them adds up the groups of all others.
// Guarantee: totals() and split() are exact sums over the same rows.
// Assumes:   units are whole numbers that lie close together, or have been numbered
//            (UnitRowsShape::owners).
// Proof:     by test: both are compared with the engine's own sums (duckdb/unit_totals_test.cc).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/unit_rows.h"

namespace discreet {

class UnitTotals {
 public:
  /// Reads all rows; `number` and `number_many` as in UnitRows::add_up(). Nothing: they take more
  /// than `memory_max` bytes, or are of a shape that this has no form for, and UnitRows may have
  /// one.
  static Result<std::optional<UnitTotals>> load(Engine& engine, const std::string& sql,
                                                UnitRowsShape shape,
                                                const UnitRows::Numbering& number,
                                                const UnitRows::ManyNumbering& number_many,
                                                std::uint64_t memory_max);

  UnitTotals(UnitTotals&&) noexcept;
  UnitTotals& operator=(UnitTotals&&) noexcept;
  ~UnitTotals();

  /// One row for every number that a unit may have; zeros where it has no rows in any group. Nobody
  /// has a number too, and zeros.
  UnitPartials totals() const;

  struct Split {
    std::vector<Int128> others;        ///< of units that are not apart: by feature, then by group
    UnitPartials apart;                ///< of those that are
    std::vector<std::uint32_t> units;  ///< their numbers, as in totals()
  };
  /// With one of `apart` for every row of totals(), and groups' numbers below `groups`.
  Split split(const std::vector<bool>& apart, std::size_t groups) const;

 private:
  struct Lane;
  struct State;
  explicit UnitTotals(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace discreet
