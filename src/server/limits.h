// How fast one may ask, and how fast one may guess passwords.
//
// Guarantee: after kFreeFailures wrong passwords for a name from an address, every further attempt
//            waits twice as long as the one before, one after another, however many connections try
//            at once.
// Thread safety: the I/O thread only.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "server/time_slots.h"

namespace discreet::server {

class LoginGuard {
 public:
  static constexpr int kFreeFailures = 3;
  static constexpr std::chrono::milliseconds kFirstDelay{250}, kDelayMax{30'000};
  /// An attempt that would wait longer is turned away at once.
  static constexpr std::chrono::milliseconds kPatience{60'000};

  /// How long this attempt must wait before it is looked at; nothing: turn it away. Reserves the
  /// time, so that attempts at once queue up.
  std::optional<Steady::duration> admit(const std::string& name, const std::string& address,
                                        Steady::time_point now);
  void failed(const std::string& name, const std::string& address, Steady::time_point now);
  void succeeded(const std::string& name, const std::string& address);

 private:
  struct Record {
    int failures = 0;
    Steady::time_point next{}, last{};
  };
  void forget(Steady::time_point now);
  std::map<std::pair<std::string, std::string>, Record> records_;
};

/// A token bucket per user: `rate` a second, over bursts of one second.
class RateLimit {
 public:
  explicit RateLimit(double rate) : rate_(rate) {}
  /// How long the caller must wait before this request is served.
  Steady::duration take(const std::string& user, Steady::time_point now);

 private:
  struct Bucket {
    double tokens;
    Steady::time_point at;
  };
  double rate_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace discreet::server
