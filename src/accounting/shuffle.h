// Privacy by anonymity: n users randomise locally, a shuffler hides who sent what.
//
// Guarantee: `shuffle_clones_*` holds for every randomiser that is epsilon0-DP for each user, also
//            when users pick theirs adaptively, for replacing one user's value; rounded up.
//            `shuffled_randomized_response_delta_lower` is what one pair of inputs to binary
//            randomized response really leaks; rounded down. No sound bound can lie below it.
// Theorem:   Feldman, McMillan and Talwar 2021: the shuffled reports reveal no more
// than
//            whether the pair (A + B, C - A + 1 - B) or (A + 1 - B, C - A + B) was drawn, with
//            C ~ Bin(n - 1, e^{-epsilon0}), A ~ Bin(C, 1/2), B ~ Ber(e^{epsilon0} / (1 +
//            e^{epsilon0})). The sum of a pair reveals C, so given C one number remains, its
//            likelihood ratio is monotone, and each hockey stick is two binomial tails.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace discreet {

/// delta at this epsilon; O(sqrt n) steps. InvalidParameter: n is zero or above 2^40, or a number
/// that is not finite and >= 0.
Result<double> shuffle_clones_delta(std::uint64_t n, double epsilon0, double epsilon);

/// The least epsilon at this delta in (0, 1); never above epsilon0.
Result<double> shuffle_clones_epsilon(std::uint64_t n, double epsilon0, double delta);

/// The closed form of the same paper: ln(1 + (e^{e0}-1)/(e^{e0}+1) (8 sqrt(e^{e0}
/// ln(4/delta) / n) + 8 e^{e0} / n)). Refused outside epsilon0 <= ln(n / (16 ln(4/delta))).
Result<double> shuffle_closed_form_epsilon(std::uint64_t n, double epsilon0, double delta);

/// n - 1 users hold 0, one holds 0 or 1, all use binary randomized response.
Result<double> shuffled_randomized_response_delta_lower(std::uint64_t n, double epsilon0,
                                                        double epsilon);

}  // namespace discreet
