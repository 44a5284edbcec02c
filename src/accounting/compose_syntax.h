// A short way to write down what was released, for the command line:
//
//   1000 x gaussian(sigma=20, sensitivity=1) + 10 x laplace(scale=2)
//
// A term is `[count x] name(field=value, ...)`; terms are joined by `+`. Names and fields are those
// of the JSON form (docs/formats/loss_events.md), or shorter: pure, approx, exponential, rr;
// epsilon and delta; sigma of a discrete_gaussian. `sensitivity` is 1 when left out, a list is
// written [a; b; c]. Terms may be put in parentheses, and inside
//
//   sampled(q=0.01, TERM)                                        a Poisson sample
//   sampled_without_replacement(sample=10, population=1000, TERM)
//   group(size=3, TERM)                                          for three units together
//   parallel(TERM, TERM, ...)                                    one for each part of the data
#pragma once

#include <string_view>

#include "base/result.h"
#include "privacy/loss_event.h"

namespace discreet {

/// InvalidInput: the text does not follow the grammar; the message shows where.
Result<LossEvent> parse_composition(std::string_view text);

}  // namespace discreet
