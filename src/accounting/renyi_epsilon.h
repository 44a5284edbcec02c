// (epsilon, delta) of a loss event by way of its Renyi divergences, at the best order.
//
// Guarantee: rounded up; valid for adaptively chosen mechanisms whose parameters are fixed in
//            advance. (Parameters chosen on the fly need a filter: accounting/filter.h.)
// Theorem:   Mironov 2017 (composition); conversion as in accounting/conversion.h. A
//            delta of the event's own is set aside first (Bun and Steinke 2016, Section 8).
#pragma once

#include "privacy/loss_event.h"
#include "privacy/neighbours.h"

namespace discreet {

struct RenyiBound {
  double value;  ///< the epsilon, or the delta, that was asked for
  double order;  ///< where it was found
};

/// The least epsilon at this delta over all orders, found on a logarithmic grid and then refined.
/// InvalidParameter: delta not in (0, 1). Refused: as renyi_divergence, or the event's own delta
/// exceeds the one wanted.
Result<RenyiBound> renyi_epsilon(const LossEvent& event, double delta, Neighbours neighbours);

/// The least delta at this epsilon >= 0.
Result<RenyiBound> renyi_delta(const LossEvent& event, double epsilon, Neighbours neighbours);

}  // namespace discreet
