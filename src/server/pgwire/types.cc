#include "server/pgwire/types.h"

#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

namespace discreet::server::pgwire {
namespace {

struct TypeRow {
  const char* name;
  std::uint32_t oid;
  std::int16_t size;
  const char* parameter;
};
constexpr std::array kTypes = {
    TypeRow{"boolean", kBool, 1, "bool"},
    TypeRow{"bigint", kInt8, 8, "int8"},
    TypeRow{"smallint", kInt2, 2, "int8"},
    TypeRow{"integer", kInt4, 4, "int8"},
    TypeRow{"text", kText, -1, "text"},
    TypeRow{"oid", kOidType, 4, "int8"},
    TypeRow{"json", kJson, -1, "text"},
    TypeRow{"real", kFloat4, 4, "float8"},
    TypeRow{"double precision", kFloat8, 8, "float8"},
    TypeRow{"text[]", kTextArray, -1, ""},
    TypeRow{"double precision[]", kFloat8Array, -1, ""},
    TypeRow{"varchar", kVarchar, -1, "text"},
    TypeRow{"date", kDate, 4, "date"},
    TypeRow{"timestamp", kTimestamp, 8, "timestamp"},
    TypeRow{"timestamp with time zone", kTimestampTz, 8, "timestamp"},
    TypeRow{"numeric", kNumeric, -1, "numeric"},
};

const TypeRow* row_of(std::uint32_t oid) {
  for (const TypeRow& row : kTypes)
    if (row.oid == oid) return &row;
  return nullptr;
}

template <class Number>
std::string big_endian(Number value) {
  std::string out;
  for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift & 0xff);
  return out;
}
std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

Error not_a(const char* type) {
  return invalid_input(fmt::format("a value is not of type {}", type));
}

constexpr std::int64_t kDaysTo2000 = 10'957, kMicrosADay = 86'400'000'000;

std::optional<std::int64_t> days_of(std::string_view text) {
  int year = 0;
  unsigned month = 0, day = 0;
  const std::string copy(text.substr(0, 32));
  if (std::sscanf(copy.c_str(), "%d-%u-%u", &year, &month, &day) != 3) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

std::optional<std::int64_t> micros_of(std::string_view text) {
  const auto days = days_of(text);
  if (!days) return std::nullopt;
  unsigned hour = 0, minute = 0, second = 0;
  char fraction[8] = "";
  const std::string copy(text.substr(0, 40));
  const int read =
      std::sscanf(copy.c_str(), "%*d-%*u-%*u %u:%u:%u.%6[0-9]", &hour, &minute, &second, fraction);
  if (read > 0 && read < 3) return std::nullopt;
  std::string digits = fraction;
  digits.resize(6, '0');
  const std::int64_t seconds = (hour * 60 + minute) * 60LL + second;
  return *days * kMicrosADay + seconds * 1'000'000 + parsed<std::int64_t>(digits).value_or(0);
}

std::string date_text(std::int64_t days) {
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(days)))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string timestamp_text(std::int64_t micros) {
  std::int64_t days = micros / kMicrosADay, rest = micros % kMicrosADay;
  if (rest < 0) {
    --days;
    rest += kMicrosADay;
  }
  return fmt::format("{} {:02}:{:02}:{:02}.{:06}", date_text(days), rest / 3'600'000'000,
                     rest / 60'000'000 % 60, rest / 1'000'000 % 60, rest % 1'000'000);
}

/// "[1.0, NULL, 2.0]" as items; text items keep what they are.
std::vector<std::optional<std::string>> list_items(std::string_view value) {
  std::vector<std::optional<std::string>> items;
  if (value.size() < 2 || value.front() != '[' || value.back() != ']') return items;
  value = value.substr(1, value.size() - 2);
  while (!value.empty()) {
    const auto comma = value.find(", ");
    const auto item = value.substr(0, comma);
    items.push_back(item == "NULL" ? std::nullopt : std::optional(std::string(item)));
    if (comma == std::string_view::npos) break;
    value.remove_prefix(comma + 2);
  }
  return items;
}

std::string array_text(std::uint32_t oid, std::string_view value) {
  std::string text = "{";
  for (const auto& item : list_items(value)) {
    if (text.size() > 1) text += ',';
    if (!item) {
      text += "NULL";
    } else if (oid == kFloat8Array) {
      text += *item;
    } else {
      text += '"';
      for (const char c : *item) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
      }
      text += '"';
    }
  }
  return text + "}";
}

