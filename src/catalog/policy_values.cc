#include <charconv>
#include <cmath>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "catalog/policy_values_internal.h"

namespace discreet::catalog {
namespace {

std::optional<Date> date_from_text(const std::string& text) {
  static const std::regex kForm("([0-9]{4})-([0-9]{2})-([0-9]{2})");
  std::smatch parts;
  if (!std::regex_match(text, parts, kForm)) return std::nullopt;
  const std::chrono::year_month_day date(
      std::chrono::year(std::stoi(parts[1])),
      std::chrono::month(static_cast<unsigned>(std::stoi(parts[2]))),
      std::chrono::day(static_cast<unsigned>(std::stoi(parts[3]))));
  if (!date.ok()) return std::nullopt;
  return Date{static_cast<std::int32_t>(std::chrono::sys_days(date).time_since_epoch().count())};
}

bool is_fraction(const Literal& literal) {
  return std::holds_alternative<double>(literal);
}
bool is_number(const Literal& literal) {
  return is_fraction(literal) || std::holds_alternative<std::int64_t>(literal);
}

/// All of one kind; whole numbers become fractions if any fraction is among them.
Result<std::vector<Literal>> of_one_kind(std::vector<Literal> literals) {
  bool fractions = false;
  for (const Literal& each : literals) {
    if (is_fraction(each) && !std::isfinite(std::get<double>(each)))
      return invalid_input("must be finite");
    fractions = fractions || is_fraction(each);
  }
  for (Literal& each : literals)
    if (fractions && std::holds_alternative<std::int64_t>(each)) each = as_number(each);
  for (const Literal& each : literals)
    if (each.index() != literals.front().index())
      return invalid_input(fmt::format("mix {} and {}; write values of one kind",
                                       kind_name(literals.front()), kind_name(each)));
  return literals;
}

}  // namespace

Date date_of(int year, unsigned month, unsigned day) {
  const std::chrono::sys_days days(std::chrono::year(year) / std::chrono::month(month) /
                                   std::chrono::day(day));
  return Date{static_cast<std::int32_t>(days.time_since_epoch().count())};
}

Result<Range> make_range(const std::vector<Literal>& ends) {
  if (ends.size() != 2) return invalid_input("must be two ends, such as [0, 120]");
  std::vector<Literal> pair = ends;
  for (Literal& end : pair)
    if (const auto* text = std::get_if<std::string>(&end))
      if (const auto date = date_from_text(*text)) end = *date;
  DISCREET_TRY(pair, of_one_kind(std::move(pair)));
  const bool ordered_kind = is_number(pair[0]) || std::holds_alternative<Date>(pair[0]) ||
                            std::holds_alternative<Timestamp>(pair[0]);
  if (!ordered_kind)
    return invalid_input(fmt::format("is of {}; ranges are of numbers or dates (text has `values`)",
                                     kind_name(pair[0])));
  if (!(pair[0] < pair[1]))
    return invalid_input(
        fmt::format("[{}, {}] holds no more than one value; the lower end comes first",
                    to_string(pair[0]), to_string(pair[1])));
  return Range{pair[0], pair[1]};
}

Result<std::vector<Literal>> make_keys(const std::vector<Literal>& listed) {
  if (listed.empty())
    return invalid_input("is empty; list the public keys, or remove it to keep them private");
  DISCREET_TRY(auto keys, of_one_kind(listed));
  std::set<Literal> seen;
  for (const Literal& key : keys)
    if (!seen.insert(key).second)
      return invalid_input(fmt::format("lists {} twice; remove one", to_string(key)));
  return keys;
}

Result<std::chrono::seconds> read_period(const std::string& text) {
  static const std::regex kForm(" *([0-9]{1,6}) *(hour|day|week)s? *");
  std::smatch parts;
  const long long count = std::regex_match(text, parts, kForm) ? std::stoll(parts[1]) : 0;
  if (count == 0)
    return invalid_input(
        "does not read; write a number of hours, days or weeks, such as \"30 days\"");
  const std::string kind = parts[2];
  return std::chrono::seconds(3600 * count * (kind == "hour" ? 1 : kind == "day" ? 24 : 168));
}

std::optional<Instant> instant_of(const std::optional<Literal>& literal) {
  if (!literal) return std::nullopt;
  std::optional<Date> date;
  if (const auto* text = std::get_if<std::string>(&*literal)) date = date_from_text(*text);
  if (const auto* given = std::get_if<Date>(&*literal)) date = *given;
  if (date) return Instant(std::chrono::days(date->days));
  if (const auto* at = std::get_if<Timestamp>(&*literal))
    return Instant(std::chrono::microseconds(at->micros));
  return std::nullopt;
}

std::optional<std::string> scram_verifier(const std::string& text) {
  static const std::string kShort = "scram-sha-256:", kLong = "SCRAM-SHA-256$";
  const std::string full = text.starts_with(kShort) ? kLong + text.substr(kShort.size()) : text;
  static const std::regex kForm(
      "SCRAM-SHA-256\\$[1-9][0-9]{3,7}:[A-Za-z0-9+/]{11,}={0,2}\\$[A-Za-z0-9+/]{43}=:[A-Za-z0-9+/"
      "]{43}=");
  if (full.size() > 512 || !std::regex_match(full, kForm)) return std::nullopt;
  return full;
}

bool exceeds(const Amount& share, const Amount& whole) {
  return (share.epsilon && whole.epsilon && *share.epsilon > *whole.epsilon) ||
         (share.delta && whole.delta && *share.delta > *whole.delta);
}

}  // namespace discreet::catalog
