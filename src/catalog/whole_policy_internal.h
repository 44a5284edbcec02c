// What is wrong with a policy that only all of it shows.
#pragma once

#include <string>
#include <vector>

#include "catalog/policy.h"
#include "catalog/problems_internal.h"

namespace discreet::catalog {

/// Adds to `problems`; gives what is allowed but the owner should hear.
std::vector<std::string> check_whole(const Policy& policy, Problems& problems);

}  // namespace discreet::catalog