Result<std::string> array_binary(std::uint32_t oid, std::string_view value) {
  const std::uint32_t element = oid == kFloat8Array ? std::uint32_t{kFloat8} : std::uint32_t{kText};
  const auto items = list_items(value);
  std::string out = big_endian<std::uint32_t>(items.empty() ? 0 : 1) +
                    big_endian<std::uint32_t>(1) + big_endian<std::uint32_t>(element);
  if (!items.empty())
    out += big_endian(static_cast<std::uint32_t>(items.size())) + big_endian<std::uint32_t>(1);
  for (const auto& item : items) {
    if (!item) {
      out += big_endian<std::uint32_t>(0xffffffff);
      continue;
    }
    DISCREET_TRY(const std::string bytes, to_binary(element, *item));
    out += big_endian(static_cast<std::uint32_t>(bytes.size())) + bytes;
  }
  return out;
}

/// Digits to base 10,000 around the decimal point, as numeric_send writes them.
Result<std::string> numeric_binary(std::string_view text) {
  // Released numerics are decimals; an exponent can only come from a double.
  std::string plain(text);
  if (plain.find_first_of("eE") != std::string::npos) {
    const auto value = parsed<double>(plain);
    if (!value) return not_a("numeric");
    plain = fmt::format("{:.12f}", *value);
  }
  std::string_view digits = plain;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const auto point = digits.find('.');
  std::string whole(digits.substr(0, point));
  std::string part = point == std::string_view::npos ? "" : std::string(digits.substr(point + 1));
  const auto scale = static_cast<std::uint16_t>(part.size());
  if (whole.empty() && part.empty()) return not_a("numeric");
  for (const char c : whole + part)
    if (c < '0' || c > '9') return not_a("numeric");
  whole.insert(0, (4 - whole.size() % 4) % 4, '0');
  part.append((4 - part.size() % 4) % 4, '0');
  auto weight = static_cast<int>(whole.size() / 4) - 1;
  std::vector<std::uint16_t> groups;
  const std::string all = whole + part;
  for (std::size_t i = 0; i < all.size(); i += 4)
    groups.push_back(parsed<std::uint16_t>(std::string_view(all).substr(i, 4)).value_or(0));
  while (!groups.empty() && groups.front() == 0) {
    groups.erase(groups.begin());
    --weight;
  }
  while (!groups.empty() && groups.back() == 0) groups.pop_back();
  if (groups.empty()) weight = 0;
  std::string out =
      big_endian(static_cast<std::uint16_t>(groups.size())) +
      big_endian(static_cast<std::uint16_t>(weight)) +
      big_endian(static_cast<std::uint16_t>(negative && !groups.empty() ? 0x4000 : 0)) +
      big_endian(scale);
  for (const std::uint16_t group : groups) out += big_endian(group);
  return out;
}

Result<std::string> numeric_text(std::string_view bytes) {
  if (bytes.size() < 8 || bytes.size() % 2 != 0) return not_a("numeric");
  const auto word = [&](std::size_t i) {
    return static_cast<std::uint16_t>(from_big_endian(bytes.substr(2 * i, 2)));
  };
  const std::size_t count = word(0);
  const auto weight = static_cast<std::int16_t>(word(1));
  const std::uint16_t sign = word(2), scale = word(3);
  if (bytes.size() != 8 + 2 * count || scale > 1000 || weight > 250 || weight < -250 ||
      (sign != 0 && sign != 0x4000))
    return not_a("numeric");
  std::string whole, part;
  for (int i = 0; i <= weight; ++i)
    whole += fmt::format(
        "{:04}", static_cast<std::size_t>(i) < count ? word(4 + static_cast<std::size_t>(i)) : 0);
  for (int i = weight + 1; static_cast<int>(part.size()) < scale; ++i)
    part += fmt::format("{:04}", i >= 0 && static_cast<std::size_t>(i) < count
                                     ? word(4 + static_cast<std::size_t>(i))
                                     : 0);
  part.resize(scale);
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
  if (whole.empty()) whole = "0";
  return (sign != 0 ? "-" : "") + whole + (part.empty() ? "" : "." + part);
}

}  // namespace

std::uint32_t oid_of(std::string_view type) {
  for (const TypeRow& row : kTypes)
    if (row.name == type) return row.oid;
  return kText;
}

std::int16_t size_of(std::uint32_t oid) {
  const TypeRow* row = row_of(oid);
  return row ? row->size : std::int16_t{-1};
}

std::string parameter_type(std::uint32_t oid) {
  const TypeRow* row = row_of(oid);
  return row ? row->parameter : "";
}

