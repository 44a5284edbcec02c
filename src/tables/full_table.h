// A whole table behind released marginals: no cell below zero, then whole numbers.
//
// When the product of all attributes is small enough to be written down, the table is found that
// is likeliest given the noisy coefficients, among those with no negative cell:
//   minimise  sum over spaces of |coefficients of x - noisy|^2 / variance   subject to  x >= 0
// (ADMM: the quadratic part is diagonal in the basis, the bound is diagonal in the cells.) A public
// invariant, such as a known total, replaces the noisy coefficients it determines. The result is
// then rounded so that every marginal is a sum of whole numbers and the invariant holds exactly.
// Post-processing only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tables/release.h"

namespace discreet::tables {

/// Exact counts that are public anyway, for a marginal; no attributes for the total. Of a hierarchy
/// they may be those of a level.
struct Invariant {
  static constexpr std::uint32_t kLeaves = UINT32_MAX;  ///< the values themselves

  Attributes attributes;
  std::vector<std::int64_t> counts;        ///< none negative; the last attribute varying fastest
  std::vector<std::uint32_t> levels = {};  ///< by attribute; empty: all kLeaves

  /// Of attribute number `i` of `attributes`.
  std::uint32_t level(std::size_t i) const { return levels.empty() ? kLeaves : levels[i]; }
  /// Whether a sum over these attributes and levels is a sum of its counts.
  bool tells(const Attributes& asked, std::span<const std::uint32_t> asked_levels) const;
};

/// For each cell of the whole table, the count of the invariant that it is part of.
std::vector<std::uint32_t> parts_of(std::span<const Axis> axes, const Invariant& invariant);

struct FullTableSettings {
  std::uint32_t rounds = 200;  ///< of the projection, at most
  double tolerance = 1e-3;     ///< of a cell's standard deviation: stop when nothing moves more
};

inline constexpr std::uint64_t kFullTableMax = std::uint64_t{1} << 22;

/// The likeliest non-negative table over all axes of the plan, the last varying fastest.
/// InvalidParameter: more than kFullTableMax cells, or an invariant that does not fit the plan.
Result<std::vector<double>> nonnegative_table(const Released& released,
                                              const std::optional<Invariant>& invariant,
                                              const FullTableSettings& settings = {});

/// Whole numbers near `table` (over all axes of the plan, none negative): the invariant holds
/// exactly, or the sum is the rounded sum; then units are moved until no single move along an axis
/// brings the plan's marginals, weighted by their precision, nearer to those of `table`.
Result<std::vector<std::int64_t>> round_table(const Plan& plan, std::span<const double> table,
                                              const std::optional<Invariant>& invariant);

/// A marginal of a table over all axes.
template <class Number>
std::vector<Number> marginal_of(std::span<const Axis> axes, std::span<const Number> table,
                                const Attributes& attributes);

extern template std::vector<double> marginal_of(std::span<const Axis>, std::span<const double>,
                                                const Attributes&);
extern template std::vector<std::int64_t> marginal_of(std::span<const Axis>,
                                                      std::span<const std::int64_t>,
                                                      const Attributes&);

}  // namespace discreet::tables
