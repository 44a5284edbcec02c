// The public headers of discreet::core, in one place.
#pragma once

#include "base/rational.h"
#include "base/result.h"
#include "base/rounding.h"
#include "base/saturating.h"
#include "mechanisms/discrete_laplace.h"
#include "privacy/gaussian_profile.h"
#include "privacy/group.h"
#include "privacy/loss_event.h"
#include "privacy/neighbours.h"
#include "privacy/parameters.h"
#include "privacy/sensitivity.h"
#include "random/secure_random.h"
