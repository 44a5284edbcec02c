// The privacy of Gaussian noise in closed form, and the least noise for a wanted privacy.
//
// With mu = sensitivity / sigma, a Gaussian release satisfies exactly
//   delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)
// (Balle and Wang 2018, Theorem 8), and k releases act as one with mu^2 summed. The discrete
// Gaussian of the same sigma is covered by its own profile in accounting/, and by its zCDP bound
// here.
#pragma once

#include "privacy/parameters.h"

namespace discreet {

/// An upper bound on delta(epsilon), tight to a few units in the last place of its two terms.
double gaussian_delta_up(double mu, double epsilon);

/// A lower bound on the same.
double gaussian_delta_down(double mu, double epsilon);

/// A noise multiplier sigma / sensitivity that meets the target: the least one up to about 1e-13
/// relative. InvalidParameter: epsilon and delta both zero, or delta not in (0, 1).
Result<double> gaussian_noise_multiplier(ApproxDp target);

/// The textbook's sqrt(2 ln(1.25 / delta)) / epsilon (Dwork and Roth 2014, Theorem A.1), for
/// comparison. InvalidParameter: epsilon not in (0, 1), where the theorem does not hold.
Result<double> classic_gaussian_noise_multiplier(ApproxDp target);

}  // namespace discreet
