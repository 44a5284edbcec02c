// Uniform integers, exactly: words beyond the last whole multiple of the bound are drawn again.
#pragma once

#include "base/rational.h"
#include "random/random_source.h"

namespace discreet {

/// Uniform on {0, ..., bound - 1}; bound > 0.
std::uint64_t uniform_below(std::uint64_t bound, RandomSource& random);
BigInt uniform_below(const BigInt& bound, RandomSource& random);

}  // namespace discreet
