// How good predictions are. NOT private: these read labels without noise; use them on rows that are
// public or that nobody outside sees.
#pragma once

#include <cstdint>
#include <span>

namespace discreet::learn {

double accuracy(std::span<const std::uint32_t> predicted, std::span<const std::uint16_t> labels);
/// The chance that a row of class 1 scores above a row of another class, ties counted half. One
/// half when either class is missing.
double area_under_curve(std::span<const double> scores, std::span<const std::uint16_t> labels);
/// 1 - (squared error) / (squared distance from the mean); 0 when all labels are equal.
double r_squared(std::span<const double> predicted, std::span<const double> truth);

}  // namespace discreet::learn
