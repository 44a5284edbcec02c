// 95 % intervals of everything that was measured, to ship with a twin: post-processing, as public
// as the twin.
#pragma once

#include <string>

#include "synth/raw_twin.h"

namespace discreet::synth {

/// One object. "marginals" holds the one-ways, cell by cell; "wide" the wider marginals: for each
/// column its values (a group of values that were measured together is a list), the noisy counts
/// with the last column varying fastest, `sigma`, the half width of one interval and that of all of
/// them at once. A sum of m cells has the standard deviation sigma * sqrt(m).
std::string intervals_json(const RawTwin& made);

}  // namespace discreet::synth
