// Floating-point operations that are wrong on a chosen side.
//
// add_up(a, b) is a double not less than the exact a + b, and the least such double wherever the
// rounding error can be computed; so a sum of losses never understates and 1 + 1 is still 2.
// Transcendental functions rely on the C library being within two units in the last place, which
// glibc documents. Assumes the default rounding mode and no -ffast-math.
#pragma once

#include <cstdint>

namespace discreet {

/// The next double above or below; infinities stay.
double next_up(double x);
double next_down(double x);

/// A count as a double, exact up to 2^53 and rounded to the named side beyond.
double count_up(std::uint64_t count);
double count_down(std::uint64_t count);

double add_up(double a, double b);
double add_down(double a, double b);
double sub_up(double a, double b);
double sub_down(double a, double b);
double mul_up(double a, double b);
double mul_down(double a, double b);
double div_up(double a, double b);
double div_down(double a, double b);
double sqrt_up(double x);
double sqrt_down(double x);

double exp_up(double x);
double exp_down(double x);
double log_up(double x);
double log_down(double x);
double expm1_up(double x);
double expm1_down(double x);
double log1p_up(double x);
double log1p_down(double x);

}  // namespace discreet
