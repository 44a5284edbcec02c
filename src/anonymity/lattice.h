// Full-domain generalisation: every column is coarsened to one level of its hierarchy, the same for
// all rows, and rows in classes that are too small are left out. The best combination of levels is
// found by walking the lattice from below (Samarati 2001; LeFevre et al. 2005).
//
// Guarantee: of all combinations of levels that meet the requirements with no more rows suppressed
//            than allowed, the one returned loses least (NCP, metrics.h). Combinations are passed
//            over only below one that fails: where intervals nest, finer never helps k, l or t.
// No privacy guarantee.
#pragma once

#include <vector>

#include "anonymity/table.h"
#include "base/result.h"

namespace discreet::anonymity {

/// Level by level, the width of a code's interval, each a multiple of the one before; the first is
/// 1 (as it is), the last covers all.
struct Hierarchy {
  std::vector<std::int64_t> widths;
};

/// Doubling or calendar steps that suit the column: labels are kept or dropped, dates go by year
/// and decade, numbers by 5, 10, 20 ... until one interval covers them.
Hierarchy default_hierarchy(const Column& column);

struct LatticeResult {
  Release release;
  std::vector<std::size_t> levels;  ///< one per quasi-identifier
  std::size_t nodes = 0;            ///< combinations looked at
};

/// `suppressed_max` is a share of the rows. Refused: not even the coarsest combination is enough.
Result<LatticeResult> generalise(const Table& table, const std::vector<Hierarchy>& hierarchies,
                                 const Requirements& requirements, double suppressed_max);

}  // namespace discreet::anonymity
