// Clipped sums around a mean that is found privately first.
//
// A sum beside a count is released as sum(x - mu) and the count: over many rows of one unit the
// centred terms cancel, so its vector is small and little noise hides it. mu is the middle of the
// declared range at no cost, or the mean itself: a tenth of epsilon buys a crude mean of each
// column over all groups (half to bound units, half for noise), and the rest goes to clipped sums
// around it, a sixth of that to their bound. Where the crude count says nothing, the middle stays.
// A tenth is much where units are few: a fiftieth of epsilon finds out first, and then all the rest
// goes to clipped sums around the middle.
// Guarantee: as ClippedSums for the same epsilon and delta.
// Assumes:   as ClippedSums; all sums are bounded.
// Proof:     docs/proofs/clipped_sums.md, "Private centres"
#pragma once

#include "curator/clipped_sums.h"

namespace discreet {

/// A sum of the release that may be moved: sum(x) - m count for any m.
struct CentredColumn {
  std::size_t sum, count;     ///< among the sums of the release
  std::size_t count_feature;  ///< whose factor in the sum's terms is -m
  std::int64_t middle;        ///< m as the sum has it
  std::int64_t lower, upper;  ///< of x
};

struct CentredRelease {
  NoisySums sums;
  std::vector<std::int64_t> centres;  ///< by column: the m that was used
};

class CentredSums {
 public:
  /// InvalidParameter as ClippedSums::make.
  static Result<CentredSums> make(Epsilon epsilon, std::vector<Sum> sums,
                                  std::vector<CentredColumn> columns, ClipOptions options);

  CentredRelease release(const Contributions& contributions, std::size_t groups,
                         RandomSource& random) const;

  /// As ClippedSums::noise_sd_per_row, of the second phase.
  double noise_sd_per_row(std::size_t sum) const;

 private:
  CentredSums(std::vector<Sum> sums, std::vector<CentredColumn> columns, ClippedSums crude,
              ClippedSums plain, Epsilon test, Epsilon rest, ClipOptions options)
      : sums_(std::move(sums)),
        columns_(std::move(columns)),
        crude_(std::move(crude)),
        plain_(std::move(plain)),
        test_(test),
        rest_(rest),
        options_(options) {}

  std::vector<Sum> sums_;
  std::vector<CentredColumn> columns_;
  ClippedSums crude_;    // of (count, sum) for every column, in this order
  ClippedSums plain_;    // where units are few: all sums around the middle
  Epsilon test_;         // whether they are
  Epsilon rest_;         // for the second phase
  ClipOptions options_;  // of the second phase
};

}  // namespace discreet
