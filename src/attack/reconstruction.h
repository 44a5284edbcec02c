// Reconstruction from subset counts (Dinur and Nissim 2003): every person has one secret bit, the
// attacker asks how many of a random half of the people have it, often, and solves for the bits.
//
// What to expect: with noise of standard deviation sigma on m = c n counts, least squares gets a
// bit right with chance about Phi(sqrt(m - n) / (4 sigma)); noise well below sqrt(n) gives nearly
// all bits away, noise above it hides them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attack/report.h"
#include "base/result.h"
#include "random/random_source.h"

namespace discreet::attack {

enum class Decoder { LeastSquares, LinearProgram, Exhaustive };

struct ReconstructionOptions {
  std::size_t people = 500;
  std::size_t queries = 2000;
  Decoder decoder = Decoder::LeastSquares;
  double epsilon = 1, delta = 1e-6;  ///< the budget of Discreet's release, for all queries together
};

/// Adds noise to all answers at once, in place; absent: the answers stay exact.
using Answering = std::function<void(std::span<std::int64_t> answers, RandomSource& random)>;

/// One run: the number of bits guessed right. Exhaustive search needs at most 16 people, the linear
/// program at most 400.
Result<std::size_t> reconstruct(const ReconstructionOptions& options, const Answering& answering,
                                RandomSource& random);

/// The three targets: exact counts, noise of a tenth of sqrt(n), one budget for all counts.
Result<Report> reconstruction(const ReconstructionOptions& options, RandomSource& random);

/// Share of bits recovered against noise / sqrt(n), a series per number of queries.
Result<std::vector<Series>> phase_change(std::size_t people, std::span<const std::size_t> multiples,
                                         std::span<const double> noise, RandomSource& random);

/// What theory says least squares recovers.
double predicted_recovery(std::size_t people, std::size_t queries, double sigma);

}  // namespace discreet::attack
