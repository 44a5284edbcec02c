#include "base/check.h"

namespace discreet {

void fail_check(const char* condition, const char* message) {
  throw InvariantViolation(std::string("invariant broken: ") + message + " (" + condition + ")");
}

}  // namespace discreet
