// Whether the question that an engine works on was cancelled: no further statement of it runs then.
//
// Guarantee: what comes late is not for the next question. ask() may be called from any thread.
#pragma once

#include <atomic>

#include "base/result.h"

namespace discreet {

class Cancellation {
 public:
  void begin() {
    asked_ = false;
    in_question_ = true;
  }
  void end() { in_question_ = false; }
  void ask() { asked_ = true; }

  /// Unavailable: the question was cancelled, and this statement of it is not to run.
  Result<void> check() const {
    if (in_question_ && asked_)
      return Error{ErrorCode::Unavailable, "The statement was cancelled before it ran."};
    return {};
  }

 private:
  std::atomic<bool> in_question_ = false, asked_ = false;
};

}  // namespace discreet
