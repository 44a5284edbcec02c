// The inverse of an error statement: the least epsilon whose error is good enough.
//
// For mechanisms without a closed form. The error must not rise with epsilon, which every error
// bound in this folder obeys; the answer is within one part in a million of the least epsilon, on
// the side that meets the wish.
#pragma once

#include <cmath>

#include <fmt/format.h>

#include "privacy/parameters.h"

namespace discreet {

/// Where epsilon may lie for a mechanism.
struct EpsilonRange {
  double least, most;
};

/// `make(Epsilon)` gives Result<Mechanism>, `error_of(mechanism)` its error. InvalidParameter: the
/// wish is not a finite number that is not negative, or the largest epsilon does not meet it, or
/// make() refuses.
template <class Make, class ErrorOf>
auto least_epsilon_for_error(double error, EpsilonRange range, const Make& make,
                             const ErrorOf& error_of) -> decltype(make(Epsilon::zero())) {
  if (!std::isfinite(error) || error < 0)
    return invalid_parameter(
        fmt::format("the wanted error must be finite and not negative, not {}", error));
  const auto at = [&](double epsilon) { return make(Epsilon::make(epsilon).value()); };
  DISCREET_TRY(auto best, at(range.most));
  if (error_of(best) > error)
    return invalid_parameter(
        fmt::format("no epsilon up to {:g} makes the error as small as {:g}", range.most, error));
  double low = range.least, high = range.most;
  DISCREET_TRY(auto cheapest, at(low));
  if (error_of(cheapest) <= error) return cheapest;
  while (high > low * (1 + 1e-6)) {
    const double middle = std::sqrt(low * high);
    DISCREET_TRY(auto tried, at(middle));
    if (error_of(tried) <= error) {
      best = std::move(tried);
      high = middle;
    } else {
      low = middle;
    }
  }
  return best;
}

}  // namespace discreet
