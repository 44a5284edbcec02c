// What time it is, passed in: tests move it by hand, and nothing else reads the system's clock.
#pragma once

#include <chrono>

namespace discreet {

/// UTC, to the microsecond.
using Instant = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
};

/// The machine's clock.
class SystemClock final : public Clock {
 public:
  Instant now() const override {
    return std::chrono::time_point_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now());
  }
};

/// A clock that stands still until it is moved.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start) : now_(start) {}
  Instant now() const override { return now_; }
  void advance(std::chrono::microseconds by) { now_ += by; }

 private:
  Instant now_;
};

}  // namespace discreet
