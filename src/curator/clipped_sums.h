// Releases sums to which a unit may contribute many rows in many groups, when nobody gave a bound.
//
// A unit's contributions to all sums and groups are one vector, in which each sum is measured by
// its declared row maximum. A bound B on the vector's size is found privately (BoundSearch), every
// unit's vector is scaled down to B where it is larger, and noise for a sensitivity of B is added
// to every cell:
//   Laplace   sizes and noise in L1.
//   Gaussian  sizes and noise in L2: less error where a unit has many cells, about 20 and more.
//   Only
//             with a delta and more than 20 cells, and by a private test of whether most units have
//             so many (2 % of epsilon).
// Guarantee: epsilon-DP for all cells together, under add/remove of a unit; (epsilon, delta)-DP
// with
//            a delta.
// Assumes:   the contributions are grouped by unit; groups and sums are public or already released.
// Proof:     docs/proofs/clipped_sums.md
#pragma once

#include <vector>

#include "base/rational.h"
#include "base/reciprocal.h"
#include "curator/contributions.h"
#include "curator/sums.h"
#include "privacy/loss_event.h"

namespace discreet {

template <class Number>
class CountAbove;
class NoiseAhead;

struct NoisySums {
  std::vector<std::vector<Int128>> cells;  ///< by sum, by group
  std::vector<double> noise_sd;            ///< by sum
  double bound =
      0;  ///< rows of largest size that a unit may add (bounded sums), or units of the grid
  bool gaussian = false;
};

struct ClipOptions {
  std::optional<std::uint64_t> rows_max;  ///< of a unit, where it is known
  /// Proved of a unit's size, in rows of largest size (all sums bounded): nothing is searched for,
  /// and all of epsilon is for the noise. Enforced by clipping like any bound.
  std::optional<std::uint64_t> size_max;
  /// Of epsilon, for the bound, up to four cells; of more it is less (search_epsilon).
  double search_share = 0.25;
  bool one_group = false;       ///< all of a unit's groups added up: one cell per sum
  Delta delta = Delta::zero();  ///< not zero: Gaussian noise may be chosen
};

class ClippedSums {
 public:
  /// Gaussian noise is not considered for this many cells or fewer, and not chosen unless most
  /// units touch more.
  static constexpr std::size_t kLaplaceCellsMax = 20;

  /// `sums` are released together; either all bounded, or a single one. InvalidParameter: epsilon
  /// is too small for the ranges.
  static Result<ClippedSums> make(Epsilon epsilon, std::vector<Sum> sums, ClipOptions options);

  /// Has the noise of so many groups drawn ahead, where the bound is proved and Laplace noise sure.
  void prepare_noise(std::size_t groups, NoiseAhead& ahead) const;

  NoisySums release(const Contributions& contributions, std::size_t groups,
                    RandomSource& random) const;

  LossEvent loss() const;
  /// What the noise would be at a bound of one row of largest size: the yardstick EXPLAIN can give.
  /// Of up to four cells; of more there is less.
  double noise_sd_per_row(std::size_t sum) const;
  /// What the noise will be, where the bound is proved.
  std::optional<double> noise_sd(std::size_t sum) const;

