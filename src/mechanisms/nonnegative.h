// Noisy histograms made non-negative without changing their total.
//
// Setting negative cells to zero adds up: over a thousand mostly empty groups the total drifts by
// thousands of rows. The projection onto the non-negative vectors of the same noisy total has no
// such drift and a smaller error per cell.
//
// Guarantee: a function of released numbers only, so it costs nothing (post-processing).
// Proof:     docs/proofs/nonnegative.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace discreet {

/// The nearest non-negative vector, in squares weighted by 1 / variance, whose sum is that of
/// `noisy`, or zero when that is negative. Empty `variances` means equal ones. InvalidParameter:
/// sizes differ, a cell is not finite, a variance not positive and finite.
Result<std::vector<double>> nonnegative_same_total(std::span<const double> noisy,
                                                   std::span<const double> variances = {});

/// The same with a total known from elsewhere (released, or public).
Result<std::vector<double>> nonnegative_with_total(std::span<const double> noisy, double total,
                                                   std::span<const double> variances = {});

/// Whole numbers that sum to the nearest whole of the sum, each within one of its cell: cells are
/// rounded down and the largest remainders up. For non-negative cells with a sum below 2^53.
Result<std::vector<std::int64_t>> whole_same_total(std::span<const double> cells);

}  // namespace discreet
