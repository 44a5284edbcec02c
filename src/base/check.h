// Broken invariants: our bugs, never the caller's. Checked in every build, because a privacy system
// that has lost its footing must refuse to answer rather than guess.
#pragma once

#include <stdexcept>
#include <string>

namespace discreet {

/// Thrown by DISCREET_CHECK. Only a session, the Python binding and main() catch it; they refuse to
/// answer.
class InvariantViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* message);

}  // namespace discreet

#define DISCREET_CHECK(condition, message)         \
  do {                                             \
    if (!(condition)) [[unlikely]]                 \
      ::discreet::fail_check(#condition, message); \
  } while (false)
