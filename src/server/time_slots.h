// When an answer may leave: at times that were fixed before the data was read.
//
// Guarantee: an answer leaves at start + quantum * 2^k, for the smallest k that is not past. Within
//            a slot nothing of how long the engine or the sampler took can be seen; a quantum above
//            the slowest question makes all answers leave after the same time.
// Assumes:   the clock is monotonic. Load of the machine by other people is not hidden.
// See:       docs/security.md, "Time"
#pragma once

#include <chrono>

namespace discreet::server {

using Steady = std::chrono::steady_clock;

/// The first slot at or after `now` of a question that came at `start`.
inline Steady::time_point next_slot(Steady::time_point start, Steady::time_point now,
                                    std::chrono::milliseconds quantum) {
  if (quantum.count() <= 0) return now;
  auto wait = std::chrono::duration_cast<Steady::duration>(quantum);
  while (start + wait < now) wait *= 2;
  return start + wait;
}

}  // namespace discreet::server
