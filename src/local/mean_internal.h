// Numbers of a range as points of a grid: 2^20 steps on either side of the middle.
#pragma once

#include <cstdint>

#include "local/spec.h"

namespace discreet::local {

inline constexpr std::int64_t kGridHalf = std::int64_t{1} << 20;

/// The nearest grid point, 0 to 2 kGridHalf; values beyond the range are taken to its ends.
std::uint64_t grid_point(const Spec& spec, double value);

}  // namespace discreet::local
