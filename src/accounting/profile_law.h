// A law from a bound on its profile: for guarantees that come as a curve, such as zCDP.
//
// Guarantee: the law's profile is the least convex function of e^epsilon through the given points,
//            which is not below any profile that is below the points (a profile is convex in
//            e^epsilon; Zhu, Dong and Wang 2022).
#pragma once

#include <functional>

#include "accounting/loss_law.h"

namespace discreet {

/// `delta` bounds the profile at epsilon >= 0, for both directions alike. Points are taken up to
/// `epsilon_max`, beyond which the loss counts as infinite.
LossLawPtr law_of_symmetric_profile(const std::function<double(double)>& delta, double epsilon_max,
                                    std::size_t points);

}  // namespace discreet
