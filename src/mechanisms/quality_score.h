// What a selection maximises: one score per candidate, computed from the data.
//
// A selection only looks at differences of scores, so its privacy rests on how much those can move:
// by twice the sensitivity when one score may rise while another falls, by once the sensitivity
// when between any two neighbours all scores move the same way. Shared by the exponential
// mechanism, permute-and-flip, noisy max and top-k; what is common to their proofs is in
// docs/proofs/exponential.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/rational.h"
#include "privacy/parameters.h"
#include "privacy/sensitivity.h"

namespace discreet {

struct QualityScore {
  /// The most that the score of any one candidate moves between neighbouring data sets.
  LInfSensitivity sensitivity;
  /// Between any two neighbours all scores that move go the same way, as counts do when a person
  /// joins. Claiming this wrongly doubles the true loss.
  bool monotone = false;

  /// The most that a difference of two scores moves, exactly.
  Rational range() const;
};

/// epsilon / range: what one unit of score is worth in the exponent.
/// InvalidParameter: epsilon or sensitivity zero or subnormal, or a quotient beyond the range of
/// doubles.
Result<Rational> exponent_unit(Epsilon epsilon, const QualityScore& score);

/// How far each score lies below the best one. Scores must not be empty.
std::vector<std::uint64_t> distances_below_best(std::span<const std::int64_t> scores);

/// Doubles as whole multiples of one power of two, when 62 bits suffice for all of them.
struct GridScores {
  std::vector<std::int64_t> multiples;
  Rational step;
};
std::optional<GridScores> on_common_grid(std::span<const double> scores);

/// InvalidParameter: none at all, or one that is not finite. The message does not say which one.
Result<void> check_scores(std::span<const double> scores);
Result<void> check_scores(std::span<const std::int64_t> scores);

/// InvalidParameter: not strictly between 0 and 1.
Result<void> check_confidence_of_choice(double confidence);

/// The least epsilon (to a few units in the last place) at which `error_at` is within `error`; the
/// function must fall as epsilon grows. InvalidParameter: error not finite or negative, or no
/// finite epsilon reaches it, or epsilon zero already does, so that no privacy need be spent.
Result<Epsilon> least_epsilon(double error, const std::function<double(double epsilon)>& error_at);

}  // namespace discreet
