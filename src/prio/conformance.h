// Runs the operations of an official VDAF test vector (the draft's appendix "Test Vectors", as
// JSON).
//
// Guarantee: passes only if every operation of the file gave the stored bytes, or was refused where
// the
//            file says so. The algorithm is named by the file's name, for example Prio3Sum_0.json.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace discreet::prio {

struct Conformance {
  bool passed = false;
  std::size_t operations = 0;
  std::string reason;  ///< which operation differed, and how; empty when passed
};

/// Never an error: a file that cannot be read or is not a vector has not passed.
Conformance run_vector(const std::filesystem::path& file);

}  // namespace discreet::prio
