// The constants a policy can name: ends of ranges and public keys.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace discreet::catalog {

/// Days since 1970-01-01, as engines keep dates.
struct Date {
  std::int32_t days;
  auto operator<=>(const Date&) const = default;
};

/// Microseconds since 1970-01-01 00:00 UTC, as engines keep timestamps.
struct Timestamp {
  std::int64_t micros;
  auto operator<=>(const Timestamp&) const = default;
};

using Literal = std::variant<bool, std::int64_t, double, std::string, Date, Timestamp>;

/// "a whole number", "text", ...: for messages.
const char* kind_name(const Literal& literal);

/// As it reads in a policy, text in quotes.
std::string to_string(const Literal& literal);

/// Numbers, dates (as days) and timestamps (as microseconds) on one axis; NaN for text and
/// booleans. Whole numbers beyond 2^53 are rounded to nearest.
double as_number(const Literal& literal);

}  // namespace discreet::catalog
