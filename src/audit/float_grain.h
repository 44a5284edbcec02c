// Two views of a floating-point output that an audit can order: its value, and how fine it is.
//
// Guarantee: both are functions of the output alone, so auditing a view can only understate.
#pragma once

#include <cstdint>

namespace discreet {

/// The exponent of the lowest set bit: 0.75 gives -2. Zero gives 2000, what is not finite 2001.
std::int64_t lowest_bit(double value);

/// An integer in the order of the doubles; NaN comes last.
std::int64_t ordered_bits(double value);

}  // namespace discreet
