// Picks an index i with chance proportional to length_i * exp(-distance_i * unit), exactly.
//
// The candidates of a private quantile are whole ranges of equally good values: a range counts once
// for every value in it. As in exponential_weights.h the choice is made from bounds on the weights,
// and bounds and random number are refined together when a draw falls within the error.
// Guarantee: the distribution is exactly the stated one, given uniform bits. All candidates are
//            scanned, whichever is chosen.
// Proof:     docs/proofs/quantile.md
#pragma once

#include <cstdint>
#include <span>

#include "base/rational.h"
#include "base/saturating.h"
#include "random/exp_powers.h"
#include "random/random_source.h"

namespace discreet {

struct IntervalWeight {
  std::uint64_t length;  ///< how many equally good values; zero is allowed and never chosen
  UInt128 distance;      ///< in units, from the best candidate or from anything not above it
};

/// At least one length is positive; at most 2^30 candidates. `powers` holds the unit; making it
/// costs more than a draw among few candidates, so keep it.
std::size_t draw_interval(std::span<const IntervalWeight> candidates, const ExpPowers& powers,
                          RandomSource& random);

}  // namespace discreet
