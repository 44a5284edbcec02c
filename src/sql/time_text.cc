// Dates, times and intervals written as text. Only forms that every engine reads alike.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "sql/binder_internal.h"

namespace discreet::sql {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

/// Reads `text` as one number of at most `digits` digits from `at` on.
std::optional<int> digits_at(const std::string& text, std::size_t& at, std::size_t digits) {
  int value = 0;
  std::size_t read = 0;
  while (read < digits && at < text.size() && text[at] >= '0' && text[at] <= '9') {
    value = value * 10 + (text[at] - '0');
    ++at;
    ++read;
  }
  if (read == 0) return std::nullopt;
  return value;
}

std::optional<std::chrono::sys_days> read_day(const std::string& text, std::size_t& at) {
  const auto year = digits_at(text, at, 4);
  if (!year || at >= text.size() || text[at++] != '-') return std::nullopt;
  const auto month = digits_at(text, at, 2);
  if (!month || at >= text.size() || text[at++] != '-') return std::nullopt;
  const auto day = digits_at(text, at, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

}  // namespace

std::optional<catalog::Date> parse_date(const std::string& text) {
  std::size_t at = 0;
  const auto day = read_day(text, at);
  if (!day || at != text.size()) return std::nullopt;
  return catalog::Date{static_cast<std::int32_t>(day->time_since_epoch().count())};
}

std::optional<catalog::Timestamp> parse_timestamp(const std::string& text) {
  std::size_t at = 0;
  const auto day = read_day(text, at);
  if (!day) return std::nullopt;
  std::int64_t micros = day->time_since_epoch().count() * 86400 * kSecond;
  if (at == text.size()) return catalog::Timestamp{micros};
  if (text[at] != ' ' && text[at] != 'T') return std::nullopt;
  ++at;
  const int limits[] = {23, 59, 59};
  const std::int64_t sizes[] = {3600 * kSecond, 60 * kSecond, kSecond};
  for (int part = 0; part < 3; ++part) {
    if (part > 0) {
      if (part == 2 && at == text.size()) break;
      if (at >= text.size() || text[at++] != ':') return std::nullopt;
    }
    const auto value = digits_at(text, at, 2);
    if (!value || *value > limits[part]) return std::nullopt;
    micros += *value * sizes[part];
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    std::int64_t unit = kSecond / 10;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && unit > 0) {
      micros += (text[at++] - '0') * unit;
      unit /= 10;
    }
  }
  if (at != text.size()) return std::nullopt;
  return catalog::Timestamp{micros};
}

std::optional<IntervalConstant> parse_interval(const std::string& text, int field_mask) {
  IntervalConstant made;
  const auto add = [&](std::int64_t amount, std::string unit) {
    if (unit.size() > 1 && unit.back() == 's') unit.pop_back();
    if (unit == "year")
      made.months += 12 * amount;
    else if (unit == "month" || unit == "mon")
      made.months += amount;
    else if (unit == "week")
      made.days += 7 * amount;
    else if (unit == "day")
      made.days += amount;
    else if (unit == "hour")
      made.micros += amount * 3600 * kSecond;
    else if (unit == "minute" || unit == "min")
      made.micros += amount * 60 * kSecond;
    else if (unit == "second" || unit == "sec")
      made.micros += amount * kSecond;
    else
      return false;
    return true;
  };
  std::istringstream words(text);
  std::int64_t amount = 0;
  bool any = false;
  while (words >> amount) {
    if (std::abs(amount) > 10'000'000) return std::nullopt;
    std::string unit;
    if (!(words >> unit)) {
      // INTERVAL '90' DAY: the field is beside the text, as PostgreSQL's bit for it.
      if (any) return std::nullopt;
      const char* field = field_mask == 1 << 2    ? "year"
                          : field_mask == 1 << 1  ? "month"
                          : field_mask == 1 << 3  ? "day"
                          : field_mask == 1 << 10 ? "hour"
                          : field_mask == 1 << 11 ? "minute"
                          : field_mask == 1 << 12 ? "second"
                                                  : "";
      if (!add(amount, field)) return std::nullopt;
      return made;
    }
    if (!add(amount, unit)) return std::nullopt;
    any = true;
  }
  if (!any || !words.eof()) return std::nullopt;
  return made;
}

}  // namespace discreet::sql
