#include "catalog/literal.h"

#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace discreet::catalog {
namespace {

std::string date_text(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

struct Text {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return "\"" + value + "\""; }
  std::string operator()(Date value) const {
    return date_text(std::chrono::sys_days(std::chrono::days(value.days)));
  }
  std::string operator()(Timestamp value) const {
    const std::chrono::sys_time<std::chrono::microseconds> at{
        std::chrono::microseconds(value.micros)};
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::hh_mm_ss clock(at - day);
    return fmt::format("{}T{:02}:{:02}:{:02}.{:06}", date_text(day), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count(),
                       clock.subseconds().count());
  }
};

struct Number {
  double operator()(std::int64_t value) const { return static_cast<double>(value); }
  double operator()(double value) const { return value; }
  double operator()(Date value) const { return value.days; }
  double operator()(Timestamp value) const { return static_cast<double>(value.micros); }
  double operator()(bool) const { return std::numeric_limits<double>::quiet_NaN(); }
  double operator()(const std::string&) const { return std::numeric_limits<double>::quiet_NaN(); }
};

}  // namespace

const char* kind_name(const Literal& literal) {
  static constexpr const char* kNames[] = {"a boolean", "a whole number", "a number",
                                           "text",      "a date",         "a timestamp"};
  return kNames[literal.index()];
}

std::string to_string(const Literal& literal) {
  return std::visit(Text{}, literal);
}

double as_number(const Literal& literal) {
  return std::visit(Number{}, literal);
}

}  // namespace discreet::catalog
