#include "base/parse_number.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

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

Result<Rational> parse_exact_number(std::string_view text, std::string_view what) {
  DISCREET_TRY_VOID([&]() -> Result<void> {  // the same texts are numbers
    auto parsed = parse_number(text, what);
    return parsed ? Result<void>{} : Result<void>{std::move(parsed).error()};
  }());
  const bool negative = text.front() == '-';
  if (negative) text.remove_prefix(1);
  BigInt digits = 0;
  std::int64_t exponent = 0;
  bool after_point = false;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      after_point = true;
      continue;
    }
    digits = digits * 10 + (text[at] - '0');
    exponent -= after_point ? 1 : 0;
  }
  if (at < text.size()) {
    std::string_view power = text.substr(at + 1);
    if (!power.empty() && power.front() == '+') power.remove_prefix(1);
    DISCREET_TRY(const std::int64_t typed, parse_integer(power, what));
    exponent += typed;
  }
  if (exponent > 400 || exponent < -800)
    return invalid_parameter(fmt::format("{} is beyond the range of a double", what));
  const BigInt ten_power = pow(BigInt(10), static_cast<unsigned>(std::abs(exponent)));
  const Rational value = exponent >= 0 ? Rational(digits * ten_power) : Rational(digits, ten_power);
  return negative ? Rational(-value) : value;
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
