// PostgreSQL's type numbers, and values in its text and binary formats.
//
// Guarantee: pure; a value that is not of its type gives an error, never a wrong value.
// Format:    PostgreSQL 15's send and receive functions of each type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sql/parse.h"

namespace discreet::server::pgwire {

enum Oid : std::uint32_t {
  kUnspecified = 0,
  kBool = 16,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kOidType = 26,
  kJson = 114,
  kFloat4 = 700,
  kFloat8 = 701,
  kUnknown = 705,
  kTextArray = 1009,
  kFloat8Array = 1022,
  kVarchar = 1043,
  kDate = 1082,
  kTimestamp = 1114,
  kTimestampTz = 1184,
  kNumeric = 1700,
};

/// "bigint" is 20, and so on; text for what has no type of its own.
std::uint32_t oid_of(std::string_view type);
std::int16_t size_of(std::uint32_t oid);
/// "int8" for 20, ...: as sql::Parameter names it; empty where the client leaves it open.
std::string parameter_type(std::uint32_t oid);

/// An answer's text (the engine's spelling) in PostgreSQL's spelling.
std::string to_text(std::uint32_t oid, std::string_view value);
/// The same in binary. InvalidInput: not a value of the type.
Result<std::string> to_binary(std::uint32_t oid, std::string_view value);

/// A bound value as a parameter of a statement. InvalidInput: its bytes are not of the type.
Result<sql::Parameter> to_parameter(std::uint32_t oid, bool binary,
                                    const std::optional<std::string>& value);

}  // namespace discreet::server::pgwire
