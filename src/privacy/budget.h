// Amounts of privacy that may be spent, and grants that come back with time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "privacy/parameters.h"

namespace discreet {

/// What a budget holds; an absent part has no limit.
struct Amount {
  std::optional<Epsilon> epsilon;
  std::optional<Delta> delta;

  static Amount unlimited() { return {}; }
  bool is_unlimited() const { return !epsilon || !delta; }
  friend bool operator==(const Amount&, const Amount&) = default;
};

/// Adds `amount` at `starts` and again whenever `every` has passed. It never resets anything.
struct RecurringGrant {
  Amount amount;
  std::chrono::seconds every;
  Instant starts;

  /// How many times it has been added by then.
  std::uint64_t count_at(Instant now) const {
    if (now < starts) return 0;
    return static_cast<std::uint64_t>((now - starts) / std::chrono::microseconds(every)) + 1;
  }
};

}  // namespace discreet
