// Models, where src/learn is built.
#pragma once

#include "bindings/glue.h"

namespace discreet::python {

void bind_learn(nb::module_& m);

}  // namespace discreet::python
