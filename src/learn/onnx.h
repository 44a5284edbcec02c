// A trained model as an ONNX file, for programs that know nothing of Discreet.
//
// Inputs are the table's own columns, each of shape [rows, 1]: numbers and codes as double (a date
// as days since 1970-01-01; NaN where missing), texts as strings. Coding is part of the graph.
// Outputs: `label` (text) and `probability` of classifiers (of the second of two classes, or of
// each), `value` of a regression, `cluster` and `distance`, `components`. Everything is computed in
// double precision. Post-processing: costs nothing.
#pragma once

#include <string>

#include "learn/model.h"

namespace discreet::learn {

std::string to_onnx(const Model& model);

}  // namespace discreet::learn
