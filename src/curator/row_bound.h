// How many rows of a privacy unit count, found privately where nobody said.
//
// Guarantee: epsilon-DP under add/remove of a unit (mechanisms/bound_search.h): only the exponent
//            of the bound, a power of two, is released.
// Proof:     docs/proofs/bound_search.md
#pragma once

#include <cstdint>

#include "engines/engine.h"
#include "privacy/parameters.h"
#include "random/random_source.h"
#include "sql/question.h"

namespace discreet {

/// `noise` is the epsilon of what will be released under the bound: more of it makes a larger bound
/// worth its noise. InvalidParameter: as BoundSearch::balanced. Otherwise only the engine fails.
Result<std::uint64_t> find_row_bound(const sql::Release& release, Epsilon search, Epsilon noise,
                                     Engine& engine, RandomSource& random);

}  // namespace discreet
