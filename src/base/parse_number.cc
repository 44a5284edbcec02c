#include "base/parse_number.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace discreet {
namespace {

constexpr std::size_t kLengthMax = 400;  // longer than any double needs

Error not_a(const char* kind, std::string_view text, std::string_view what) {
  // Quotes at most a few characters, and only plain ones: error text must not carry control
  // sequences.
  std::string shown;
  for (const char c : text.substr(0, 40)) shown += c >= ' ' && c < 127 ? c : '?';
  return invalid_parameter(fmt::format("{} must be {}, not '{}'", what, kind, shown));
}

}  // namespace

Result<double> parse_number(std::string_view text, std::string_view what) {
  constexpr const char* kKind = "a finite decimal number";
  if (text.empty() || text.size() > kLengthMax) return not_a(kKind, text, what);
  // from_chars knows no leading '+', and knows "nan" and "inf", which start with a letter.
  const std::string_view digits = text.front() == '-' ? text.substr(1) : text;
  if (digits.empty() ||
      !((digits.front() >= '0' && digits.front() <= '9') || digits.front() == '.'))
    return not_a(kKind, text, what);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return invalid_parameter(fmt::format("{} is beyond the range of a double", what));
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return not_a(kKind, text, what);
  return value;
}

Result<std::int64_t> parse_integer(std::string_view text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return invalid_parameter(fmt::format("{} does not fit 64 bits", what));
  if (text.empty() || error != std::errc{} || end != text.data() + text.size())
    return not_a("a whole number", text, what);
  return value;
}

}  // namespace discreet
