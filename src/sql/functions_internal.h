// The allow-list: which functions a statement may call, with which types.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "sql/scalar.h"

namespace discreet::sql {

/// One letter per argument: n number, i whole number, t text, d date or timestamp, c constant text.
/// What is after '?' may be left out.
struct FunctionRule {
  std::string_view name;
  Function function;
  std::string_view args;
  enum class Result { Integer, Double, Text, Boolean, Timestamp, SameAsFirst, WholeOfFirst } result;
};

const FunctionRule* find_function(std::string_view name);

inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Spoken type of a scalar, for messages: a quoted constant reads as text.
inline std::string spoken(const Scalar& scalar) {
  return scalar.type.kind == TypeKind::Null ? "text constant" : name(scalar.type);
}

/// now(), random(), nextval(), ...: functions whose value is not decided by the row.
bool is_volatile_function(std::string_view name);

}  // namespace discreet::sql