std::string to_text(std::uint32_t oid, std::string_view value) {
  switch (oid) {
    case kBool:
      return value == "true" || value == "t" ? "t" : "f";
    case kFloat8:
      return value == "inf"    ? "Infinity"
             : value == "-inf" ? "-Infinity"
             : value == "nan"  ? "NaN"
                               : std::string(value);
    case kFloat8Array:
    case kTextArray:
      return array_text(oid, value);
    default:
      return std::string(value);
  }
}

Result<std::string> to_binary(std::uint32_t oid, std::string_view value) {
  switch (oid) {
    case kBool:
      return std::string(1, value == "true" || value == "t" ? '\1' : '\0');
    case kInt8: {
      const auto number = parsed<std::int64_t>(value);
      if (!number) return not_a("bigint");
      return big_endian(static_cast<std::uint64_t>(*number));
    }
    case kInt4:
    case kOidType: {
      const auto number = parsed<std::int64_t>(value);
      if (!number) return not_a("integer");
      return big_endian(static_cast<std::uint32_t>(*number));
    }
    case kInt2: {
      const auto number = parsed<std::int16_t>(value);
      if (!number) return not_a("smallint");
      return big_endian(static_cast<std::uint16_t>(*number));
    }
    case kFloat8: {
      const auto number = parsed<double>(value);
      if (!number) return not_a("double precision");
      return big_endian(std::bit_cast<std::uint64_t>(*number));
    }
    case kFloat4: {
      const auto number = parsed<float>(value);
      if (!number) return not_a("real");
      return big_endian(std::bit_cast<std::uint32_t>(*number));
    }
    case kDate: {
      const auto days = days_of(value);
      if (!days) return not_a("date");
      return big_endian(static_cast<std::uint32_t>(static_cast<std::int32_t>(*days - kDaysTo2000)));
    }
    case kTimestamp:
    case kTimestampTz: {
      const auto micros = micros_of(value);
      if (!micros) return not_a("timestamp");
      return big_endian(static_cast<std::uint64_t>(*micros - kDaysTo2000 * kMicrosADay));
    }
    case kNumeric:
      return numeric_binary(value);
    case kFloat8Array:
    case kTextArray:
      return array_binary(oid, value);
    default:
      return std::string(value);
  }
}

Result<sql::Parameter> to_parameter(std::uint32_t oid, bool binary,
                                    const std::optional<std::string>& value) {
  sql::Parameter made{value, parameter_type(oid)};
  if (!value || !binary) return made;
  const std::string_view bytes = *value;
  const auto sized = [&](std::size_t size) { return bytes.size() == size; };
  switch (oid) {
    case kBool:
      if (!sized(1)) return not_a("boolean");
      made.text = bytes[0] != 0 ? "true" : "false";
      return made;
    case kInt2:
      if (!sized(2)) return not_a("smallint");
      made.text = std::to_string(static_cast<std::int16_t>(from_big_endian(bytes)));
      return made;
    case kInt4:
      if (!sized(4)) return not_a("integer");
      made.text = std::to_string(static_cast<std::int32_t>(from_big_endian(bytes)));
      return made;
    case kOidType:
      if (!sized(4)) return not_a("oid");
      made.text = std::to_string(from_big_endian(bytes));
      return made;
    case kInt8:
      if (!sized(8)) return not_a("bigint");
      made.text = std::to_string(static_cast<std::int64_t>(from_big_endian(bytes)));
      return made;
    case kFloat4:
    case kFloat8: {
      if (!sized(oid == kFloat4 ? 4 : 8)) return not_a("double precision");
      const double number =
          oid == kFloat4 ? std::bit_cast<float>(static_cast<std::uint32_t>(from_big_endian(bytes)))
                         : std::bit_cast<double>(from_big_endian(bytes));
      made.text = fmt::format("{}", number);
      return made;
    }
    case kDate:
      if (!sized(4)) return not_a("date");
      made.text = date_text(static_cast<std::int32_t>(from_big_endian(bytes)) + kDaysTo2000);
      return made;
    case kTimestamp:
    case kTimestampTz: {
      if (!sized(8)) return not_a("timestamp");
      const auto since = static_cast<std::int64_t>(from_big_endian(bytes));
      constexpr std::int64_t kFar = std::int64_t{1} << 60;
      if (since > kFar || since < -kFar) return not_a("timestamp");
      made.text = timestamp_text(since + kDaysTo2000 * kMicrosADay);
      return made;
    }
    case kNumeric: {
      DISCREET_TRY(made.text, numeric_text(bytes));
      return made;
    }
    case kText:
    case kVarchar:
    case kUnknown:
    case kUnspecified:
    case kJson:
      return made;
    default:
      return invalid_input(fmt::format("binary parameters of type {} are not understood", oid));
  }
}

}  // namespace discreet::server::pgwire
