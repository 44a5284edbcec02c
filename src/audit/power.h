// How often an audit sees a breach of a given size, and how often it accuses the innocent: both
// rates, measured on mechanisms whose true epsilon is known.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "random/random_source.h"

namespace discreet {

struct PowerPoint {
  std::string subject;
  double claimed = 1, truth = 1;  ///< epsilon; equal: the mechanism is correct
  std::uint64_t trials = 0;       ///< runs on each side
  std::uint64_t audits = 0, refuted = 0;
};

/// Laplace noise on a count and a coin for one bit, at claims of epsilon 1, that really spend
/// `truths`.
std::vector<PowerPoint> audit_power(std::span<const double> truths,
                                    std::span<const std::uint64_t> trials, std::uint64_t audits,
                                    RandomSource& random);

}  // namespace discreet
