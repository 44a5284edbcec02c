// Group privacy: what a guarantee for one unit says about several at once.
#pragma once

#include <cstdint>

#include "privacy/parameters.h"

namespace discreet {

/// The (epsilon, delta) that holds for any `size` units together: (k e, d (e^{k e} - 1) / (e^e -
/// 1)). Theorem: Dwork and Roth 2014 and Vadhan 2017. Rounded up; delta
/// stops at 1.
ApproxDp group_privacy(ApproxDp one, std::uint64_t size);

/// Bun and Steinke 2016: rho-zCDP for one is k^2 rho-zCDP for k.
Rho group_privacy(Rho one, std::uint64_t size);

}  // namespace discreet