 private:
  ClippedSums(Epsilon epsilon, std::vector<Sum> sums, ClipOptions options)
      : epsilon_(epsilon), sums_(std::move(sums)), options_(options) {}
  /// A sum with what sizes need of it, worked out once: they are asked for millions of cells.
  struct Measure {
    UInt128 factor = 1, row_max = 1;   ///< a row of largest size counts `factor`
    int fine = 0;                      ///< clipped cells are added up in 2^-fine of the grid
    UInt128 rows_max = 0;              ///< from here on a cell counts no more
    bool narrow = false;               ///< sizes can be had in 64 bits,
    Reciprocal by_row_max{1};          ///< with this
    std::optional<std::size_t> plain;  ///< the sum is this feature, as it is
    std::optional<std::size_t> moved;  ///< or this one and `times` the feature `by`
    std::size_t by = 0;
    Int128 times = 0;
  };
  Int128 value_of(std::size_t sum, const WholesView& features) const {
    const Measure& measure = measures_[sum];
    if (measure.plain) return features[*measure.plain];
    if (measure.moved) return features[*measure.moved] + measure.times * features[measure.by];
    return sums_[sum].of(features);
  }
  /// What one unit adds, cell by cell: visit(group, sum, value).
  template <class Visit>
  void each_cell(const Contributions& contributions, std::size_t unit, const Visit& visit) const;
  struct Sizes {
    RawVector<std::uint64_t> of_unit;  ///< the largest number: as large or larger
    std::vector<std::int64_t> above;   ///< by bound: units of a larger size
    /// Counts units: just_above[i] are above i bounds.
    void count(const std::vector<std::int64_t>& just_above);
  };
  template <class SizeOf>
  Sizes measure(const Contributions& contributions, const SizeOf& size_of_unit) const;
  template <class SizeOf, class OnLattice>
  std::vector<Int128> add_up(const Contributions& contributions, std::size_t groups,
                             const Sizes& sizes, const SizeOf& size_of_unit, UInt128 bound,
                             const OnLattice& on_lattice) const;
  /// The same for units of one row, of one sum: whether a size is above a bound is told by the
  /// value alone, and no size is worked out but that of who is clipped.
  bool is_of_one_cell(const Contributions& contributions) const;
  UInt128 value_within(UInt128 bound) const;
  Sizes measure_values(const Contributions& contributions) const;
  std::vector<Int128> add_up_values(const Contributions& contributions, std::size_t groups,
                                    UInt128 bound) const;
  /// The same where the one row is what the unit adds to all groups.
  std::vector<Int128> add_up_totals(const Contributions& contributions, std::size_t groups,
                                    UInt128 bound) const;
  /// The same as measure() with Laplace noise's sizes and add_up(), and as measure_values() and
  /// add_up_values(), several times as fast, of numbers of 64 bits (clipped_sums_narrow.cc).
  struct NarrowSum;
  struct NarrowSums;
  /// Nothing: something may not fit.
  std::optional<NarrowSums> narrow(const Contributions& contributions) const;
  struct Measured {
    Sizes sizes;
    /// All units' cells as they are, by group, by sum; empty: there are too many of them.
    std::vector<std::int64_t> whole;
  };
  Measured measure(const Contributions& contributions, const NarrowSums& sums,
                   std::size_t groups) const;
  template <std::size_t kSums, bool kAddsUp, bool kOneGroup>
  void measure_units(const Contributions& contributions, const NarrowSums& sums, std::size_t unit,
                     std::size_t last, std::uint64_t* sizes, CountAbove<std::uint64_t>& above,
                     std::int64_t* whole) const;
  std::vector<Int128> add_up(const Contributions& contributions, const NarrowSums& sums,
                             std::size_t groups, const Measured& measured, UInt128 bound) const;
  Sizes measure_values(const Contributions& contributions, const NarrowSums& sums) const;
  std::vector<Int128> add_up_values(const Contributions& contributions, const NarrowSums& sums,
                                    std::size_t groups, UInt128 bound) const;
  /// How much of epsilon finds the bound of so many cells.
  Epsilon search_epsilon(std::size_t cells) const;
  UInt128 find_bound(const std::vector<std::int64_t>& above, Epsilon noise, std::size_t cells,
                     RandomSource& random) const;
  UInt128 size_of(UInt128 magnitude, std::size_t sum) const;
  std::int64_t steps_of(Int128 value, std::size_t sum) const;
  Rational rate(std::size_t sum, const BigInt& bound, Epsilon noise) const;
  bool most_touch_many_cells(const Contributions& contributions, RandomSource& random) const;
  NoisySums release_laplace(const Contributions& contributions, std::size_t groups, Epsilon noise,
                            RandomSource& random) const;
  NoisySums release_gaussian(const Contributions& contributions, std::size_t groups, Epsilon noise,
                             RandomSource& random) const;

  Epsilon epsilon_;
  std::vector<Sum> sums_;
  std::vector<Measure> measures_;  // of each
  ClipOptions options_;
  Epsilon test_ = Epsilon::zero();   // for the choice of Laplace or Gaussian noise
  Epsilon noise_ = Epsilon::zero();  // what there is for it of up to four cells
  std::vector<UInt128> bounds_;      // rising, in units of size
};

}  // namespace discreet
