// The law of a selection whose log-likelihood ratios span at most epsilon (exponential mechanism).
//
// Guarantee: its profile (1 - e^{(x-e)/2})^2 / (1 - e^{-e}) on [-e, e] is the supremum of the
//            profiles of the pairs with losses t and t - e, 0 <= t <= e, which dominate every
//            mechanism of bounded range e (Dong, Durfee and Rogers 2020). Under P the
//            loss has density e^{(x-e)/2} / (2 (1 - e^{-e})), under Q the mirrored one.
#pragma once

#include "accounting/loss_law.h"

namespace discreet {

LossLawPtr bounded_range_law(double epsilon);

}  // namespace discreet
