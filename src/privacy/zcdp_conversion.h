// From zero-concentrated privacy to (epsilon, delta), and back.
//
// Theorem: Canonne, Kamath and Steinke 2020, Proposition 12: rho-zCDP implies for every order a > 1
//   delta = exp((a - 1)(a rho - epsilon) + a ln(1 - 1/a)) / (a - 1).
// Every order gives a valid bound, so the search for the best one need not be exact; the bound at
// the order found is rounded up.
#pragma once

#include "privacy/parameters.h"

namespace discreet {

/// The least delta (to about 1e-12 relative, rounded up) that rho-zCDP implies at this epsilon.
double zcdp_delta_up(Rho rho, double epsilon);

/// The greatest rho (rounded down) that implies the target.
/// InvalidParameter: delta not strictly between 0 and 1, or no positive rho suffices.
Result<Rho> zcdp_meeting(ApproxDp target);

}  // namespace discreet
