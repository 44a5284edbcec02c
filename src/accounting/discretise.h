// A law on a grid of losses, twice: once dominating it and once dominated by it.
//
// Guarantee: composing `upper` masses gives a profile that is never below the true one, composing
//            `lower` masses one that is never above it. Both differ from the truth by O(step^2) per
//            release where the loss has a density, and not at all where every loss is on the grid.
// Proof:     upper: each cell's P- and Q-mass goes to its two ends, which keeps both (connect the
//            dots; Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022), so the profile becomes
//            its chord in e^epsilon. lower: outcomes are merged into one symbol per grid point,
//            which is post-processing, and the symbol's loss is then moved down to the grid point;
//            the profile is monotone in the loss.
#pragma once

#include <cstdint>
#include <vector>

#include "accounting/loss_law.h"

namespace discreet {

struct GridLaw {
  double step = 0;
  double offset = 0;             ///< losses are offset + step * index
  std::vector<std::int64_t> at;  ///< index of each entry, increasing: not every point is used
  std::vector<double> upper;
  std::vector<double> lower;
  double infinite_upper = 0;  ///< mass of infinite loss, and of the upper tail cut off
  double infinite_lower = 0;
  double loss_error = 0;  ///< the upper masses are for losses larger by at most this

  double loss(std::size_t i) const { return offset + step * static_cast<double>(at[i]); }
};

/// Cells of so many steps from this loss on.
struct CellWidth {
  double from;
  std::int64_t steps;
};

/// How far apart the used points of a grid are: `least` steps, and more where `wide` says so (in
/// increasing order of loss). Any choice is sound; cells that hold little may be wide at no cost.
struct CellWidths {
  std::int64_t least = 1;
  std::vector<CellWidth> wide;
};

/// At most `tail_above` of P is treated as infinite loss, and `tail_below` is moved to the first
/// grid point (in `lower`: dropped). The grid passes through the law's largest atom; a law with
/// atoms uses every point.
GridLaw discretise(const LossLaw& law, double step, double tail_below, double tail_above,
                   const CellWidths& widths = {});

/// Cells of `least` steps where the law has its mass under e^{tilt * loss}, and wider ones in its
/// tails, judged by an earlier, coarser look at the same law.
CellWidths wide_tails(const GridLaw& seen, double tilt, double step, std::int64_t least);

/// The spacing that puts every atom of the law on the grid, or zero when there is none (fewer than
/// two atoms, or no common spacing of at least span / `points_max`).
double common_spacing(const LossLaw& law, std::size_t points_max);

}  // namespace discreet
