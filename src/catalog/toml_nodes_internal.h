// Small questions to TOML nodes: where they stand, what they are. Only policy_reader.cc knows TOML;
// this is the part of it that reads no section.
#pragma once

#include <stdexcept>

// toml++ 3.3 can be brought to a failed assertion by malformed text; that must be a refusal, not
// the end of the process.
[[noreturn]] inline void refuse_malformed() {
  throw std::logic_error("malformed");
}
#define TOML_EXCEPTIONS 1
#define TOML_ASSERT(expression) static_cast<void>((expression) || (refuse_malformed(), true))
#include <toml++/toml.h>

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/literal.h"

namespace discreet::catalog {

inline int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}
inline int line_of(const toml::key& key) {
  return static_cast<int>(key.source().begin.line);
}

/// toml++ keeps keys by the alphabet; people keep them in an order that means something.
inline std::vector<std::pair<const toml::key*, const toml::node*>> in_file_order(
    const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const auto &left = a.first->source().begin, &right = b.first->source().begin;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  return entries;
}

inline bool starts_with_any(std::string_view text,
                            std::initializer_list<std::string_view> prefixes) {
  for (const auto prefix : prefixes)
    if (text.starts_with(prefix)) return true;
  return false;
}

inline bool file_exists(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos)
    return std::filesystem::is_regular_file(pattern);
  glob_t matches{};
  const bool some = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0;
  ::globfree(&matches);
  return some;
}

/// A name that SQL and error messages can carry: letters, digits, underscores.
inline bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  for (const char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return !std::isdigit(static_cast<unsigned char>(name.front()));
}

/// Account names may hold what e-mail addresses and host names do, but no '/', which parts an
/// analyst from a budget in the ledger.
inline bool is_account_name(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  for (const char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("_-.@").find(c) == std::string_view::npos)
      return false;
  return true;
}

inline std::string toml_kind(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

inline std::optional<Literal> literal_of(const toml::node& node) {
  if (const auto* value = node.as_boolean()) return Literal(value->get());
  if (const auto* value = node.as_integer()) return Literal(value->get());
  if (const auto* value = node.as_floating_point()) return Literal(value->get());
  if (const auto* value = node.as_string()) return Literal(value->get());
  if (const auto* value = node.as_date())
    return Literal(date_of(value->get().year, value->get().month, value->get().day));
  if (const auto* value = node.as_date_time()) {
    const toml::date_time& at = value->get();
    const Date day = date_of(at.date.year, at.date.month, at.date.day);
    const std::int64_t seconds = std::int64_t{day.days} * 86400 + at.time.hour * 3600 +
                                 at.time.minute * 60 + at.time.second -
                                 (at.offset ? at.offset->minutes * 60 : 0);
    return Literal(Timestamp{seconds * 1'000'000 + at.time.nanosecond / 1000});
  }
  return std::nullopt;
}

}  // namespace discreet::catalog
