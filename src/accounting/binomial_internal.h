// Binomial probabilities good to about eighteen digits, for counts up to 2^53.
//
// One value is computed with 113-bit arithmetic; its neighbours follow by the ratio of consecutive
// terms in long double, so a run of ten thousand terms is still good to 1e-14.
#pragma once

#include <cstdint>

namespace discreet {

/// ln P[Bin(n, p) = k], where p is given by its log-odds ln(p / (1-p)), exactly as a double. The
/// error is below 1e-15 of 1, whatever the magnitude of the result.
long double log_binomial(std::uint64_t n, std::uint64_t k, double log_odds);

/// The same for p = e^{-x}, x > 0.
long double log_binomial_exp(std::uint64_t n, std::uint64_t k, double x);

}  // namespace discreet
