// Names of neighbouring relations, as Python spells them.
#pragma once

#include <string>

#include "privacy/neighbours.h"

namespace discreet::python {

/// "add_remove" or "replace_one"; anything else is an InvalidParameter.
Neighbours neighbours_of(const std::string& name);

}  // namespace discreet::python
